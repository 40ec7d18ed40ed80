//! Protobuf's wire format: tags, varints, lengths. Knows nothing of the event.

const Buffer = @import("buffer.zig").Buffer;
const memory = @import("memory.zig");

pub const varint_type = 0;
pub const bytes_type = 2;

pub const Error = error{NotAnEvent};

/// One field as it stands in a message: its tag from `start`, its value from `value` to `end`.
pub const Span = struct {
    start: usize = 0,
    value: usize = 0,
    end: usize = 0,
    number: u32 = 0,
    wire_type: u3 = 0,
    /// The value, if the wire type is varint.
    varint: u64 = 0,
};

pub const Reader = struct {
    bytes: []const u8,
    at: usize = 0,
    tag_start: usize = 0,

    /// The next field, or null at the end.
    pub noinline fn next(self: *Reader) Error!?Span {
        if (self.at >= self.bytes.len) return null;
        self.tag_start = self.at;
        const tag = try self.varint(5);
        if (tag < 8 or tag > 0xffff_ffff) return error.NotAnEvent;
        var span = Span{ .start = self.tag_start, .number = @intCast(tag >> 3), .wire_type = @intCast(tag & 7) };
        span.value = self.at;
        switch (span.wire_type) {
            varint_type => span.varint = try self.varint(10),
            bytes_type => {
                const len = try self.varint(10);
                span.value = self.at;
                try self.advance(len);
            },
            1 => try self.advance(8),
            5 => try self.advance(4),
            else => return error.NotAnEvent,
        }
        span.end = self.at;
        return span;
    }

    fn advance(self: *Reader, count: u64) Error!void {
        if (count > self.bytes.len - self.at) return error.NotAnEvent;
        self.at += @intCast(count);
    }

    noinline fn varint(self: *Reader, max_bytes: u32) Error!u64 {
        var value: u64 = 0;
        var shift: u32 = 0;
        while (self.at < self.bytes.len and shift < max_bytes *% 7) : (shift +%= 7) {
            const byte = self.bytes[self.at];
            self.at += 1;
            // The shift is below 70: of a tenth byte one bit fits, and as everywhere the others are left out.
            value |= @as(u64, byte & 0x7f) << @truncate(shift);
            if (byte < 0x80) return value;
        }
        return error.NotAnEvent;
    }
};

/// Where a field stands: its tag from `start`, its value from `value` to `end`.
pub const Place = struct { start: usize, value: usize, end: usize };

/// The field of bytes whose tag of one byte is at `start`, if its length has one or two bytes and it ends inside the
/// message. A few bytes behind the message may be read, where every block has slack; so nothing here can wrap.
pub inline fn shortBytes(bytes: []const u8, start: usize) ?Place {
    const first = bytes.ptr[start +% 1];
    var value = start +% 2;
    var len: usize = first;
    if (first >= 0x80) {
        const second = bytes.ptr[value];
        if (second >= 0x80) return null;
        value +%= 1;
        len = (first & 0x7f) | @as(usize, second) << 7;
    }
    const end = value +% len;
    return if (end <= bytes.len) .{ .start = start, .value = value, .end = end } else null;
}

/// The number whose tag of one byte is at `start`, if it has at most 8 bytes and ends inside the message.
pub inline fn shortVarint(bytes: []const u8, start: usize) ?Place {
    const word = @as(*align(1) const u64, @ptrCast(bytes.ptr + start + 1)).*;
    const stops = ~word & 0x8080_8080_8080_8080;
    const end = start +% 2 +% (@ctz(stops) >> 3);
    return if (stops != 0 and end <= bytes.len) .{ .start = start, .value = start +% 1, .end = end } else null;
}

/// The beginning of a field: its tag, and its length or its number.
pub const Head = struct {
    bytes: [16]u8 = @splat(0),
    len: usize = 0,

    pub fn ofBytes(number: u32, len: usize) Head {
        var head = Head{};
        head.varint(@as(u64, number) << 3 | bytes_type);
        head.varint(len);
        return head;
    }

    pub fn ofVarint(number: u32, value: u64) Head {
        var head = Head{};
        head.varint(@as(u64, number) << 3);
        head.varint(value);
        return head;
    }

    fn varint(self: *Head, value: u64) void {
        var rest = value;
        while (rest >= 0x80) : (rest >>= 7) {
            self.bytes[self.len] = @as(u8, @truncate(rest)) | 0x80;
            self.len += 1;
        }
        self.bytes[self.len] = @truncate(rest);
        self.len += 1;
    }
};

/// Write a field of bytes, text or a nested message.
pub fn appendBytes(out: *Buffer, number: u32, value: []const u8) memory.Error!void {
    try out.varint(@as(u64, number) << 3 | bytes_type);
    try out.varint(value.len);
    try out.append(value);
}

pub fn appendVarint(out: *Buffer, number: u32, value: u64) memory.Error!void {
    try out.varint(@as(u64, number) << 3);
    try out.varint(value);
}
