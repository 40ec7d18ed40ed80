//! Compare JSON numbers by their exact value, without floats and without limits on their digits.

const std = @import("std");
const utf8 = @import("utf8.zig");

/// Exponents beyond this count as this.
const max_exponent = 1_000_000_000_000_000_000;

/// A number as 0.DIGITS times ten to the power of `magnitude`; the digits begin and end with something else than zero.
const Parts = struct {
    sign: i2,
    magnitude: i64,
    /// The text that holds the digits, perhaps with a point among them.
    digits: []const u8,
};

pub fn compare(left: []const u8, right: []const u8) std.math.Order {
    const a = split(left);
    const b = split(right);
    if (a.sign != b.sign) return std.math.order(a.sign, b.sign);
    if (a.sign == 0) return .eq;
    const order = if (a.magnitude != b.magnitude) std.math.order(a.magnitude, b.magnitude) else compareDigits(a, b);
    return if (a.sign < 0) order.invert() else order;
}

/// Whether a text is a JSON number.
pub fn isNumber(text: []const u8) bool {
    const json = @import("json.zig");
    var scanner = json.Scanner{ .text = text };
    const value = scanner.value() catch return false;
    return value.kind == .number and scanner.at == text.len;
}

fn split(text: []const u8) Parts {
    const is_negative = text[0] == '-';
    const unsigned = text[@intFromBool(is_negative)..];
    const mantissa_end = utf8.indexOf(unsigned, 'e') orelse utf8.indexOf(unsigned, 'E') orelse unsigned.len;
    const mantissa = unsigned[0..mantissa_end];
    const point = utf8.indexOf(mantissa, '.') orelse mantissa.len;
    const first = std.mem.indexOfNone(u8, mantissa, "0.") orelse return .{ .sign = 0, .magnitude = 0, .digits = "" };
    const last = std.mem.lastIndexOfNone(u8, mantissa, "0.").?;
    var magnitude: i64 = @intCast(point);
    magnitude -= @intCast(first);
    if (first > point) magnitude += 1; // the point itself is no digit
    magnitude += exponentOf(unsigned[mantissa_end..]);
    return .{
        .sign = if (is_negative) -1 else 1,
        .magnitude = magnitude,
        .digits = mantissa[first .. last + 1],
    };
}

fn exponentOf(text: []const u8) i64 {
    if (text.len == 0) return 0;
    const has_sign = text[1] == '+' or text[1] == '-';
    const digits = std.mem.trimStart(u8, text[1 + @as(usize, @intFromBool(has_sign)) ..], "0");
    var exponent: i64 = max_exponent;
    if (digits.len <= 18) {
        exponent = 0;
        for (digits) |digit| exponent = exponent * 10 + (digit - '0');
    }
    return if (text[1] == '-') -exponent else exponent;
}

fn compareDigits(a: Parts, b: Parts) std.math.Order {
    var i: usize = 0;
    var j: usize = 0;
    while (true) {
        if (i < a.digits.len and a.digits[i] == '.') i += 1;
        if (j < b.digits.len and b.digits[j] == '.') j += 1;
        // Trailing zeros are gone, so what is longer is larger.
        if (i == a.digits.len or j == b.digits.len) return std.math.order(a.digits.len - i, b.digits.len - j);
        if (a.digits[i] != b.digits[j]) return std.math.order(a.digits[i], b.digits[j]);
        i += 1;
        j += 1;
    }
}
