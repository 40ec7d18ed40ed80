//! Scalars of a configuration, and how values of an event compare with them.

const std = @import("std");
const utf8 = @import("utf8.zig");
const config = @import("config.zig");
const decimal = @import("decimal.zig");
const json = @import("json.zig");
const memory = @import("memory.zig");
const msgpack = @import("msgpack.zig");
const Buffer = @import("buffer.zig").Buffer;
const Order = std.math.Order;

/// A string, or the text of a number, `true`, `false` or `null`.
pub const Scalar = struct {
    kind: json.Kind,
    text: []const u8,

    /// Fractions are given as `{"decimal": "12.5"}`, because a binary float is not exact.
    pub noinline fn parse(item: config.Item) config.Error!Scalar {
        switch (item.value.kind()) {
            .nil => return .{ .kind = .null, .text = "null" },
            .boolean => return .{ .kind = .boolean, .text = if (item.value.boolean().?) "true" else "false" },
            .string => return .{ .kind = .string, .text = item.value.string().? },
            .integer => return .{ .kind = .number, .text = try integerText(item.value.integer().?) },
            .map => {
                const map = try item.map(&.{"decimal"});
                const text = try map.string("decimal", null);
                if (!decimal.isNumber(text)) return map.refuseKey("decimal", "must be a JSON number");
                return .{ .kind = .number, .text = text };
            },
            else => return item.place.refuse(&.{
                "must be a string, an integer, a boolean, nil or {\"decimal\": text}",
            }),
        }
    }

    /// Whether a value has the same kind and is equal; numbers as exact decimals.
    pub fn equals(self: Scalar, value: json.Value) bool {
        if (self.kind != value.kind) return false;
        return switch (value.kind) {
            .number => decimal.compare(value.text, self.text) == .eq,
            .string => value.string().equals(self.text),
            else => utf8.same(value.text, self.text),
        };
    }

    /// How a value stands to this scalar: two numbers, or two strings by their bytes; otherwise there is no order.
    pub fn order(self: Scalar, value: json.Value) ?Order {
        if (self.kind != value.kind) return null;
        return switch (value.kind) {
            .number => decimal.compare(value.text, self.text),
            .string => orderStrings(value, self.text),
            else => null,
        };
    }
};

fn integerText(number: msgpack.Integer) memory.Error![]const u8 {
    var text = try Buffer.init(24);
    if (number.is_negative) try text.byte('-');
    try text.decimal(number.magnitude);
    return text.finish();
}

fn orderStrings(value: json.Value, text: []const u8) Order {
    if (value.plain()) |plain| return utf8.order(plain, text);
    var rest = text;
    var characters = value.characters();
    while (characters.next()) |char| {
        const len = @min(char.len, rest.len);
        const found = utf8.order(char[0..len], rest[0..len]);
        if (found != .eq) return found;
        if (len < char.len) return .gt;
        rest = rest[len..];
    }
    return if (rest.len == 0) .eq else .lt;
}
