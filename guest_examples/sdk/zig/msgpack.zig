//! MessagePack, as far as a configuration needs it: checked once as a whole, then read where it lies.

const std = @import("std");
const utf8 = @import("utf8.zig");

const max_depth = 32;

pub const Kind = enum { nil, boolean, integer, float, string, binary, list, map, other };

/// An integer of either sign; 64 bits cannot hold all of both.
pub const Integer = struct { is_negative: bool, magnitude: u64 };

const Head = struct {
    kind: Kind,
    payload: usize,
    count: usize = 0,
    end: usize = 0,
    number: u64 = 0,
    is_negative: bool = false,
};

pub const Value = struct {
    bytes: []const u8,
    at: usize,

    pub fn kind(self: Value) Kind {
        return head(self.bytes, self.at).?.kind;
    }

    pub fn string(self: Value) ?[]const u8 {
        const found = head(self.bytes, self.at).?;
        return if (found.kind == .string) self.bytes[found.payload..found.end] else null;
    }

    pub fn binary(self: Value) ?[]const u8 {
        const found = head(self.bytes, self.at).?;
        return if (found.kind == .binary) self.bytes[found.payload..found.end] else null;
    }

    pub fn integer(self: Value) ?Integer {
        const found = head(self.bytes, self.at).?;
        if (found.kind != .integer) return null;
        return .{ .is_negative = found.is_negative, .magnitude = found.number };
    }

    pub fn boolean(self: Value) ?bool {
        const found = head(self.bytes, self.at).?;
        return if (found.kind == .boolean) found.number != 0 else null;
    }

    /// Entries of a list, or keys and values of a map in turn.
    pub fn items(self: Value) Items {
        const found = head(self.bytes, self.at).?;
        const factor: usize = if (found.kind == .map) 2 else 1;
        return .{ .bytes = self.bytes, .at = found.payload, .left = found.count * factor };
    }

    pub fn count(self: Value) usize {
        return head(self.bytes, self.at).?.count;
    }
};

pub const Items = struct {
    bytes: []const u8,
    at: usize,
    left: usize,

    pub fn next(self: *Items) ?Value {
        if (self.left == 0) return null;
        self.left -= 1;
        const value = Value{ .bytes = self.bytes, .at = self.at };
        self.at = check(self.bytes, self.at, 0).?;
        return value;
    }
};

/// The document's value, or null if the bytes are not exactly one well-formed value.
pub fn parse(bytes: []const u8) ?Value {
    const end = check(bytes, 0, 0) orelse return null;
    return if (end == bytes.len) .{ .bytes = bytes, .at = 0 } else null;
}

/// Where the value at `at` ends; null if it is malformed.
noinline fn check(bytes: []const u8, at: usize, depth: usize) ?usize {
    const found = head(bytes, at) orelse return null;
    if (found.kind != .list and found.kind != .map) {
        if (found.kind == .string and !utf8.isValid(bytes[found.payload..found.end])) return null;
        return found.end;
    }
    if (depth == max_depth) return null;
    var end = found.payload;
    for (0..if (found.kind == .map) found.count * 2 else found.count) |_| {
        end = check(bytes, end, depth + 1) orelse return null;
    }
    return end;
}

noinline fn head(bytes: []const u8, at: usize) ?Head {
    if (at >= bytes.len) return null;
    const first = bytes[at];
    var found = Head{ .kind = .integer, .payload = at, .end = at + 1 };
    switch (first) {
        0x00...0x7f => found.number = first,
        0xe0...0xff => {
            found.number = @as(u64, 0x100) - first;
            found.is_negative = true;
        },
        0x80...0x8f => return container(bytes, .map, at + 1, first & 0x0f),
        0x90...0x9f => return container(bytes, .list, at + 1, first & 0x0f),
        0xa0...0xbf => return span(bytes, .string, at + 1, first & 0x1f),
        0xc0 => found.kind = .nil,
        0xc1 => return null,
        0xc2, 0xc3 => {
            found.kind = .boolean;
            found.number = first & 1;
        },
        0xc4...0xc6 => return sized(bytes, .binary, at, first - 0xc4, 0),
        0xc7...0xc9 => return sized(bytes, .other, at, first - 0xc7, 1),
        0xca, 0xcb => return span(bytes, .float, at + 1, if (first == 0xca) 4 else 8),
        0xcc...0xcf => return unsigned(bytes, at, first - 0xcc),
        0xd0...0xd3 => return signed(bytes, at, first - 0xd0),
        0xd4...0xd8 => return span(bytes, .other, at + 1, (@as(usize, 1) << @truncate(first - 0xd4)) + 1),
        0xd9...0xdb => return sized(bytes, .string, at, first - 0xd9, 0),
        0xdc...0xdf => {
            const power = 1 + (first & 1);
            const len = number(bytes, at + 1, power) orelse return null;
            return container(bytes, if (first < 0xde) .list else .map, at + 1 + (@as(usize, 1) << @truncate(power)), len);
        },
    }
    return found;
}

/// A big-endian number of 1, 2, 4 or 8 bytes, given as the power of two.
noinline fn number(bytes: []const u8, at: usize, power: u8) ?u64 {
    const len = @as(usize, 1) << @intCast(power);
    if (bytes.len - @min(at, bytes.len) < len) return null;
    var value: u64 = 0;
    for (bytes[at..][0..len]) |byte| value = value << 8 | byte;
    return value;
}

noinline fn unsigned(bytes: []const u8, at: usize, power: u8) ?Head {
    const value = number(bytes, at + 1, power) orelse return null;
    return .{ .kind = .integer, .payload = at, .end = at + 1 + (@as(usize, 1) << @intCast(power)), .number = value };
}

noinline fn signed(bytes: []const u8, at: usize, power: u8) ?Head {
    var found = unsigned(bytes, at, power) orelse return null;
    const unused: u6 = @intCast(64 - (@as(u7, 8) << @intCast(power)));
    // Moved to the top of 64 bits and back, the number has its sign.
    const value = @as(i64, @bitCast(found.number << unused)) >> unused;
    found.is_negative = value < 0;
    found.number = @abs(value);
    return found;
}

noinline fn container(bytes: []const u8, kind: Kind, payload: usize, count: u64) ?Head {
    // Each entry takes at least a byte: a larger count is a lie.
    if (count > bytes.len) return null;
    return .{ .kind = kind, .payload = payload, .count = @intCast(count) };
}

noinline fn span(bytes: []const u8, kind: Kind, payload: usize, len: u64) ?Head {
    if (payload > bytes.len or len > bytes.len - payload) return null;
    return .{ .kind = kind, .payload = payload, .end = payload + @as(usize, @intCast(len)) };
}

noinline fn sized(bytes: []const u8, kind: Kind, at: usize, power: u8, extra: u64) ?Head {
    const len = number(bytes, at + 1, power) orelse return null;
    return span(bytes, kind, at + 1 + (@as(usize, 1) << @intCast(power)), len + extra);
}
