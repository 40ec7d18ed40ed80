//! Bytes that are appended to: new images, messages, several events in a row.

const std = @import("std");
const memory = @import("memory.zig");

const Vector = @Vector(16, u8);

/// From 10^19, the largest in 64 bits, down to 1.
const powers_of_ten = table: {
    var powers: [20]u64 = undefined;
    var power: u64 = 1;
    for (0..powers.len) |index| {
        powers[powers.len - 1 - index] = power;
        power *%= 10;
    }
    break :table powers;
};

pub const Buffer = struct {
    block: []u8,
    len: usize = 0,

    pub fn init(capacity: usize) memory.Error!Buffer {
        return .{ .block = try memory.allocate(capacity) };
    }

    /// Make room for `extra` bytes. The block grows in place as long as nothing was allocated behind it.
    pub inline fn reserve(self: *Buffer, extra: usize) memory.Error!void {
        if (self.block.len - self.len < extra) try self.grow(extra);
    }

    noinline fn grow(self: *Buffer, extra: usize) memory.Error!void {
        const wanted = self.len + extra + @min(self.block.len, 1 << 16);
        if (try memory.extend(self.block, wanted)) {
            self.block.len = wanted;
            return;
        }
        const larger = try memory.allocate(wanted + self.block.len);
        @memcpy(larger[0..self.len], self.block[0..self.len]);
        self.block = larger;
    }

    pub noinline fn append(self: *Buffer, bytes: []const u8) memory.Error!void {
        var at = try self.cursor(bytes.len);
        at.put(bytes);
        self.advance(at);
    }

    /// Bytes behind what is written that a cursor may write over.
    pub const overrun = 16;

    /// Make room for `len` bytes and begin to write them; `advance` ends it.
    pub inline fn cursor(self: *Buffer, len: usize) memory.Error!Cursor {
        try self.reserve(len + overrun);
        return .{ .to = self.block.ptr + self.len, .room = len };
    }

    /// Count what a cursor has written.
    pub fn advance(self: *Buffer, at: Cursor) void {
        self.len = at.to - self.block.ptr;
    }

    pub noinline fn byte(self: *Buffer, value: u8) memory.Error!void {
        try self.reserve(1);
        self.block[self.len] = value;
        self.len += 1;
    }

    pub fn repeat(self: *Buffer, value: u8, count: usize) memory.Error!void {
        try self.reserve(count);
        @memset(self.block[self.len..][0..count], value);
        self.len += count;
    }

    pub noinline fn decimal(self: *Buffer, value: u64) memory.Error!void {
        // From the largest power of ten down, by subtraction: a division by ten would become a 128-bit multiplication.
        var rest = value;
        var has_begun = false;
        for (powers_of_ten) |power| {
            var digit: u8 = '0';
            while (rest >= power) : (rest -= power) digit += 1;
            has_begun = has_begun or digit != '0' or power == 1;
            if (has_begun) try self.byte(digit);
        }
    }

    pub noinline fn varint(self: *Buffer, value: u64) memory.Error!void {
        var rest = value;
        while (rest >= 0x80) : (rest >>= 7) try self.byte(@as(u8, @truncate(rest)) | 0x80);
        try self.byte(@truncate(rest));
    }

    pub fn written(self: *const Buffer) []u8 {
        return self.block[0..self.len];
    }

    /// The bytes; what the buffer had reserved beyond them is given back.
    pub fn finish(self: *Buffer) []u8 {
        memory.trim(self.block, self.len);
        self.block = self.block[0..self.len];
        return self.block;
    }
};

/// Writes many small pieces where the room for all of them has been made. Whole vectors are copied.
pub const Cursor = struct {
    to: [*]u8,
    room: usize,

    pub inline fn put(self: *Cursor, bytes: []const u8) void {
        const to = self.take(bytes.len);
        if (bytes.len > 512) return copyLong(to, bytes.ptr, bytes.len);
        var at: usize = 0;
        while (at < bytes.len) : (at +%= 16) store(to + at, load(bytes.ptr + at));
    }

    /// The first of at most 16 bytes.
    pub inline fn putShort(self: *Cursor, bytes: *const [16]u8, len: usize) void {
        store(self.take(@min(len, bytes.len)), load(bytes));
    }

    inline fn take(self: *Cursor, len: usize) [*]u8 {
        // Never beyond the room: a failed check instead.
        if (len > self.room) unreachable;
        self.room -= len;
        const to = self.to;
        self.to += len;
        return to;
    }
};

noinline fn copyLong(to: [*]u8, from: [*]const u8, len: usize) void {
    @memcpy(to[0..len], from[0..len]);
}

inline fn load(from: [*]const u8) Vector {
    return @as(*align(1) const Vector, @ptrCast(from)).*;
}

inline fn store(to: [*]u8, value: Vector) void {
    @as(*align(1) Vector, @ptrCast(to)).* = value;
}
