//! The event's attributes (field 1000): read, remove and set entries of the map.

const wire = @import("wire.zig");
const event_file = @import("event.zig");
const Buffer = @import("buffer.zig").Buffer;
const utf8 = @import("utf8.zig");
const Event = event_file.Event;

const number = @backingInt(event_file.Field.attributes);

/// One entry of the map, and where it stands in the event.
const Entry = struct { start: usize, end: usize, key: []const u8 = "", value: []const u8 = "" };

/// Walks the entries; `failed_at` is the offset of the entry that could not be read.
pub const Entries = struct {
    reader: wire.Reader,
    failed_at: usize = 0,

    pub fn of(event: *const Event) Entries {
        return .{ .reader = .{ .bytes = event.bytes, .at = event.first_attribute orelse event.bytes.len } };
    }

    pub noinline fn next(self: *Entries) wire.Error!?Entry {
        while (try self.reader.next()) |span| {
            if (span.number != number or span.wire_type != wire.bytes_type) continue;
            self.failed_at = span.start;
            var entry = Entry{ .start = span.start, .end = span.end };
            const bytes = self.reader.bytes[span.value..span.end];
            var reader = wire.Reader{ .bytes = bytes };
            while (try reader.next()) |part| {
                if (part.wire_type != wire.bytes_type) continue;
                if (part.number == 1) entry.key = bytes[part.value..part.end];
                if (part.number == 2) entry.value = bytes[part.value..part.end];
            }
            return entry;
        }
        return null;
    }
};

/// The value of an attribute; of several entries the last one counts.
pub noinline fn get(event: *const Event, key: []const u8, failed_at: *usize) wire.Error!?[]const u8 {
    if (event.first_attribute == null) return null;
    var entries = Entries.of(event);
    errdefer failed_at.* = entries.failed_at;
    var found: ?[]const u8 = null;
    while (try entries.next()) |entry| {
        if (utf8.same(entry.key, key)) found = entry.value;
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
            if (!utf8.same(entry.key, key)) continue;
            // What was set stays.
            if (event.attributePatch(entry.start, entry.end, key) == null) {
                try event.patchAttribute(entry.start, entry.end, key, "");
            }
            break;
        }
    }
}

/// Set an attribute: in place of the last entry with its key, or where the key belongs in the order of keys. Key and value
/// must live until the answer is given.
pub noinline fn set(event: *Event, key: []const u8, value: []const u8, failed_at: *usize) event_file.Error!void {
    var last: ?Entry = null;
    var place: ?usize = null;
    var end: ?usize = null;
    var entries = Entries.of(event);
    errdefer failed_at.* = entries.failed_at;
    while (try entries.next()) |entry| {
        end = entry.end;
        if (place == null and utf8.order(entry.key, key) == .gt) place = entry.start;
        if (!utf8.same(entry.key, key)) continue;
        if (last) |old| try event.patchAttribute(old.start, old.end, key, "");
        last = entry;
    }
    var encoded = try Buffer.init(key.len + value.len + 32);
    try appendEntry(&encoded, key, value);
    const replacement = encoded.finish();
    if (last) |old| return event.patchAttribute(old.start, old.end, key, replacement);
    const at = place orelse end orelse try event.placeOf(.attributes);
    try event.patchAttribute(at, at, key, replacement);
}

/// Write one entry of the map; key and value are always written, even when they are empty, as protobuf does.
pub noinline fn appendEntry(out: *Buffer, key: []const u8, value: []const u8) event_file.Error!void {
    const key_len = 1 + varintLength(key.len) + key.len;
    const value_len = 1 + varintLength(value.len) + value.len;
    try out.varint(number << 3 | wire.bytes_type);
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
