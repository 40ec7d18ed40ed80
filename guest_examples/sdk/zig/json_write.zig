//! Write JSON strings.

const Buffer = @import("buffer.zig").Buffer;
const memory = @import("memory.zig");

/// Write a string with its quotes.
pub noinline fn string(out: *Buffer, text: []const u8) memory.Error!void {
    try out.byte('"');
    try escaped(out, text);
    try out.byte('"');
}

/// Write what stands between the quotes.
pub noinline fn escaped(out: *Buffer, text: []const u8) memory.Error!void {
    var copied: usize = 0;
    for (text, 0..) |byte, at| {
        if (byte >= 0x20 and byte != '"' and byte != '\\') continue;
        try out.append(text[copied..at]);
        copied = at + 1;
        try out.byte('\\');
        switch (byte) {
            '"', '\\' => try out.byte(byte),
            8 => try out.byte('b'),
            12 => try out.byte('f'),
            '\n' => try out.byte('n'),
            '\r' => try out.byte('r'),
            '\t' => try out.byte('t'),
            else => {
                try out.append("u00");
                try out.byte("01"[byte >> 4]);
                try out.byte("0123456789abcdef"[byte & 15]);
            },
        }
    }
    try out.append(text[copied..]);
}
