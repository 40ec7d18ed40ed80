//! Walk a JSON document without building it: strict RFC 8259, iterators over containers, values as spans.
//!
//! The rules, the offsets of errors and the depth limit are those of `../SEMANTICS.md`.

const memory = @import("memory.zig");
const utf8 = @import("utf8.zig");
const Buffer = @import("buffer.zig").Buffer;

pub const max_depth = 128;

pub const Error = error{ NotJson, TooDeep };

pub const Kind = enum { object, array, string, number, boolean, null };

/// A string token: its text between the quotes, and whether there is a backslash in it.
pub const String = struct {
    raw: []const u8,
    escaped: bool,

    /// Whether the decoded text is equal to `text`.
    pub fn equals(self: String, text: []const u8) bool {
        if (!self.escaped) return utf8.same(self.raw, text);
        var rest = text;
        var characters = Characters{ .raw = self.raw };
        while (characters.next()) |char| {
            if (!utf8.startsWith(rest, char)) return false;
            rest = rest[char.len..];
        }
        return rest.len == 0;
    }
};

pub const Value = struct {
    kind: Kind,
    /// The value's JSON text, quotes included.
    text: []const u8,
    escaped: bool = false,

    pub fn string(self: Value) String {
        return .{ .raw = self.text[1 .. self.text.len - 1], .escaped = self.escaped };
    }

    /// What is hashed, cut and compared, character by character: the decoded string, or the JSON text.
    pub fn characters(self: Value) Characters {
        return if (self.kind == .string) .{ .raw = self.string().raw } else .{ .raw = self.text, .decode = false };
    }

    /// The value text; it is decoded into new memory only if it must be.
    pub fn valueText(self: Value) memory.Error![]const u8 {
        if (self.plain()) |text| return text;
        var text = try Buffer.init(self.text.len);
        var chars = self.characters();
        while (chars.next()) |char| try text.append(char);
        return text.finish();
    }

    /// The value text, if it needs no decoding.
    pub fn plain(self: Value) ?[]const u8 {
        if (self.kind != .string) return self.text;
        return if (self.escaped) null else self.string().raw;
    }
};

/// Where a walk stands inside one container.
pub const Children = struct {
    is_object: bool,
    is_first: bool = true,
    /// Offset of the bracket, and of the present child's slot (see "Removing children").
    start: usize,
    slot: usize = 0,
    key: String = .{ .raw = "", .escaped = false },
    key_start: usize = 0,
};

