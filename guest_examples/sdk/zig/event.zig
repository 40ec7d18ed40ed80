//! The canonical event: read fields where they lie, replace some, keep every other byte.
//!
//! The top level of the message is walked once. Changes are patches: a span of the input and what stands there instead.

const memory = @import("memory.zig");
const utf8 = @import("utf8.zig");
const wire = @import("wire.zig");
const Buffer = @import("buffer.zig").Buffer;

pub const Operation = enum(u32) { unspecified, insert, update, delete, read, schema_change, truncate, _ };

/// Numbers of the fields that an SDK knows by name.
pub const Field = enum(u32) {
    before = 1,
    after = 2,
    op = 3,
    source = 4,
    ts = 5,
    schema = 6,
    table = 7,
    primary_key = 8,
    snapshot = 9,
    transaction = 10,
    envelope_version = 11,
    before_is_key_only = 12,
    unavailable_columns = 13,
    before_unavailable_columns = 14,
    attributes = 1000,

    fn wireType(self: Field) u3 {
        return switch (self) {
            .op, .ts, .envelope_version, .before_is_key_only => wire.varint_type,
            else => wire.bytes_type,
        };
    }
};

const last_small = @backingInt(Field.before_unavailable_columns);

pub const Error = wire.Error || memory.Error;

/// A piece of a field's value and what stands in its place.
pub const Replacement = struct { start: usize, end: usize, text: []const u8 };

const Patch = struct {
    start: usize,
    end: usize,
    /// The field's number: insertions at the same place stand in the order of their fields.
    number: u32,
    /// Tag and length of a new value that is not copied before it is written.
    head: wire.Head = .{},
    body: []const u8 = "",
    /// Of an entry of the attributes: its key. Entries that are inserted at the same place stand in the order of keys.
    key: []const u8 = "",
    /// Pieces of the body that are something else, in order; written while the rest is copied.
    pieces: []const Replacement = &.{},

    /// What is inserted at a place stands before what is replaced there.
    fn isBefore(self: *const Patch, other: *const Patch) bool {
        if (self.start != other.start) return self.start < other.start;
        const inserts = self.end == self.start;
        if (inserts != (other.end == other.start)) return inserts;
        if (self.number != other.number) return self.number < other.number;
        return utf8.order(self.key, other.key) == .lt;
    }
};

pub const Image = enum { before, after };

