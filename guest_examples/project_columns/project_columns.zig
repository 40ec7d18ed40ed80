//! Keep or remove values of the row images by path; key columns always stay.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

/// Attributes that repeat row values, among them those that are removed here.
const stale_attributes = [_][]const u8{ "cdc.operation.changed_field_values", "debezium.tombstone" };

var paths: sdk.path.Set = .{ .paths = &.{} };
var is_including = false;

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{ "include", "exclude" });
    is_including = map.has("include");
    if (is_including == map.has("exclude")) return item.place.refuse(&.{"must have either include or exclude"});
    var place: sdk.config.Place = undefined;
    var entries = try (try map.required(if (is_including) "include" else "exclude", &place)).list();
    const list = try sdk.memory.array(sdk.path.Path, entries.count);
    for (list) |*path| path.* = try .parse(entries.next().?);
    paths = .init(list);
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    const keys = try event.texts(.primary_key);
    inline for (.{ .before, .after }) |image| {
        if (event.image(image)) |text| {
            var projection = Projection{ .scanner = .{ .text = text }, .out = try .init(text.len), .keys = keys };
            projection.document() catch |problem| switch (problem) {
                error.OutOfMemory => return error.OutOfMemory,
                error.NotJson, error.TooDeep => |kind| {
                    return context.failJson(kind, @tagName(image));
                },
            };
            if (projection.out.len != text.len) {
                try event.setBytes(if (image == .before) .before else .after, projection.out.finish());
            }
        }
    }
    try sdk.attributes.removeAll(event, &stale_attributes, &context.failed_at);
    return .keep;
}

const Projection = struct {
    scanner: sdk.json.Scanner,
    out: sdk.Buffer,
    keys: []const []const u8,

    const Problem = sdk.json.Error || sdk.memory.Error;

    fn document(self: *Projection) Problem!void {
        const scanner = &self.scanner;
        scanner.begin();
        try self.copy(0);
        const start = scanner.at;
        if (scanner.atContainer()) {
            try self.container(paths.all(), 0);
        } else {
            try scanner.skip();
            try self.copy(start);
        }
        const end = scanner.at;
        try scanner.finish();
        try self.copy(end);
    }

    /// Write the container at hand with what stays in it. `bits` are the paths that lead on from here.
    fn container(self: *Projection, bits: sdk.path.Bits, level: usize) Problem!void {
        const scanner = &self.scanner;
        const begin = self.out.len;
        const start = scanner.at;
        var children = try scanner.enter();
        try self.out.byte(scanner.text[start]);
        var is_empty = true;
        var is_first = true;
        while (try scanner.next(&children)) {
            is_empty = false;
            const before = self.out.len;
            if (!is_first) try self.out.byte(',');
            if (try self.child(&children, bits, level)) {
                is_first = false;
            } else {
                self.out.len = before;
            }
        }
        if (is_empty) {
            self.out.len = begin;
            return self.copy(start);
        }
        try self.out.byte(scanner.text[scanner.at - 1]);
    }

    /// Write the slot of the child at hand; false if it does not stay.
    fn child(self: *Projection, children: *const sdk.json.Children, bits: sdk.path.Bits, level: usize) Problem!bool {
        const scanner = &self.scanner;
        const slot = children.slot;
        const led = paths.step(bits, level, children);
        const ended = led & paths.ending[level + 1];
        const is_key = level == 0 and children.is_object and self.isKey(children.key);
        if (!is_key and ended == 0 and led != 0 and scanner.atContainer()) {
            try self.copy(slot);
            try self.container(led, level + 1);
            const end = scanner.at;
            scanner.skipSpace();
            try self.copy(end);
            return true;
        }
        try scanner.skip();
        scanner.skipSpace();
        if (!is_key and (ended != 0) != is_including) return false;
        try self.copy(slot);
        return true;
    }

    fn isKey(self: *const Projection, key: sdk.json.String) bool {
        for (self.keys) |name| if (key.equals(name)) return true;
        return false;
    }

    /// Copy what lies between `from` and the place at hand.
    fn copy(self: *Projection, from: usize) sdk.memory.Error!void {
        try self.out.append(self.scanner.text[from..self.scanner.at]);
    }
};
