//! Names with an optional star at the end: `public.users`, `audit_*`.

const utf8 = @import("utf8.zig");
const memory = @import("memory.zig");
const Buffer = @import("buffer.zig").Buffer;

pub fn isPrefix(pattern: []const u8) bool {
    return pattern.len > 0 and pattern[pattern.len - 1] == '*';
}

pub fn matches(pattern: []const u8, text: []const u8) bool {
    if (isPrefix(pattern)) return utf8.startsWith(text, pattern[0 .. pattern.len - 1]);
    return utf8.same(pattern, text);
}

pub fn matchesAny(patterns: []const []const u8, text: []const u8) bool {
    for (patterns) |pattern| if (matches(pattern, text)) return true;
    return false;
}

/// Whether a pattern matches `schema.table`, without joining the two.
pub fn matchesJoined(pattern: []const u8, schema: []const u8, table: []const u8) bool {
    const is_prefix = isPrefix(pattern);
    const wanted = if (is_prefix) pattern[0 .. pattern.len - 1] else pattern;
    const len = schema.len + 1 + table.len;
    if (if (is_prefix) wanted.len > len else wanted.len != len) return false;
    const in_schema = @min(wanted.len, schema.len);
    if (!utf8.same(wanted[0..in_schema], schema[0..in_schema])) return false;
    if (wanted.len <= schema.len) return true;
    if (wanted[schema.len] != '.') return false;
    return utf8.startsWith(table, wanted[schema.len + 1 ..]);
}

/// Whether one of the patterns matches the table, or `schema.table` if there is a schema.
pub fn matchesTable(patterns: []const []const u8, schema: ?[]const u8, table: []const u8) bool {
    for (patterns) |pattern| {
        if (matches(pattern, table)) return true;
        if (schema) |name| if (matchesJoined(pattern, name, table)) return true;
    }
    return false;
}

/// A template in which each `*` stands for `text`.
pub fn fill(template: []const u8, text: []const u8) memory.Error![]const u8 {
    var filled = try Buffer.init(template.len + text.len);
    for (template) |byte| {
        if (byte == '*') try filled.append(text) else try filled.byte(byte);
    }
    return filled.finish();
}
