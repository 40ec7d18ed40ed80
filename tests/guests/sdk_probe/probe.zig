//! Shows what the SDK does for a test: edits fields as the configuration says, and answers in each of the four ways.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

const Kind = enum { event, drop, both, fail, fields };

var kind: Kind = .event;
var edits: sdk.msgpack.Value = undefined;
var settings: ?sdk.msgpack.Value = null;
var removed: []const []const u8 = &.{};

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{ "answer", "edits", "attributes", "removed" });
    kind = @fromBackingInt(@intCast(try map.choice("answer", &.{ "event", "drop", "both", "fail", "fields" }, null)));
    var place: sdk.config.Place = undefined;
    const list = try map.required("edits", &place);
    var entries = try list.list();
    while (entries.next()) |entry| _ = try entry.map(&.{ "field", "bytes", "number" });
    edits = list.value;
    settings = map.get("attributes");
    removed = try map.strings("removed");
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    sdk.host.count("probe.events", 2);
    sdk.host.count("probe.events", sdk.host.counted("probe.events"));
    sdk.host.log(.warn, "seen");
    switch (kind) {
        .drop => return .drop,
        .fail => return context.fail(&.{"as asked"}),
        .fields => return context.fail(&.{try show(event, context)}),
        .event, .both => {},
    }
    var items = edits.items();
    while (items.next()) |value| try edit(event, .{ .value = value, .place = &.{} });
    try sdk.attributes.removeAll(event, removed, &context.failed_at);
    if (settings) |value| {
        var entries = value.items();
        while (entries.next()) |entry| try setAttribute(event, .{ .value = entry, .place = &.{} }, context);
    }
    if (kind == .event) return .keep;
    var both = try sdk.Buffer.init(event.bytes.len + event.encodedLength() + 16);
    try both.varint(event.bytes.len);
    try both.append(event.bytes);
    try both.varint(event.encodedLength());
    try event.encode(&both);
    return .{ .several = both.finish() };
}

fn edit(event: *sdk.Event, map: sdk.config.Map) sdk.Error!void {
    const field: sdk.Field = @fromBackingInt(@intCast(map.get("field").?.integer().?.magnitude));
    if (map.get("bytes")) |value| return event.setBytes(field, value.binary().?);
    if (map.get("number")) |value| return event.setVarint(field, value.integer().?.magnitude);
    try event.remove(field);
}

fn setAttribute(event: *sdk.Event, map: sdk.config.Map, context: *sdk.Context) sdk.Error!void {
    const key = map.get("key").?.string().?;
    try sdk.attributes.set(event, key, map.get("value").?.binary().?, &context.failed_at);
}

/// The scalar fields in words: what the SDK has read.
fn show(event: *const sdk.Event, context: *sdk.Context) sdk.Error![]const u8 {
    var text = try sdk.Buffer.init(64);
    try text.decimal(@backingInt(event.op()));
    for ([_]sdk.Field{ .ts, .envelope_version, .before_is_key_only }) |field| {
        try text.byte(' ');
        try text.decimal(try event.varintOf(field));
    }
    try text.byte(' ');
    try text.append(event.schema() orelse "-");
    try text.byte(' ');
    try text.append(event.table());
    try text.byte(' ');
    try text.append(try sdk.attributes.get(event, "k", &context.failed_at) orelse "-");
    return text.finish();
}
