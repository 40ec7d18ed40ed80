//! Which columns an event changed: what its producer says, or what its row images show.

const std = @import("std");
const sdk = @import("sdk");

const changed_fields = "cdc.operation.changed_fields";

pub const Columns = struct {
    names: []const []const u8,
    paths: sdk.path.Set,

    pub fn init(names: []const []const u8) sdk.memory.Error!Columns {
        const paths = try sdk.memory.array(sdk.path.Path, names.len);
        for (names, paths) |name, *path| {
            const segments = try sdk.memory.array(sdk.path.Segment, 1);
            segments[0] = .{ .key = name };
            path.* = .{ .segments = segments };
        }
        return .{ .names = names, .paths = .init(paths) };
    }

    /// Whether at least one of the columns changed.
    pub fn anyChanged(self: *const Columns, event: *const sdk.Event, context: *sdk.Context) sdk.Error!bool {
        if (try sdk.attributes.get(event, changed_fields, &context.failed_at)) |text| {
            return self.anyListed(text, context);
        }
        var texts = Texts{};
        try sdk.field.selectImages(&self.paths, event, &texts, context);
        for (self.names, 0..) |name, index| {
            const before = texts.before[index];
            const after = texts.after[index];
            const is_same = if (before) |a| (if (after) |b| sdk.utf8.same(a, b) else false) else after == null;
            if (!is_same and !try isUnavailable(event, name)) return true;
        }
        return false;
    }

    fn anyListed(self: *const Columns, text: []const u8, context: *sdk.Context) sdk.Error!bool {
        const any = [_]sdk.path.Segment{.any};
        var listed = Listed{ .names = self.names, .is_array = isArray(text) };
        try sdk.field.select(&.init(&.{.{ .segments = &any }}), text, changed_fields, .of(&listed), context);
        return listed.is_found;
    }
};

fn isArray(text: []const u8) bool {
    return sdk.utf8.startsWith(std.mem.trimStart(u8, text, " \t\n\r"), "[");
}

/// Whether the source says that it did not send the column's new value.
fn isUnavailable(event: *const sdk.Event, name: []const u8) sdk.Error!bool {
    var columns = event.occurrences(.unavailable_columns);
    while (try columns.next()) |span| {
        if (sdk.utf8.same(event.bytes[span.value..span.end], name)) return true;
    }
    return false;
}

/// The JSON text of each column in both images; the last of duplicate keys counts.
const Texts = struct {
    before: [sdk.path.max_paths]?[]const u8 = @splat(null),
    after: [sdk.path.max_paths]?[]const u8 = @splat(null),
    image: sdk.Image = .before,

    pub fn begin(self: *Texts, image: sdk.Image) void {
        self.image = image;
    }

    pub fn found(self: *Texts, bits: sdk.path.Bits, value: sdk.json.Value) void {
        const texts = if (self.image == .before) &self.before else &self.after;
        var rest = bits;
        while (rest != 0) : (rest &= rest - 1) texts[@ctz(rest)] = value.text;
    }
};

const Listed = struct {
    names: []const []const u8,
    is_array: bool,
    is_found: bool = false,

    pub fn found(self: *Listed, bits: sdk.path.Bits, value: sdk.json.Value) void {
        _ = bits;
        if (!self.is_array or value.kind != .string) return;
        for (self.names) |name| {
            if (value.string().equals(name)) self.is_found = true;
        }
    }
};
