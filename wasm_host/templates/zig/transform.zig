//! Keeps the events of one table and drops all others. Change `transform` into what you need.

const std = @import("std");
const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

var table: []const u8 = "";

/// Called once, before the first event. What it refuses, the host shows to whoever wrote the configuration.
pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{"table"});
    table = try map.string("table", null);
}

/// Called for each event. The answer may depend on the event and the configuration, on nothing else.
pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    _ = context;
    return if (std.mem.eql(u8, event.table(), table)) .keep else .drop;
}
