//! Keep the events that a subscription asks for.

const sdk = @import("sdk");
const changes = @import("changes.zig");
const Condition = @import("condition.zig").Condition;

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

const operation_names = [_][]const u8{ "INSERT", "CREATE", "UPDATE", "DELETE", "READ", "SCHEMA_CHANGE", "TRUNCATE" };
const operation_numbers = [_]u6{ 1, 1, 2, 3, 4, 5, 6 };
const trigger = "cdc.operation.trigger";

/// Operations as a set of bits; 0 means that none were given.
var operations: u64 = 0;
var excluded_operations: u64 = 0;
var entities: []const []const u8 = &.{};
var excluded_entities: []const []const u8 = &.{};
var tenants: []const []const u8 = &.{};
var tenant_field: sdk.field.Field = undefined;
var tenant_path: sdk.path.Set = .{ .paths = &.{} };
var triggers: []const []const u8 = &.{};
var changed_columns: ?changes.Columns = null;
var where: ?Condition = null;

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{
        "operations",   "exclude_operations", "entities",       "exclude_entities", "tenants",
        "tenant_field", "triggers",           "changed_fields", "where",
    });
    operations = try readOperations(map, "operations");
    excluded_operations = try readOperations(map, "exclude_operations");
    entities = try map.strings("entities");
    excluded_entities = try map.strings("exclude_entities");
    tenants = try map.strings("tenants");
    var place: sdk.config.Place = undefined;
    tenant_field = if (map.optional("tenant_field", &place)) |entry|
        try sdk.field.Field.parse(entry)
    else
        .{ .source = .attribute, .key = "cdc.entity.tenant_id" };
    const paths = try sdk.memory.array(sdk.path.Path, 1);
    paths[0] = tenant_field.path;
    tenant_path = .init(paths);
    triggers = try map.strings("triggers");
    const columns = try map.strings("changed_fields");
    if (columns.len != 0) changed_columns = try changes.Columns.init(columns);
    if (map.optional("where", &place)) |entry| where = try Condition.parse(entry);
}

fn readOperations(map: sdk.config.Map, key: []const u8) sdk.config.Error!u64 {
    var place: sdk.config.Place = undefined;
    const item = map.optional(key, &place) orelse return 0;
    var list = try item.list();
    var bits: u64 = 0;
    while (list.next()) |entry| {
        bits |= @as(u64, 1) << operation_numbers[try entry.choice(&operation_names)];
    }
    return bits;
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    const op = @backingInt(event.op());
    const bit: u64 = if (op < 64) @as(u64, 1) << @intCast(op) else 0;
    // These two have no row to look at, and losing one would corrupt a copy of the table.
    const is_structural = event.op() == .truncate or event.op() == .schema_change;
    if (excluded_operations & bit != 0) return .drop;
    if (operations != 0 and operations & bit == 0 and !is_structural) return .drop;
    const schema = event.schema();
    const table = event.table();
    if (entities.len != 0 and !sdk.pattern.matchesTable(entities, schema, table)) return .drop;
    if (sdk.pattern.matchesTable(excluded_entities, schema, table)) return .drop;
    if (is_structural) return .keep;
    if (tenants.len != 0 and !try isOfTenant(event, context)) return .drop;
    if (triggers.len != 0) {
        const name = try sdk.attributes.get(event, trigger, &context.failed_at) orelse return .drop;
        if (!sdk.pattern.matchesAny(triggers, name)) return .drop;
    }
    if (changed_columns) |*columns| if (!try columns.anyChanged(event, context)) return .drop;
    if (where) |*condition| if (!try condition.holds(event, context)) return .drop;
    return .keep;
}

fn isOfTenant(event: *const sdk.Event, context: *sdk.Context) sdk.Error!bool {
    if (!tenant_field.readsImages()) {
        const name = try tenant_field.plainText(event, context) orelse return false;
        for (tenants) |tenant| if (sdk.utf8.same(tenant, name)) return true;
        return false;
    }
    var search = TenantSearch{ .wanted = tenant_field.image(event) };
    try sdk.field.selectImages(&tenant_path, event, &search, context);
    return search.is_found;
}

const TenantSearch = struct {
    wanted: sdk.Image,
    image: sdk.Image = .before,
    is_found: bool = false,

    pub fn begin(self: *TenantSearch, image: sdk.Image) void {
        self.image = image;
    }

    pub fn found(self: *TenantSearch, bits: sdk.path.Bits, value: sdk.json.Value) void {
        _ = bits;
        if (self.image != self.wanted or value.kind != .string) return;
        for (tenants) |tenant| {
            if (value.string().equals(tenant)) self.is_found = true;
        }
    }
};
