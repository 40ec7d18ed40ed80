//! Write JSON strings.

const Buffer = @import("buffer.zig").Buffer;
const memory = @import("memory.zig");
const utf8 = @import("utf8.zig");

/// Write a string with its quotes.
pub noinline fn string(out: *Buffer, text: []const u8) memory.Error!void {
    try out.byte('"');
    try escaped(out, text);
    try out.byte('"');
}

/// Write what stands between the quotes.
pub noinline fn escaped(out: *Buffer, text: []const u8) memory.Error!void {
    for (text) |byte| {
        switch (byte) {
            '"' => try out.append("\\\""),
            '\\' => try out.append("\\\\"),
            8 => try out.append("\\b"),
            12 => try out.append("\\f"),
            '\n' => try out.append("\\n"),
            '\r' => try out.append("\\r"),
            '\t' => try out.append("\\t"),
            0...7, 11, 14...31 => {
                try out.append("\\u00");
                try out.byte("01"[byte >> 4]);
                try out.byte("0123456789abcdef"[byte & 15]);
            },
            else => try out.byte(byte),
        }
    }
}
