//! Members of nested objects become columns with dotted names.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

const Columns = @import("columns.zig").Columns;

/// The separator as it stands inside a JSON string.
var joint: []const u8 = ".";
var max_depth: usize = 128;

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{ "separator", "max_depth" });
    var escaped = try sdk.Buffer.init(16);
    try sdk.json_write.escaped(&escaped, try map.name("separator", "."));
    joint = escaped.finish();
    max_depth = @intCast(try map.integer("max_depth", 1, 128, 128));
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    try context.checkImages(event);
    inline for (.{ .before, .after }) |image| {
        if (event.image(image)) |text| {
            var flattener = Flattener{ .scanner = .{ .text = text } };
            const flat = flattener.run() catch |problem| switch (problem) {
                error.OutOfMemory => return error.OutOfMemory,
                error.NotJson, error.TooDeep => |kind| {
                    return context.failJson(kind, @tagName(image));
                },
            };
            if (flat) |document| {
                if (flattener.columns.duplicate) |key| {
                    return context.fail(&.{ @tagName(image), " has two columns ", try key.valueText() });
                }
                try event.setBytes(if (image == .before) .before else .after, document);
            }
        }
    }
    return .keep;
}

const Flattener = struct {
    scanner: sdk.json.Scanner,
    out: sdk.Buffer = undefined,
    /// Keys of the objects that are being dissolved, each followed by the separator.
    prefix: sdk.Buffer = undefined,
    columns: Columns = .{},
    is_changed: bool = false,

    const Problem = sdk.json.Error || sdk.memory.Error;

    /// The flat document, or null if nothing is dissolved.
    fn run(self: *Flattener) Problem!?[]const u8 {
        const scanner = &self.scanner;
        scanner.begin();
        if (scanner.peek() != '{') return null;
        self.prefix = try .init(128);
        self.out = try .init(scanner.text.len * 2 + 64);
        try self.out.append(scanner.text[0 .. scanner.at + 1]);
        try self.members(1);
        try self.out.byte('}');
        try self.out.append(scanner.text[scanner.at..]);
        return if (self.is_changed) self.out.finish() else null;
    }

    fn members(self: *Flattener, level: usize) Problem!void {
        const scanner = &self.scanner;
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            if (level <= max_depth and self.atFilledObject()) {
                self.is_changed = true;
                const len = self.prefix.len;
                try self.prefix.append(children.key.raw);
                try self.prefix.append(joint);
                try self.members(level + 1);
                self.prefix.len = len;
                continue;
            }
            const value = try scanner.value();
            if (self.columns.count != 0) try self.out.byte(',');
            const start = self.out.len;
            try self.out.byte('"');
            try self.out.append(self.prefix.written());
            try self.out.append(children.key.raw);
            try self.out.byte('"');
            try self.columns.add(&self.out, start, self.out.len);
            try self.out.byte(':');
            try self.out.append(value.text);
        }
    }

    /// Whether the value at hand is an object with at least one member.
    fn atFilledObject(self: *const Flattener) bool {
        if (self.scanner.peek() != '{') return false;
        var ahead = self.scanner;
        ahead.at += 1;
        ahead.skipSpace();
        return ahead.peek() != '}';
    }
};
