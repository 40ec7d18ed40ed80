//! The tokens of JSON: where a string, a number, a literal or white space ends.
//!
//! Each function takes a text and a place in it and gives the place behind the token, or 0 where there is no such
//! token (no token ends at 0). The common forms are judged in vectors of 16 bytes; whatever is not plain goes to a
//! function of its own that takes byte after byte, bounds checked.
//!
//! Vectors are loaded from places up to the text's end, so up to 16 bytes behind it are read, where every block has
//! slack (`memory.slack`); what is found there is never taken for text: each fast path compares with `text.len` before
//! it believes what it saw.

const utf8 = @import("utf8.zig");
const characters = @import("characters.zig");

/// The byte at a place, or 0 behind the end; no JSON text has a 0 where one is looked for.
pub inline fn byteAt(text: []const u8, at: usize) u8 {
    return if (at < text.len) text[at] else 0;
}

/// Whether two bytes stand at a place and one more behind them, all inside the text.
pub inline fn hasPair(text: []const u8, at: usize, pair: u32) bool {
    return at +% 2 < text.len and pair == @as(*align(1) const u16, @ptrCast(text.ptr + at)).*;
}

/// Two bytes as `hasPair` takes them.
pub fn pairOf(bytes: *const [2]u8) u32 {
    return @as(u32, bytes[1]) << 8 | bytes[0];
}

/// Where white space that begins at `at` ends. Most documents have none: one comparison decides.
pub inline fn spaceEnd(text: []const u8, at: usize) usize {
    return if (byteAt(text, at) > ' ') at else longSpaceEnd(text, at);
}

noinline fn longSpaceEnd(text: []const u8, start: usize) usize {
    var at = start;
    while (at < text.len) : (at += 1) {
        switch (text[at]) {
            ' ', '\t', '\n', '\r' => {},
            else => break,
        }
    }
    return at;
}

/// Where the string ends whose opening quote is at `quote`, which is inside the text; 0 if there is trouble anywhere in
/// it. `escaped` says whether it has a backslash.
pub inline fn stringEnd(text: []const u8, quote: usize, escaped: *bool) usize {
    const at = utf8.plainEnd(text, quote + 1);
    if (at >= text.len) return 0;
    if (text[at] == '"') {
        escaped.* = false;
        return at + 1;
    }
    const end = oddStringEnd(text, at);
    escaped.* = end >> 32 != 0;
    return @truncate(end);
}

/// Go on with a string in which something else than plain text was met. Bit 32 says whether it has a backslash.
noinline fn oddStringEnd(text: []const u8, met: usize) u64 {
    var at = met;
    var escaped: u64 = 0;
    while (at < text.len) {
        switch (text[at]) {
            '"' => return escaped | (at + 1),
            '\\' => {
                escaped = 1 << 32;
                const len = characters.escapeLength(text[at..]);
                if (len == 0) return 0;
                at += len;
            },
            0...0x1f => return 0,
            else => {
                const len = utf8.sequenceLength(text[at..]);
                if (len == 0) return 0;
                at += len;
            },
        }
        at = utf8.plainEnd(text, at);
    }
    return 0;
}

/// Where the number or the literal at `start` ends.
pub inline fn wordEnd(text: []const u8, start: usize) usize {
    const end = shortNumberEnd(text, start);
    return if (end != 0) end else otherWordEnd(text, start);
}

noinline fn otherWordEnd(text: []const u8, start: usize) usize {
    const word = switch (byteAt(text, start)) {
        't' => "true",
        'f' => "false",
        'n' => "null",
        '-', '0'...'9' => return numberEnd(text, start),
        else => return 0,
    };
    return if (utf8.startsWith(text[start..], word)) start + word.len else 0;
}

/// Where an ordinary number ends: no exponent, less than 16 characters, something behind it; 0 for anything else.
inline fn shortNumberEnd(text: []const u8, start: usize) usize {
    // The places are below the text's length plus 17, so nothing wraps.
    const first = start +% @intFromBool(text.ptr[start] == '-');
    const others = @as(u32, utf8.otherThanDigits(text.ptr + first)) | 1 << 16;
    const whole: u32 = @ctz(others);
    if (whole == 0 or (whole > 1 and text.ptr[first] == '0')) return 0;
    var end = first +% whole;
    if (text.ptr[end] == '.' and whole < 16) {
        const fraction = @ctz(others >> @intCast(whole + 1));
        if (fraction == 0) return 0;
        end = end +% 1 +% fraction;
    }
    // The digits may reach to the vector's end and beyond, or out of the text.
    if (end >= text.len or end -% first >= 16 or text[end] | 0x20 == 'e') return 0;
    return end;
}

noinline fn numberEnd(text: []const u8, start: usize) usize {
    var at = start;
    if (byteAt(text, at) == '-') at += 1;
    at = if (byteAt(text, at) == '0') at + 1 else digitsEnd(text, at);
    if (at != 0 and byteAt(text, at) == '.') at = digitsEnd(text, at + 1);
    if (at != 0 and byteAt(text, at) | 0x20 == 'e') {
        at += 1;
        if (byteAt(text, at) == '+' or byteAt(text, at) == '-') at += 1;
        at = digitsEnd(text, at);
    }
    return at;
}

/// Where the digits from `start` on end; there must be one.
noinline fn digitsEnd(text: []const u8, start: usize) usize {
    var at = start;
    while (byteAt(text, at) -% '0' < 10) at += 1;
    return if (at == start) 0 else at;
}
