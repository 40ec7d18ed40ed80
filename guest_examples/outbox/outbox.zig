//! A row of an outbox table becomes the domain event that it holds.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

const Value = sdk.json.Value;

/// The parts of an outbox row, in the order in which they are looked at.
const roles = [_][]const u8{ "id", "aggregate_type", "aggregate_id", "event_type", "payload" };
const default_columns = [_][]const u8{ "id", "aggregatetype", "aggregateid", "type", "payload" };
const payload_role = 4;

var table: [1][]const u8 = .{"outbox"};
var columns: [roles.len][]const u8 = default_columns;
var paths: sdk.path.Set = .{ .paths = &.{} };
var to: []const u8 = "*";

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&(.{"table"} ++ roles ++ .{"to"}));
    table[0] = try map.string("table", "outbox");
    const list = try sdk.memory.array(sdk.path.Path, roles.len);
    for (roles, default_columns, &columns, list) |role, default, *column, *path| {
        column.* = try map.string(role, default);
        const segments = try sdk.memory.array(sdk.path.Segment, 1);
        segments[0] = .{ .key = column.* };
        path.* = .{ .segments = segments };
    }
    paths = .init(list);
    to = try map.string("to", "*");
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    if (!sdk.pattern.matchesTable(&table, event.schema(), event.table())) return .keep;
    switch (event.op()) {
        .truncate, .schema_change => return .keep,
        .delete => return .drop, // clearing the outbox means nothing
        .insert, .read => {},
        else => return context.fail(&.{"an outbox row must be inserted, not changed"}),
    }
    if (event.after() == null) return context.fail(&.{"the outbox row has no after image"});
    var row = Row{};
    try sdk.field.selectImages(&paths, event, &row, context);
    var texts: [payload_role][]const u8 = undefined;
    for (&texts, 0..) |*text, role| text.* = try row.text(role, context);
    const payload = try row.payload(context);
    try become(event, texts, payload, context);
    return .keep;
}

fn become(event: *sdk.Event, texts: [payload_role][]const u8, payload: []const u8, context: *sdk.Context) sdk.Error!void {
    try event.setVarint(.op, @backingInt(sdk.Operation.insert));
    try event.remove(.before);
    try event.setBytes(.after, payload);
    try event.setBytes(.table, try sdk.pattern.fill(to, texts[1]));
    try event.remove(.primary_key);
    try event.remove(.before_is_key_only);
    try sdk.attributes.set(event, "outbox.aggregate_id", texts[2], &context.failed_at);
    try sdk.attributes.set(event, "outbox.event_type", texts[3], &context.failed_at);
    try sdk.attributes.set(event, "outbox.id", texts[0], &context.failed_at);
}

/// The columns of the `after` image; the last of duplicate keys counts.
const Row = struct {
    image: sdk.Image = .before,
    values: [roles.len]?Value = @splat(null),

    pub fn begin(self: *Row, image: sdk.Image) void {
        self.image = image;
    }

    pub fn found(self: *Row, bits: sdk.path.Bits, value: Value) void {
        if (self.image != .after) return;
        var rest = bits;
        while (rest != 0) : (rest &= rest - 1) self.values[@ctz(rest)] = value;
    }

    fn text(self: *const Row, role: usize, context: *sdk.Context) sdk.Error![]const u8 {
        const value = self.values[role] orelse Value{ .kind = .null, .text = "null" };
        switch (value.kind) {
            .string, .number => return value.valueText(),
            .null => return context.fail(&.{ "the outbox row has no ", columns[role] }),
            else => return context.fail(&.{ columns[role], " must be a string or a number" }),
        }
    }

    fn payload(self: *const Row, context: *sdk.Context) sdk.Error![]const u8 {
        const column = columns[payload_role];
        const value = self.values[payload_role] orelse return context.fail(&.{ "the outbox row has no ", column });
        if (value.kind != .string) return value.text;
        const document = try value.valueText();
        try context.checkJson(document, column);
        return document;
    }
};
