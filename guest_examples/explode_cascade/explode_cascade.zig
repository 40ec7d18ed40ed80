//! What a change did to other entities becomes events of their own.

const std = @import("std");
const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

const Value = sdk.json.Value;

const cascade = "cdc.cascade";
const Kind = enum { updated, deleted };

/// The name of the key column, and the beginning of an image that holds it: `{"id":`.
var key: []const u8 = "";
var image_start: []const u8 = "";

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{"key"});
    key = try map.name("key", "id");
    var text = try sdk.Buffer.init(64);
    try text.byte('{');
    try sdk.json_write.string(&text, key);
    try text.byte(':');
    image_start = text.finish();
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    const text = try sdk.attributes.get(event, cascade, &context.failed_at) orelse return .keep;
    try context.checkJson(text, cascade);
    var document = Document{ .text = text };
    document.read() catch |problem| switch (problem) {
        error.OutOfMemory => return error.OutOfMemory,
        // The text has just been checked.
        error.NotJson, error.TooDeep => unreachable,
    };
    if (!document.is_object) return context.fail(&.{ cascade, " must be an object" });
    var entries = Entries{ .event = event, .context = context, .out = try .init(event.bytes.len * 2) };
    try entries.readAncestry();
    // The event itself comes first, but whether it changes is known only when the entries have been read.
    inline for (.{ Kind.updated, Kind.deleted }) |kind| try entries.readArray(document.last(kind), kind);
    if (entries.count == 0) return .keep;
    try sdk.attributes.set(event, cascade, document.emptied.finish(), &context.failed_at);
    var out = try sdk.Buffer.init(event.encodedLength() + entries.out.len + 16);
    try out.varint(event.encodedLength());
    try event.encode(&out);
    try out.append(entries.out.written());
    return .{ .several = out.finish() };
}

/// The attribute's document: its two arrays, and its text with the arrays emptied.
const Document = struct {
    text: []const u8,
    is_object: bool = false,
    updated: ?Value = null,
    deleted: ?Value = null,
    emptied: sdk.Buffer = undefined,

    fn last(self: *const Document, kind: Kind) ?Value {
        return if (kind == .updated) self.updated else self.deleted;
    }

    fn read(self: *Document) (sdk.json.Error || sdk.memory.Error)!void {
        var scanner = sdk.json.Scanner{ .text = self.text };
        scanner.begin();
        self.is_object = scanner.peek() == '{';
        if (!self.is_object) return;
        self.emptied = try .init(self.text.len);
        var copied: usize = 0;
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            const is_updated = children.key.equals("updated");
            const is_deleted = children.key.equals("deleted");
            const start = scanner.at;
            const value = try scanner.value();
            if (is_updated) self.updated = value;
            if (is_deleted) self.deleted = value;
            if ((is_updated or is_deleted) and value.kind == .array and !isEmpty(value)) {
                try self.emptied.append(self.text[copied..start]);
                try self.emptied.append("[]");
                copied = scanner.at;
            }
        }
        try self.emptied.append(self.text[copied..]);
    }
};

fn isEmpty(array: Value) bool {
    return std.mem.trim(u8, array.text[1 .. array.text.len - 1], " \t\n\r").len == 0;
}

/// One entity that changed along with the event's own.
const Entry = struct {
    entity_type: ?Value = null,
    entity_id: ?Value = null,
    reason: ?Value = null,
    changes: ?Value = null,

    fn read(scanner: *sdk.json.Scanner) sdk.json.Error!Entry {
        var entry = Entry{};
        if (scanner.peek() != '{') {
            try scanner.skip();
            return entry;
        }
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            const member: ?*?Value = inline for (.{ "entity_type", "entity_id", "reason", "changes" }) |name| {
                if (children.key.equals(name)) break &@field(entry, name);
            } else null;
            const value = try scanner.value();
            if (member) |place| place.* = value;
        }
        return entry;
    }
};

fn stringOf(value: ?Value) sdk.memory.Error!?[]const u8 {
    const found = value orelse return null;
    return if (found.kind == .string) try found.valueText() else null;
}

