//! Rewrite `table` by exact name, then by prefix, then by default.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

const Route = struct { match: []const u8, to: []const u8 };

var field: sdk.field.Field = undefined;
var paths: sdk.path.Set = .{ .paths = &.{} };
var routes: []Route = &.{};
var default: ?[]const u8 = null;

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{ "field", "routes", "default" });
    var place: sdk.config.Place = undefined;
    field = if (map.optional("field", &place)) |entry| try sdk.field.Field.parse(entry) else .{ .source = .table };
    const list = try sdk.memory.array(sdk.path.Path, 1);
    list[0] = field.path;
    paths = .init(list);
    var entries = try (try map.required("routes", &place)).list();
    routes = try sdk.memory.array(Route, entries.count);
    for (routes) |*route| {
        const entry = try entries.next().?.map(&.{ "match", "to" });
        route.match = try entry.string("match", null);
        route.to = try entry.string("to", null);
    }
    if (map.has("default")) default = try map.string("default", null);
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    const text = if (field.readsImages()) try lastString(event, context) else try field.plainText(event, context);
    var target = default;
    if (text) |name| {
        // An attribute's bytes may be no text, and then they cannot become a table's name.
        if (sdk.utf8.isValid(name)) target = try lookUp(name) orelse default;
    }
    if (target) |table| {
        if (!sdk.utf8.same(table, event.table())) try event.setBytes(.table, table);
    }
    return .keep;
}

fn lookUp(name: []const u8) sdk.memory.Error!?[]const u8 {
    for (routes) |route| {
        if (!sdk.pattern.isPrefix(route.match) and sdk.utf8.same(route.match, name)) return route.to;
    }
    for (routes) |route| {
        if (!sdk.pattern.isPrefix(route.match) or !sdk.pattern.matches(route.match, name)) continue;
        return try sdk.pattern.fill(route.to, name[route.match.len - 1 ..]);
    }
    return null;
}

fn lastString(event: *const sdk.Event, context: *sdk.Context) sdk.Error!?[]const u8 {
    var search = Search{ .wanted = field.image(event) };
    try sdk.field.selectImages(&paths, event, &search, context);
    const value = search.last orelse return null;
    return try value.valueText();
}

const Search = struct {
    wanted: sdk.Image,
    image: sdk.Image = .before,
    last: ?sdk.json.Value = null,

    pub fn begin(self: *Search, image: sdk.Image) void {
        self.image = image;
    }

    pub fn found(self: *Search, bits: sdk.path.Bits, value: sdk.json.Value) void {
        _ = bits;
        if (self.image == self.wanted and value.kind == .string) self.last = value;
    }
};
