//! The characters of a JSON string: escapes, and what they stand for.

const utf8 = @import("utf8.zig");

/// Bytes of the escape that the text begins with (both halves of a surrogate pair); 0 if it is none.
pub fn escapeLength(text: []const u8) usize {
    if (text.len < 2) return 0;
    switch (text[1]) {
        '"', '\\', '/', 'b', 'f', 'n', 'r', 't' => return 2,
        'u' => {
            const unit = codeUnit(text) orelse return 0;
            if (unit & 0xf800 != 0xd800) return 6;
            if (unit >= 0xdc00) return 0;
            const low = codeUnit(text[6..]) orelse return 0;
            return if (low & 0xfc00 == 0xdc00) 12 else 0;
        },
        else => return 0,
    }
}

/// The value of a `\uXXXX` that the text begins with.
fn codeUnit(text: []const u8) ?u32 {
    if (text.len < 6 or text[0] != '\\' or text[1] != 'u') return null;
    var unit: u32 = 0;
    for (text[2..6]) |digit| {
        const value: u8 = switch (digit) {
            '0'...'9' => digit - '0',
            'a'...'f' => digit - 'a' + 10,
            'A'...'F' => digit - 'A' + 10,
            else => return null,
        };
        unit = unit << 4 | value;
    }
    return unit;
}

/// The characters of a text that has been scanned, as UTF-8, one at a time.
pub const Characters = struct {
    raw: []const u8,
    at: usize = 0,
    decode: bool = true,
    decoded: [4]u8 = undefined,

    /// The next character; valid until the next call.
    pub fn next(self: *Characters) ?[]const u8 {
        if (self.at >= self.raw.len) return null;
        const rest = self.raw[self.at..];
        if (self.decode and rest[0] == '\\') return self.escape(rest);
        const len = utf8.leadLength(rest[0]);
        self.at += len;
        return rest[0..len];
    }

    fn escape(self: *Characters, rest: []const u8) []const u8 {
        self.at += 2;
        self.decoded[0] = switch (rest[1]) {
            'b' => 8,
            'f' => 12,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                var code = codeUnit(rest).?;
                self.at += 4;
                if (code & 0xfc00 == 0xd800) {
                    code = 0x10000 + ((code & 0x3ff) << 10) + (codeUnit(rest[6..]).? & 0x3ff);
                    self.at += 6;
                }
                return self.decoded[0..utf8.encode(code, &self.decoded)];
            },
            else => rest[1],
        };
        return self.decoded[0..1];
    }

    pub fn count(self: Characters) usize {
        var characters = self;
        var total: usize = 0;
        while (characters.next()) |_| total += 1;
        return total;
    }
};
