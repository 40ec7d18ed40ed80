//! The event's attributes (field 1000): read, remove and set entries of the map.

const std = @import("std");
const wire = @import("wire.zig");
const event_file = @import("event.zig");
const Buffer = @import("buffer.zig").Buffer;
const Event = event_file.Event;

const Entry = struct { span: wire.Span, key: []const u8, value: []const u8 };

/// Walks the entries; `failed_at` is the offset of the entry that could not be read.
pub const Entries = struct {
    event: *const Event,
    all: event_file.Occurrences,
    failed_at: usize = 0,

    pub fn of(event: *const Event) Entries {
        return .{ .event = event, .all = event.occurrences(.attributes) };
    }

    pub noinline fn next(self: *Entries) wire.Error!?Entry {
        const span = try self.all.next() orelse return null;
        self.failed_at = span.start;
        var entry = Entry{ .span = span, .key = "", .value = "" };
        const bytes = self.event.bytes[span.value..span.end];
        var reader = wire.Reader{ .bytes = bytes };
        while (try reader.next()) |part| {
            if (part.wire_type != wire.bytes_type) continue;
            if (part.number == 1) entry.key = bytes[part.value..part.end];
            if (part.number == 2) entry.value = bytes[part.value..part.end];
        }
        return entry;
    }
};

/// The value of an attribute; of several entries the last one counts.
pub noinline fn get(event: *const Event, key: []const u8, failed_at: *usize) wire.Error!?[]const u8 {
    if (event.first_attribute == null) return null;
    var entries = Entries.of(event);
    errdefer failed_at.* = entries.failed_at;
    var found: ?[]const u8 = null;
    while (try entries.next()) |entry| {
        if (std.mem.eql(u8, entry.key, key)) found = entry.value;
    }
    return found;
}

/// Remove every entry whose key is one of `keys`.
pub noinline fn removeAll(event: *Event, keys: []const []const u8, failed_at: *usize) event_file.Error!void {
    if (event.first_attribute == null) return;
    var entries = Entries.of(event);
    errdefer failed_at.* = entries.failed_at;
    while (try entries.next()) |entry| {
        for (keys) |key| {
            if (!std.mem.eql(u8, entry.key, key)) continue;
            try event.patch(entry.span.start, entry.span.end, .attributes, "");
            break;
        }
    }
}

/// Set an attribute: in place of the last entry with its key, or where the key belongs in the order of keys.
pub noinline fn set(event: *Event, key: []const u8, value: []const u8, failed_at: *usize) event_file.Error!void {
    var last: ?wire.Span = null;
    var place: ?usize = null;
    var end: ?usize = null;
    var entries = Entries.of(event);
    errdefer failed_at.* = entries.failed_at;
    while (try entries.next()) |entry| {
        end = entry.span.end;
        if (place == null and std.mem.order(u8, entry.key, key) == .gt) place = entry.span.start;
        if (!std.mem.eql(u8, entry.key, key)) continue;
        if (last) |span| try event.patch(span.start, span.end, .attributes, "");
        last = entry.span;
    }
    var encoded = try Buffer.init(key.len + value.len + 32);
    try appendEntry(&encoded, key, value);
    const replacement = encoded.finish();
    if (last) |span| return event.patch(span.start, span.end, .attributes, replacement);
    const at = place orelse end orelse try event.placeOf(.attributes);
    try event.patch(at, at, .attributes, replacement);
}

/// Write one entry of the map; key and value are always written, even when they are empty, as protobuf does.
pub noinline fn appendEntry(out: *Buffer, key: []const u8, value: []const u8) event_file.Error!void {
    const key_len = 1 + varintLength(key.len) + key.len;
    const value_len = 1 + varintLength(value.len) + value.len;
    try out.varint(@backingInt(event_file.Field.attributes) << 3 | wire.bytes_type);
    try out.varint(key_len + value_len);
    try wire.appendBytes(out, 1, key);
    try wire.appendBytes(out, 2, value);
}

fn varintLength(value: usize) usize {
    var len: usize = 1;
    var rest = value;
    while (rest >= 0x80) : (rest >>= 7) len += 1;
    return len;
}
