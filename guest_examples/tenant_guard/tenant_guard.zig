//! Let no event of another tenant pass.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

var tenant: []const u8 = "";
var field: sdk.field.Field = undefined;
var paths: sdk.path.Set = .{ .paths = &.{} };
var is_failing = false;

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{ "tenant", "field", "on_mismatch" });
    tenant = try map.string("tenant", null);
    var place: sdk.config.Place = undefined;
    field = if (map.optional("field", &place)) |entry|
        try sdk.field.Field.parse(entry)
    else
        .{ .source = .attribute, .key = "cdc.entity.tenant_id" };
    const list = try sdk.memory.array(sdk.path.Path, 1);
    list[0] = field.path;
    paths = .init(list);
    is_failing = try map.choice("on_mismatch", &.{ "drop", "fail" }, 0) == 1;
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    // A row that moves from one tenant to another has both in its images: a row's path looks into both.
    var check = Check{ .only = if (field.source == .row) null else field.image(event) };
    if (field.readsImages()) {
        try sdk.field.selectImages(&paths, event, &check, context);
    } else if (try field.plainText(event, context)) |text| {
        check.is_found = true;
        check.is_foreign = !sdk.utf8.same(text, tenant);
    }
    if (check.is_found and !check.is_foreign) return .keep;
    if (!is_failing) return .drop;
    return context.fail(&.{if (check.is_found) "the event is of another tenant" else "the event has no tenant"});
}

const Check = struct {
    /// The one image that counts, if not both do.
    only: ?sdk.Image,
    image: sdk.Image = .before,
    is_found: bool = false,
    is_foreign: bool = false,

    pub fn begin(self: *Check, image: sdk.Image) void {
        self.image = image;
    }

    pub fn found(self: *Check, bits: sdk.path.Bits, value: sdk.json.Value) void {
        _ = bits;
        if (self.only) |image| if (image != self.image) return;
        self.is_found = true;
        const is_ours = switch (value.kind) {
            .string => value.string().equals(tenant),
            .number => sdk.utf8.same(value.text, tenant),
            else => false,
        };
        if (!is_ours) self.is_foreign = true;
    }
};