pub const Scanner = struct {
    text: []const u8,
    at: usize = 0,
    depth: usize = 0,
    failed_at: usize = 0,
    /// Whether the last string that was read has a backslash in it.
    escaped: bool = false,

    /// Move to the document's value.
    pub fn begin(self: *Scanner) void {
        self.skipSpace();
    }

    /// Check that nothing but white space follows the document's value.
    pub fn finish(self: *Scanner) Error!void {
        self.skipSpace();
        if (self.at != self.text.len) return self.fail(self.at);
    }

    /// Whether the value at hand is an object or an array.
    pub fn atContainer(self: *const Scanner) bool {
        const first = self.peek();
        return first == '{' or first == '[';
    }

    pub fn peek(self: *const Scanner) u8 {
        return if (self.at < self.text.len) self.text[self.at] else 0;
    }

    /// Enter the container at hand.
    pub fn enter(self: *Scanner) Error!Children {
        if (self.depth == max_depth) return error.TooDeep;
        const children = Children{ .is_object = self.text[self.at] == '{', .start = self.at };
        self.depth += 1;
        self.at += 1;
        return children;
    }

    /// Move to the next child's value; false, and behind the container, when there is none. The child must then be
    /// read or skipped.
    pub fn next(self: *Scanner, children: *Children) Error!bool {
        // The place is kept in a local variable: this and `string` are where a guest spends its time.
        const text = self.text;
        var slot = self.at;
        var at = spaceEnd(text, slot);
        const separator = byteAt(text, at);
        const closing: u8 = if (children.is_object) '}' else ']';
        if (separator == closing) {
            self.at = at + 1;
            self.depth -= 1;
            return false;
        }
        if (children.is_first) {
            children.is_first = false;
        } else {
            if (separator != ',') return self.fail(at);
            slot = at + 1;
            at = spaceEnd(text, slot);
        }
        children.slot = slot;
        if (children.is_object) {
            self.at = at;
            try self.string();
            children.key_start = at;
            children.key = .{ .raw = text[at + 1 .. self.at - 1], .escaped = self.escaped };
            at = spaceEnd(text, self.at);
            if (byteAt(text, at) != ':') return self.fail(at);
            at = spaceEnd(text, at + 1);
        }
        self.at = at;
        return true;
    }

    /// Read the value at hand, a container as a whole.
    pub fn value(self: *Scanner) Error!Value {
        const start = self.at;
        switch (self.peek()) {
            '"' => {
                try self.string();
                return .{ .kind = .string, .text = self.text[start..self.at], .escaped = self.escaped };
            },
            '{', '[' => |bracket| {
                try self.skip();
                return .{ .kind = if (bracket == '{') .object else .array, .text = self.text[start..self.at] };
            },
            't', 'f', 'n' => |first| {
                try self.literal(first);
                return .{ .kind = if (first == 'n') .null else .boolean, .text = self.text[start..self.at] };
            },
            '-', '0'...'9' => {
                try self.number();
                return .{ .kind = .number, .text = self.text[start..self.at] };
            },
            else => return self.fail(start),
        }
    }

    /// Check the value at hand and move behind it.
    pub fn skip(self: *Scanner) Error!void {
        switch (self.peek()) {
            '"' => try self.string(),
            '{', '[' => {
                var children = try self.enter();
                while (try self.next(&children)) try self.skip();
            },
            't', 'f', 'n' => |first| try self.literal(first),
            '-', '0'...'9' => try self.number(),
            else => return self.fail(self.at),
        }
    }

    pub fn skipSpace(self: *Scanner) void {
        self.at = spaceEnd(self.text, self.at);
    }

    /// Move behind the string at hand.
    inline fn string(self: *Scanner) Error!void {
        const text = self.text;
        const quote = self.at;
        if (quote >= text.len or text[quote] != '"') return self.fail(quote);
        const at = quote + 1 + utf8.plainRun(text, quote + 1);
        if (at < text.len and text[at] == '"') {
            self.escaped = false;
            self.at = at + 1;
            return;
        }
        return self.oddString(quote, at);
    }

    /// Go on with a string in which something else than plain text was met.
    fn oddString(self: *Scanner, quote: usize, met: usize) Error!void {
        const text = self.text;
        var at = met;
        self.escaped = false;
        while (true) {
            if (at >= text.len) return self.fail(quote);
            switch (text[at]) {
                '"' => {
                    self.at = at + 1;
                    return;
                },
                '\\' => {
                    self.escaped = true;
                    const len = escapeLength(text[at..]);
                    if (len == 0) return self.fail(quote);
                    at += len;
                },
                0...0x1f => return self.fail(quote),
                else => {
                    const len = utf8.sequenceLength(text[at..]);
                    if (len == 0) return self.fail(quote);
                    at += len;
                },
            }
            at += utf8.plainRun(text, at);
        }
    }

    fn literal(self: *Scanner, first: u8) Error!void {
        const word: []const u8 = switch (first) {
            't' => "true",
            'f' => "false",
            else => "null",
        };
        if (!utf8.startsWith(self.text[self.at..], word)) return self.fail(self.at);
        self.at += word.len;
    }

    fn number(self: *Scanner) Error!void {
        const text = self.text;
        var at = self.at;
        if (byteAt(text, at) == '-') at += 1;
        at = if (byteAt(text, at) == '0') at + 1 else try self.digits(at);
        if (byteAt(text, at) == '.') at = try self.digits(at + 1);
        if (byteAt(text, at) | 0x20 == 'e') {
            at += 1;
            if (byteAt(text, at) == '+' or byteAt(text, at) == '-') at += 1;
            at = try self.digits(at);
        }
        self.at = at;
    }

    /// Where the digits from `start` on end; there must be one.
    inline fn digits(self: *Scanner, start: usize) Error!usize {
        var at = start;
        while (byteAt(self.text, at) -% '0' < 10) at += 1;
        return if (at == start) self.fail(self.at) else at;
    }

    fn fail(self: *Scanner, offset: usize) Error {
        @branchHint(.cold);
        self.failed_at = offset;
        return error.NotJson;
    }
};

/// The byte at a place, or 0 behind the end; no JSON text has a 0 where one is looked for.
inline fn byteAt(text: []const u8, at: usize) u8 {
    return if (at < text.len) text[at] else 0;
}

/// Where white space that begins at `at` ends. Most documents have none: one comparison decides.
inline fn spaceEnd(text: []const u8, at: usize) usize {
    return if (byteAt(text, at) > ' ') at else longSpaceEnd(text, at);
}

fn longSpaceEnd(text: []const u8, start: usize) usize {
    var at = start;
    while (at < text.len) : (at += 1) {
        switch (text[at]) {
            ' ', '\t', '\n', '\r' => {},
            else => break,
        }
    }
    return at;
}

/// Bytes of the escape that the text begins with (both halves of a surrogate pair); 0 if it is none.
fn escapeLength(text: []const u8) usize {
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
