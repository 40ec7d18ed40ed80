//! Hands every event back as it came.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    _ = try item.map(&.{});
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    _ = event;
    _ = context;
    return .keep;
}
