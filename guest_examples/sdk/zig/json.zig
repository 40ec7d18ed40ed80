//! Walk a JSON document without building it: strict RFC 8259, iterators over containers, values as spans.
//!
//! The rules, the offsets of errors and the depth limit are those of `../SEMANTICS.md`.

const std = @import("std");
const memory = @import("memory.zig");
const token = @import("json_token.zig");
const utf8 = @import("utf8.zig");
const Characters = @import("characters.zig").Characters;
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
    /// What usually stands between two members: a comma and a quote. Nothing (no pair has this value) before the first
    /// member and in arrays.
    usual: u32 = no_pair,
};

const no_pair = std.math.maxInt(u32);
const between_members = token.pairOf(",\"");
const behind_key = token.pairOf("\":");

/// What became of a step to the next child.
pub const Move = enum { child, end, trouble };

/// Where the last document that was found not to be JSON has its trouble. Not part of a scanner, so that scanners can
/// live in registers; a guest has one thread and gives up at the first trouble.
pub var failed_at: usize = 0;

pub const Scanner = struct {
    text: []const u8,
    at: usize = 0,
    depth: usize = 0,

    /// Move to the document's value.
    pub fn begin(self: *Scanner) void {
        self.skipSpace();
    }

    /// Check that nothing but white space follows the document's value.
    pub fn finish(self: *Scanner) Error!void {
        self.skipSpace();
        if (self.at != self.text.len) return fail(self.at);
    }

    /// Whether the value at hand is an object or an array.
    pub inline fn atContainer(self: *const Scanner) bool {
        const first = self.peek();
        return first == '{' or first == '[';
    }

    pub inline fn peek(self: *const Scanner) u8 {
        return token.byteAt(self.text, self.at);
    }

    /// Enter the container at hand.
    pub inline fn enter(self: *Scanner) Error!Children {
        if (self.depth == max_depth) return error.TooDeep;
        const children = Children{ .is_object = self.peek() == '{', .start = self.at };
        self.depth += 1;
        self.at += 1;
        return children;
    }

    /// Move to the next child's value; false, and behind the container, when there is none. The child must then be
    /// read or skipped.
    pub noinline fn next(self: *Scanner, children: *Children) Error!bool {
        return switch (self.move(children)) {
            .child => true,
            .end => false,
            .trouble => error.NotJson,
        };
    }

    /// The same, for loops that most documents go through. A scanner and children that are variables of such a loop, and
    /// whose addresses go nowhere else, stay in registers.
    pub inline fn move(self: *Scanner, children: *Children) Move {
        const text = self.text;
        // Where the usual pair stands, the comma, the quote and one byte more are inside the text.
        var quote = self.at +% 1;
        if (!token.hasPair(text, self.at, children.usual)) {
            var slot = self.at;
            var at = token.spaceEnd(text, slot);
            const separator = token.byteAt(text, at);
            if (separator == ',' and !children.is_first) {
                slot = at + 1;
                at = token.spaceEnd(text, slot);
            } else if (separator == @as(u8, if (children.is_object) '}' else ']')) {
                self.at = at + 1;
                self.depth -= 1;
                return .end;
            } else if (!children.is_first) {
                return trouble(at);
            }
            children.is_first = false;
            children.slot = slot;
            self.at = at;
            if (!children.is_object) return .child;
            children.usual = between_members;
            if (token.byteAt(text, at) != '"') return trouble(at);
            quote = at;
        } else {
            children.slot = quote;
        }
        // The key. A string ends at least two bytes behind its first quote and inside the text.
        const end = token.stringEnd(text, quote, &children.key.escaped);
        if (end == 0) return trouble(quote);
        const closing = end -% 1;
        children.key_start = quote;
        children.key.raw = (text.ptr + quote + 1)[0 .. closing -% quote -% 1];
        if (token.hasPair(text, closing, behind_key) and text.ptr[closing +% 2] > ' ') {
            self.at = closing +% 2;
            return .child;
        }
        const colon = token.spaceEnd(text, end);
        if (token.byteAt(text, colon) != ':') return trouble(colon);
        self.at = token.spaceEnd(text, colon + 1);
        return .child;
    }

    /// Read the value at hand, a container as a whole.
    pub noinline fn value(self: *Scanner) Error!Value {
        const start = self.at;
        const kind: Kind = switch (self.peek()) {
            '"' => .string,
            '{' => .object,
            '[' => .array,
            't', 'f' => .boolean,
            'n' => .null,
            else => .number,
        };
        var escaped = false;
        try self.passShared(&escaped);
        return .{ .kind = kind, .text = self.text[start..self.at], .escaped = escaped };
    }

    /// Check the value at hand and move behind it.
    pub fn skip(self: *Scanner) Error!void {
        var escaped: bool = undefined;
        return self.passShared(&escaped);
    }

    /// The same, for loops that most documents go through.
    pub inline fn skipInline(self: *Scanner) Error!void {
        var escaped: bool = undefined;
        try self.pass(&escaped);
    }

    noinline fn passShared(self: *Scanner, escaped: *bool) Error!void {
        return self.pass(escaped);
    }

    inline fn pass(self: *Scanner, escaped: *bool) Error!void {
        const start = self.at;
        const first = self.peek();
        if (first == '"') {
            self.at = token.stringEnd(self.text, start, escaped);
        } else if (first == '{' or first == '[') {
            self.at = containerEnd(self.text, start, self.depth);
            if (self.at == 0) return if (failed_at == too_deep) error.TooDeep else error.NotJson;
            return;
        } else {
            self.at = token.wordEnd(self.text, start);
        }
        // Trouble anywhere in a string, a number or a literal is reported where it begins.
        if (self.at == 0) return fail(start);
    }

    pub fn skipSpace(self: *Scanner) void {
        self.at = token.spaceEnd(self.text, self.at);
    }
};

const too_deep = std.math.maxInt(usize);

/// Where the container at `start` ends; 0 if it is none, and `failed_at` says where, or that it is too deep.
noinline fn containerEnd(text: []const u8, start: usize, depth: usize) usize {
    var scanner = Scanner{ .text = text, .at = start, .depth = depth };
    skipChildren(&scanner) catch |problem| {
        if (problem == error.TooDeep) failed_at = too_deep;
        return 0;
    };
    return scanner.at;
}

inline fn skipChildren(scanner: *Scanner) Error!void {
    var children = try scanner.enter();
    while (true) switch (scanner.move(&children)) {
        .child => try scanner.skipInline(),
        .end => return,
        .trouble => return error.NotJson,
    };
}

fn fail(offset: usize) Error {
    @branchHint(.cold);
    failed_at = offset;
    return error.NotJson;
}

fn trouble(offset: usize) Move {
    @branchHint(.cold);
    failed_at = offset;
    return .trouble;
}
