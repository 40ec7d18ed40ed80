//! The canonical event: read fields where they lie, replace some, keep every other byte.
//!
//! The top level of the message is walked once. Changes are patches: a span of the input and what stands there instead.

const std = @import("std");
const memory = @import("memory.zig");
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

const Patch = struct {
    start: usize,
    end: usize,
    /// The field's number: insertions at the same place stand in the order of their fields.
    number: u32,
    /// Tag and length of a new value that is not copied before it is written.
    head: wire.Head = .{},
    body: []const u8 = "",

    /// What is inserted at a place stands before what is replaced there.
    fn isBefore(self: *const Patch, other: *const Patch) bool {
        if (self.start != other.start) return self.start < other.start;
        const inserts = self.end == self.start;
        if (inserts != (other.end == other.start)) return inserts;
        return self.number < other.number;
    }
};

/// Where the last occurrence of a field stands; an end of 0 means that there is none.
const Place = struct { start: usize = 0, value: usize = 0, end: usize = 0 };

pub const Image = enum { before, after };

pub const Event = struct {
    bytes: []const u8,
    /// The last occurrence of each known field but the attributes.
    last: [last_small + 1]Place = @splat(.{}),
    op_value: u64 = 0,
    /// A bit for each known field that occurs more than once, until its earlier occurrences are dropped.
    repeats: u32 = 0,
    first_attribute: ?usize = null,
    last_known_end: usize = 0,
    patches: []Patch = &.{},
    patch_count: usize = 0,

    /// Walk the message.
    pub fn parse(self: *Event, failed_at: *usize) wire.Error!void {
        var reader = wire.Reader{ .bytes = self.bytes };
        errdefer failed_at.* = reader.tag_start;
        while (try reader.nextInline()) |found| {
            const field = knownField(found) orelse continue;
            self.last_known_end = found.end;
            if (field == .attributes) {
                if (self.first_attribute == null) self.first_attribute = found.start;
                continue;
            }
            if (field == .op) self.op_value = found.varint;
            const number = @backingInt(field);
            const last = &self.last[number];
            if (last.end != 0) self.repeats |= bitOf(field);
            last.* = .{ .start = found.start, .value = found.value, .end = found.end };
        }
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
        const span = self.last[@backingInt(field)];
        return if (span.end == 0) null else self.bytes[span.value..span.end];
    }

    /// Every occurrence of a field.
    pub fn occurrences(self: *const Event, field: Field) Occurrences {
        const number = @backingInt(field);
        const from = if (field == .attributes) self.first_attribute orelse self.bytes.len else 0;
        const is_absent = field != .attributes and self.last[number].end == 0;
        return .{ .field = field, .reader = .{ .bytes = self.bytes, .at = if (is_absent) self.bytes.len else from } };
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
        const place = self.last[@backingInt(field)];
        if (place.end == 0) return 0;
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
        const last = self.last[@backingInt(field)];
        if (last.end == 0) return;
        try self.dropEarlier(field);
        try self.patch(last.start, last.end, field, "");
    }

    noinline fn put(self: *Event, field: Field, head: wire.Head, body: []const u8) Error!void {
        const number = @backingInt(field);
        const last = self.last[number];
        if (last.end == 0) {
            const place = try self.placeOf(field);
            return self.patchWith(.{
                .start = place,
                .end = place,
                .number = number,
                .head = head,
                .body = body,
            });
        }
        try self.dropEarlier(field);
        try self.patchWith(.{ .start = last.start, .end = last.end, .number = number, .head = head, .body = body });
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
        try self.patchWith(.{ .start = start, .end = end, .number = @backingInt(field), .body = replacement });
    }

    fn patchWith(self: *Event, new: Patch) memory.Error!void {
        if (self.patch_count == self.patches.len) {
            const more = try memory.array(Patch, @max(8, self.patches.len * 2));
            @memcpy(more[0..self.patch_count], self.patches[0..self.patch_count]);
            self.patches = more;
        }
        // Kept in order of place and field. Most come in order, so the search runs from the end.
        var at = self.patch_count;
        while (at > 0) : (at -= 1) {
            const other = &self.patches[at - 1];
            if (!new.isBefore(other)) break;
            self.patches[at] = other.*;
        }
        self.patches[at] = new;
        self.patch_count += 1;
    }

    pub fn isChanged(self: *const Event) bool {
        return self.patch_count != 0;
    }

    /// Length of the message with its patches.
    pub fn encodedLength(self: *const Event) usize {
        var len = self.bytes.len;
        for (self.patches[0..self.patch_count]) |item| {
            len = len + item.head.len + item.body.len - (item.end - item.start);
        }
        return len;
    }

    /// Write the message with its patches.
    pub fn encode(self: *const Event, out: *Buffer) memory.Error!void {
        var at: usize = 0;
        for (self.patches[0..self.patch_count]) |item| {
            try out.append(self.bytes[at..item.start]);
            try out.append(item.head.bytes[0..item.head.len]);
            try out.append(item.body);
            at = item.end;
        }
        try out.append(self.bytes[at..]);
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

/// The field that a span holds, if both its number and its wire type are the schema's.
inline fn knownField(span: wire.Span) ?Field {
    if (span.number > last_small and span.number != @backingInt(Field.attributes)) return null;
    const field: Field = @fromBackingInt(@intCast(span.number));
    return if (field.wireType() == span.wire_type) field else null;
}