pub const Event = struct {
    bytes: []const u8,
    /// The last occurrence of each known field but the attributes; those whose bit is in `seen`.
    last: [last_small + 1]wire.Place,
    seen: u32,
    op_value: u64,
    /// A bit for each known field that occurs more than once, until its earlier occurrences are dropped.
    repeats: u32,
    first_attribute: ?usize,
    last_known_end: usize,
    patches: []Patch,
    patch_count: usize,
    /// The first patches need no memory of their own.
    few_patches: [4]Patch,
    encoded_length: usize,

    /// Begin with another message. Places of fields are left as they are, because clearing them takes time.
    pub fn reset(self: *Event, bytes: []const u8) void {
        self.bytes = bytes;
        self.seen = 0;
        self.op_value = 0;
        self.repeats = 0;
        self.first_attribute = null;
        self.last_known_end = 0;
        self.patches = &self.few_patches;
        self.patch_count = 0;
        self.encoded_length = bytes.len;
    }

    /// Walk the message.
    pub fn parse(self: *Event, failed_at: *usize) wire.Error!void {
        const bytes = self.bytes;
        var at: usize = 0;
        var seen: u32 = 0;
        while (at < bytes.len) {
            const tag = bytes[at];
            const place = switch (usual_tags[tag]) {
                .bytes => wire.shortBytes(bytes, at),
                .varint => wire.shortVarint(bytes, at),
                .op => if (bytes.ptr[at +% 1] < 0x80) wire.shortVarint(bytes, at) else null,
                .other => null,
            } orelse {
                self.seen = seen;
                at = try self.parseUnusual(at, failed_at);
                seen = self.seen;
                continue;
            };
            const bit = @as(u32, 1) << @truncate(tag >> 3);
            if (seen & bit != 0) self.repeats |= bit;
            seen |= bit;
            if (bit == comptime bitOf(.op)) self.op_value = bytes[place.value];
            self.last[tag >> 3] = place;
            at = place.end;
            self.last_known_end = at;
        }
        self.seen = seen;
    }

    /// One field of any form; gives the place behind it.
    noinline fn parseUnusual(self: *Event, at: usize, failed_at: *usize) wire.Error!usize {
        var reader = wire.Reader{ .bytes = self.bytes, .at = at };
        errdefer failed_at.* = at;
        const found = (try reader.next()).?;
        const field = knownField(found) orelse return found.end;
        self.last_known_end = found.end;
        if (field == .attributes) {
            if (self.first_attribute == null) self.first_attribute = found.start;
            return found.end;
        }
        if (field == .op) self.op_value = found.varint;
        if (self.has(field)) self.repeats |= bitOf(field);
        self.seen |= bitOf(field);
        self.last[@backingInt(field)] = .{ .start = found.start, .value = found.value, .end = found.end };
        return found.end;
    }

    /// Whether a field, but for the attributes, is present.
    pub fn has(self: *const Event, field: Field) bool {
        return self.seen & bitOf(field) != 0;
    }

    /// Drop all but the last occurrence of each image. Guests look into the last one only, so no other may go on.
    pub inline fn keepLastImages(self: *Event) Error!void {
        if (self.repeats & (bitOf(.before) | bitOf(.after)) == 0) return;
        try self.dropEarlier(.before);
        try self.dropEarlier(.after);
    }

    noinline fn dropEarlier(self: *Event, field: Field) Error!void {
        if (self.repeats & bitOf(field) == 0) return;
        var all = self.occurrences(field);
        while (try all.next()) |span| {
            if (span.start != self.last[@backingInt(field)].start) try self.patch(span.start, span.end, field, "");
        }
        self.repeats &= ~bitOf(field);
    }

    pub fn before(self: *const Event) ?[]const u8 {
        return self.bytesOf(.before);
    }

    pub fn after(self: *const Event) ?[]const u8 {
        return self.bytesOf(.after);
    }

    pub fn image(self: *const Event, which: Image) ?[]const u8 {
        return self.bytesOf(if (which == .before) .before else .after);
    }

    pub fn schema(self: *const Event) ?[]const u8 {
        return self.bytesOf(.schema);
    }

    pub fn table(self: *const Event) []const u8 {
        return self.bytesOf(.table) orelse "";
    }

    pub fn op(self: *const Event) Operation {
        return @fromBackingInt(@intCast(@as(u32, @truncate(self.op_value))));
    }

    /// A field of bytes, text or a nested message, if it is present.
    pub fn bytesOf(self: *const Event, field: Field) ?[]const u8 {
        if (!self.has(field)) return null;
        const place = self.last[@backingInt(field)];
        return self.bytes[place.value..place.end];
    }

    /// Every occurrence of a field.
    pub fn occurrences(self: *const Event, field: Field) Occurrences {
        const none = self.bytes.len;
        const from = if (field == .attributes) self.first_attribute orelse none else if (self.has(field)) 0 else none;
        return .{ .field = field, .reader = .{ .bytes = self.bytes, .at = from } };
    }

    /// Every occurrence of a field of text.
    pub fn texts(self: *const Event, field: Field) Error![][]const u8 {
        var count: usize = 0;
        var all = self.occurrences(field);
        while (try all.next()) |_| count += 1;
        const found = try memory.array([]const u8, count);
        all = self.occurrences(field);
        for (found) |*text| {
            const span = (try all.next()).?;
            text.* = self.bytes[span.value..span.end];
        }
        return found;
    }

    /// A field that is a number; 0 if it is absent.
    pub fn varintOf(self: *const Event, field: Field) wire.Error!u64 {
        if (!self.has(field)) return 0;
        const place = self.last[@backingInt(field)];
        var reader = wire.Reader{ .bytes = self.bytes[0..place.end], .at = place.start };
        return (try reader.next()).?.varint;
    }

    /// Put bytes or text in place of a field. The value must live until the answer is given.
    pub noinline fn setBytes(self: *Event, field: Field, value: []const u8) Error!void {
        const has_presence = field == .before or field == .after or field == .schema;
        if (value.len == 0 and !has_presence) return self.remove(field);
        try self.put(field, .ofBytes(@backingInt(field), value.len), value);
    }

    pub fn setVarint(self: *Event, field: Field, value: u64) Error!void {
        if (value == 0) return self.remove(field);
        try self.put(field, .ofVarint(@backingInt(field), value), "");
    }

    pub noinline fn remove(self: *Event, field: Field) Error!void {
        if (!self.has(field)) return;
        try self.dropEarlier(field);
        const last = self.last[@backingInt(field)];
        try self.patch(last.start, last.end, field, "");
    }

    /// Put an image in place of another: `text` with some pieces replaced, `len` bytes in all.
    pub fn setPieces(self: *Event, field: Field, text: []const u8, pieces: []const Replacement, len: usize) Error!void {
        const place = self.last[@backingInt(field)];
        const new = Patch{
            .start = place.start,
            .end = place.end,
            .number = @backingInt(field),
            .head = .ofBytes(@backingInt(field), len),
            .body = text,
            .pieces = pieces,
        };
        try self.patchWith(&new, len);
    }

    noinline fn put(self: *Event, field: Field, head: wire.Head, body: []const u8) Error!void {
        var new = Patch{ .start = 0, .end = 0, .number = @backingInt(field), .head = head, .body = body };
        if (self.has(field)) {
            try self.dropEarlier(field);
            const last = self.last[@backingInt(field)];
            new.start = last.start;
            new.end = last.end;
        } else {
            new.start = try self.placeOf(field);
            new.end = new.start;
        }
        try self.patchWith(&new, body.len);
    }

    /// Where a field that is absent belongs: before the first known field with a higher number, else behind the last.
    pub noinline fn placeOf(self: *const Event, field: Field) wire.Error!usize {
        var reader = wire.Reader{ .bytes = self.bytes };
        while (try reader.next()) |span| {
            const other = knownField(span) orelse continue;
            if (@backingInt(other) > @backingInt(field)) return span.start;
        }
        return self.last_known_end;
    }

    /// Replace a span of the event as it came in. Patches must not overlap.
    pub fn patch(self: *Event, start: usize, end: usize, field: Field, replacement: []const u8) memory.Error!void {
        const new = Patch{ .start = start, .end = end, .number = @backingInt(field), .body = replacement };
        try self.patchWith(&new, replacement.len);
    }

    /// Put an entry of the attributes, or nothing, in place of a span; also of what was put there before.
    pub fn patchAttribute(self: *Event, start: usize, end: usize, key: []const u8, entry: []const u8) memory.Error!void {
        if (self.attributePatch(start, end, key)) |old| {
            self.encoded_length = self.encoded_length - old.body.len + entry.len;
            old.body = entry;
            return;
        }
        const number = @backingInt(Field.attributes);
        const new = Patch{ .start = start, .end = end, .number = number, .body = entry, .key = key };
        try self.patchWith(&new, entry.len);
    }

    /// What was put in place of an entry, or inserted with the same key.
    pub fn attributePatch(self: *Event, start: usize, end: usize, key: []const u8) ?*Patch {
        for (self.patches[0..self.patch_count]) |*item| {
            if (item.number != @backingInt(Field.attributes) or item.start != start or item.end != end) continue;
            if (start != end or utf8.same(item.key, key)) return item;
        }
        return null;
    }

    /// Add a patch whose body, with its pieces, has `len` bytes.
    noinline fn patchWith(self: *Event, new: *const Patch, len: usize) memory.Error!void {
        if (self.patch_count == self.patches.len) try self.makeRoom();
        // Kept in order of place and field. Most come in order, so the search runs from the end.
        var at = self.patch_count;
        while (at > 0 and new.isBefore(&self.patches[at - 1])) : (at -= 1) self.patches[at] = self.patches[at - 1];
        self.patches[at] = new.*;
        self.patch_count += 1;
        self.encoded_length = self.encoded_length + new.head.len + len - (new.end - new.start);
    }

    noinline fn makeRoom(self: *Event) memory.Error!void {
        const more = try memory.array(Patch, self.patches.len * 4);
        @memcpy(more[0..self.patch_count], self.patches);
        self.patches = more;
    }

    pub fn isChanged(self: *const Event) bool {
        return self.patch_count != 0;
    }

    /// Length of the message with its patches.
    pub fn encodedLength(self: *const Event) usize {
        return self.encoded_length;
    }

    /// Write the message with its patches.
    pub noinline fn encode(self: *const Event, out: *Buffer) memory.Error!void {
        var to = try out.cursor(self.encoded_length);
        const bytes = self.bytes;
        var at: usize = 0;
        for (self.patches[0..self.patch_count]) |*item| {
            to.put(bytes[at..item.start]);
            to.putShort(&item.head.bytes, item.head.len);
            at = item.end;
            const body = item.body;
            var copied: usize = 0;
            for (item.pieces) |*piece| {
                to.put(body[copied..piece.start]);
                to.put(piece.text);
                copied = piece.end;
            }
            to.put(body[copied..]);
        }
        to.put(bytes[at..]);
        out.advance(to);
    }
};

pub const Occurrences = struct {
    field: Field,
    reader: wire.Reader,

    pub noinline fn next(self: *Occurrences) wire.Error!?wire.Span {
        while (try self.reader.next()) |span| {
            if (knownField(span) == self.field) return span;
        }
        return null;
    }
};

inline fn bitOf(field: Field) u32 {
    return @as(u32, 1) << @intCast(@backingInt(field));
}

/// What a tag of one byte says: a known field with the schema's wire type, or something else.
const usual_tags = table: {
    var table: [256]enum(u8) { other, bytes, varint, op } = @splat(.other);
    for (1..last_small + 1) |number| {
        const field: Field = @fromBackingInt(@intCast(number));
        table[number << 3 | field.wireType()] = if (field.wireType() == wire.bytes_type) .bytes else .varint;
    }
    // The number of this one is wanted, not just its place.
    table[@backingInt(Field.op) << 3] = .op;
    break :table table;
};

/// The field that a span holds, if both its number and its wire type are the schema's.
inline fn knownField(span: wire.Span) ?Field {
    if (span.number > last_small and span.number != @backingInt(Field.attributes)) return null;
    const field: Field = @fromBackingInt(@intCast(span.number));
    return if (field.wireType() == span.wire_type) field else null;
}