/// Reads the entries and writes an event for each.
const Entries = struct {
    event: *const sdk.Event,
    context: *sdk.Context,
    out: sdk.Buffer,
    count: usize = 0,
    tenant: ?[]const u8 = null,
    event_id: ?[]const u8 = null,

    fn readAncestry(self: *Entries) sdk.Error!void {
        self.tenant = try sdk.attributes.get(self.event, "cdc.entity.tenant_id", &self.context.failed_at);
        self.event_id = try sdk.attributes.get(self.event, "cdc.event_id", &self.context.failed_at);
    }

    fn readArray(self: *Entries, array: ?Value, kind: Kind) sdk.Error!void {
        const value = array orelse return;
        if (value.kind == .null) return;
        if (value.kind != .array) return self.context.fail(&.{ cascade, ": ", @tagName(kind), " must be an array" });
        var scanner = sdk.json.Scanner{ .text = value.text };
        var children = scanner.enter() catch unreachable;
        var index: usize = 0;
        while (scanner.next(&children) catch unreachable) : (index += 1) {
            const entry = Entry.read(&scanner) catch unreachable;
            const entity_type = try stringOf(entry.entity_type) orelse "";
            const entity_id = try stringOf(entry.entity_id);
            if (entity_type.len == 0 or entity_id == null) {
                var number = try sdk.Buffer.init(16);
                try number.decimal(index);
                const place = &.{ cascade, ": ", @tagName(kind), "[", number.written(), "] needs entity_type and entity_id" };
                return self.context.fail(place);
            }
            self.count += 1;
            var message = try sdk.Buffer.init(256);
            try self.write(&message, kind, entity_type, entity_id.?);
            try self.writeAttributes(&message, kind, entry, entity_id.?);
            try self.out.varint(message.len);
            try self.out.append(message.written());
        }
    }

    fn write(self: *Entries, out: *sdk.Buffer, kind: Kind, entity_type: []const u8, entity_id: []const u8) sdk.Error!void {
        const event = self.event;
        var image = try sdk.Buffer.init(image_start.len + entity_id.len + 16);
        try image.append(image_start);
        try sdk.json_write.string(&image, entity_id);
        try image.byte('}');
        try sdk.wire.appendBytes(out, 1, image.written());
        try sdk.wire.appendVarint(out, 3, if (kind == .updated) 2 else 3);
        try self.copyAll(out, .source);
        const ts = try event.varintOf(.ts);
        if (ts != 0) try sdk.wire.appendVarint(out, 5, ts);
        if (event.schema()) |schema| try sdk.wire.appendBytes(out, 6, schema);
        try sdk.wire.appendBytes(out, 7, entity_type);
        try sdk.wire.appendBytes(out, 8, key);
        try self.copyAll(out, .transaction);
        const version: u32 = @truncate(try event.varintOf(.envelope_version));
        if (version != 0) try sdk.wire.appendVarint(out, 11, version);
        try sdk.wire.appendVarint(out, 12, 1);
    }

    fn writeAttributes(self: *Entries, out: *sdk.Buffer, kind: Kind, entry: Entry, entity_id: []const u8) sdk.Error!void {
        const append = sdk.attributes.appendEntry;
        if (try stringOf(entry.reason)) |reason| try append(out, "cascade.reason", reason);
        try append(out, "cdc.entity.entity_id", entity_id);
        if (self.tenant) |tenant| try append(out, "cdc.entity.tenant_id", tenant);
        if (self.event_id) |id| {
            var numbered = try sdk.Buffer.init(id.len + 16);
            try numbered.append(id);
            try numbered.byte('/');
            try numbered.decimal(self.count);
            try append(out, "cdc.event_id", numbered.written());
        }
        if (entry.changes) |changes| {
            if (kind == .updated and changes.kind == .array) {
                try append(out, "cdc.operation.changed_fields", changes.text);
            }
        }
        try append(out, "cdc.operation.trigger", if (kind == .updated) "cascade_update" else "cascade_delete");
    }

    /// Copy every occurrence of a nested message: whoever reads it merges them, as it would have in the event.
    fn copyAll(self: *Entries, out: *sdk.Buffer, field: sdk.Field) sdk.Error!void {
        var all = self.event.occurrences(field);
        while (try all.next()) |span| try out.append(self.event.bytes[span.start..span.end]);
    }
};
