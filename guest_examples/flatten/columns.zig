//! The keys of a document that is being written: finds the first that is there twice.

const std = @import("std");
const sdk = @import("sdk");

/// Where a key's JSON string stands in the document, and the hash of its decoded text.
const Key = struct { start: u32 = 0, end: u32 = 0, hash: u32 = 0 };

/// A hash table with open addressing; a key with an end of 0 is a free place.
pub const Columns = struct {
    table: []Key = &.{},
    count: usize = 0,
    duplicate: ?sdk.json.Value = null,

    /// Add the key that stands at `start` to `end` of `document`. Its text is only looked at in this call and later
    /// ones, with the same document.
    pub fn add(self: *Columns, document: *const sdk.Buffer, start: usize, end: usize) sdk.memory.Error!void {
        if (self.count * 2 >= self.table.len) try self.grow();
        self.count += 1;
        if (self.duplicate != null) return;
        const value = valueOf(document, start, end);
        const key = Key{ .start = @intCast(start), .end = @intCast(end), .hash = hashOf(value) };
        const mask = self.table.len - 1;
        var at = key.hash & mask;
        while (self.table[at].end != 0) : (at = (at + 1) & mask) {
            const other = self.table[at];
            if (other.hash != key.hash or !isSame(valueOf(document, other.start, other.end), value)) continue;
            self.duplicate = .{
                .kind = .string,
                .text = try sdk.memory.duplicate(value.text),
                .escaped = true,
            };
            return;
        }
        self.table[at] = key;
    }

    fn grow(self: *Columns) sdk.memory.Error!void {
        const larger = try sdk.memory.array(Key, @max(32, self.table.len * 2));
        @memset(larger, .{});
        const mask = larger.len - 1;
        for (self.table) |key| {
            if (key.end == 0) continue;
            var at = key.hash & mask;
            while (larger[at].end != 0) at = (at + 1) & mask;
            larger[at] = key;
        }
        self.table = larger;
    }
};

fn valueOf(document: *const sdk.Buffer, start: usize, end: usize) sdk.json.Value {
    const text = document.written()[start..end];
    return .{ .kind = .string, .text = text, .escaped = sdk.utf8.indexOf(text, '\\') != null };
}

/// FNV-1a over the decoded text.
fn hashOf(value: sdk.json.Value) u32 {
    var hash: u32 = 0x811c9dc5;
    if (value.plain()) |text| {
        for (text) |byte| hash = (hash ^ byte) *% 0x01000193;
        return hash;
    }
    var characters = value.characters();
    while (characters.next()) |char| for (char) |byte| {
        hash = (hash ^ byte) *% 0x01000193;
    };
    return hash;
}

fn isSame(left: sdk.json.Value, right: sdk.json.Value) bool {
    if (left.plain()) |text| return right.string().equals(text);
    if (right.plain()) |text| return left.string().equals(text);
    var a = left.characters();
    var b = right.characters();
    while (a.next()) |char| {
        if (!sdk.utf8.same(char, b.next() orelse return false)) return false;
    }
    return b.next() == null;
}
