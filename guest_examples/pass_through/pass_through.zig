//! Hands every event back as it came.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    _ = try item.map(&.{});
}

pub fn transformBytes(bytes: []const u8) sdk.Error!sdk.Answer {
    _ = bytes;
    return .keep;
}
