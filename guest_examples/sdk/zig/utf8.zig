//! UTF-8 and vectors: how far a text is plain, and whether a sequence is well formed.

const std = @import("std");

const Vector = @Vector(16, u8);
const Signed = @Vector(16, i8);

/// Where the bytes end, from `at` on, that need no look inside a JSON string: ASCII, and no quote, no backslash, no control
/// character. May give a place behind the text's end. Loads whole vectors, so up to 16 bytes behind the text are
/// read; every block has that much slack.
pub inline fn plainEnd(text: []const u8, start: usize) usize {
    // No place here is further than 16 bytes behind the text, so nothing wraps.
    var at = start;
    var run = plainRun(text.ptr + at);
    while (run == 16) {
        at +%= 16;
        if (at >= text.len) return at;
        run = plainRun(text.ptr + at);
    }
    return at +% run;
}

/// How many of 16 bytes come before the first that is a quote, a backslash, a control character or not ASCII.
inline fn plainRun(from: [*]const u8) usize {
    const chunk: Vector = @as(*align(1) const Vector, @ptrCast(from)).*;
    // The quote (0x22) changes places with the space (0x20), so that it stands right behind the control characters; as
    // signed numbers, bytes from 0x80 on are negative. So one comparison finds the three of them.
    const special = @as(Signed, @bitCast(chunk ^ @as(Vector, @splat(2)))) < @as(Signed, @splat(0x21));
    const found: u16 = @bitCast(special | (chunk == @as(Vector, @splat('\\'))));
    return @ctz(@as(u32, found) | 1 << 16);
}

/// A bit for each of 16 bytes that is no digit.
pub inline fn otherThanDigits(from: [*]const u8) u16 {
    const chunk: Vector = @as(*align(1) const Vector, @ptrCast(from)).*;
    return @bitCast(chunk -% @as(Vector, @splat('0')) > @as(Vector, @splat(9)));
}

/// Whether two texts are equal, compared in vectors; what lies behind their ends does not count. The standard
/// library's comparison takes byte after byte here.
pub fn same(a: []const u8, b: []const u8) bool {
    if (a.len != b.len) return false;
    return if (a.len <= 16) sameVector(a.ptr, b.ptr, a.len) else sameLong(a.ptr, b.ptr, a.len);
}

fn sameVector(a: [*]const u8, b: [*]const u8, len: usize) bool {
    const left: Vector = @as(*align(1) const Vector, @ptrCast(a)).*;
    const right: Vector = @as(*align(1) const Vector, @ptrCast(b)).*;
    const different: u16 = @bitCast(left != right);
    return @ctz(different) >= len;
}

noinline fn sameLong(a: [*]const u8, b: [*]const u8, len: usize) bool {
    var at: usize = 0;
    while (at + 16 < len) : (at += 16) {
        if (!sameVector(a + at, b + at, 16)) return false;
    }
    return sameVector(a + at, b + at, len - at);
}

pub fn startsWith(text: []const u8, beginning: []const u8) bool {
    return text.len >= beginning.len and same(text[0..beginning.len], beginning);
}

pub fn endsWith(text: []const u8, end: []const u8) bool {
    return text.len >= end.len and same(text[text.len - end.len ..], end);
}

/// How two texts stand to each other by their bytes.
pub noinline fn order(a: []const u8, b: []const u8) std.math.Order {
    return std.mem.order(u8, a, b);
}

/// Where a byte stands first. The standard library's search is fast and large; these texts are short.
pub noinline fn indexOf(text: []const u8, wanted: u8) ?usize {
    for (text, 0..) |byte, at| if (byte == wanted) return at;
    return null;
}

pub noinline fn contains(text: []const u8, wanted: []const u8) bool {
    if (wanted.len == 0) return true;
    var rest = text;
    while (indexOf(rest, wanted[0])) |at| {
        rest = rest[at..];
        if (startsWith(rest, wanted)) return true;
        rest = rest[1..];
    }
    return false;
}

/// Length of the well-formed sequence that the text begins with; 0 if there is none. The text is not empty.
pub fn sequenceLength(text: []const u8) usize {
    const first = text[0];
    if (first < 0x80) return 1;
    const len = leadLength(first);
    if (first < 0xc2 or first > 0xf4 or text.len < len) return 0;
    for (text[1..len]) |byte| if (byte & 0xc0 != 0x80) return 0;
    const second = text[1];
    return switch (first) {
        0xe0 => if (second >= 0xa0) len else 0, // overlong
        0xed => if (second < 0xa0) len else 0, // surrogates
        0xf0 => if (second >= 0x90) len else 0, // overlong
        0xf4 => if (second < 0x90) len else 0, // above U+10FFFF
        else => len,
    };
}

/// Length of the sequence that a lead byte announces.
pub fn leadLength(first: u8) usize {
    if (first < 0x80) return 1;
    if (first < 0xe0) return 2;
    return if (first < 0xf0) 3 else 4;
}

pub fn isValid(text: []const u8) bool {
    var at: usize = 0;
    while (at < text.len) {
        const len = sequenceLength(text[at..]);
        if (len == 0) return false;
        at += len;
    }
    return true;
}

/// Write a code point that is no surrogate; gives the number of bytes.
pub fn encode(code: u32, out: *[4]u8) usize {
    if (code < 0x80) {
        out[0] = @intCast(code);
        return 1;
    }
    const len: usize = if (code < 0x800) 2 else if (code < 0x10000) 3 else 4;
    var at = len - 1;
    var rest = code;
    while (at > 0) : (at -= 1) {
        out[at] = 0x80 | @as(u8, @intCast(rest & 0x3f));
        rest >>= 6;
    }
    out[0] = switch (len) {
        2 => 0xc0 | @as(u8, @intCast(rest)),
        3 => 0xe0 | @as(u8, @intCast(rest)),
        else => 0xf0 | @as(u8, @intCast(rest)),
    };
    return len;
}
