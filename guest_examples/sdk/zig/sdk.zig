//! Everything a guest in Zig needs. A guest is a file with
//!
//!     const sdk = @import("sdk");
//!     pub const panic = sdk.panic;
//!     comptime { sdk.exportGuest(@This()); }
//!
//!     pub fn configure(config: sdk.config.Item) sdk.config.Error!void { ... }
//!     pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer { ... }
//!
//! A guest that does not look into events has `transformBytes(bytes: []const u8) sdk.Error!sdk.Answer` instead.
//! See README.md.

pub const attributes = @import("attributes.zig");
pub const config = @import("config.zig");
pub const decimal = @import("decimal.zig");
pub const field = @import("field.zig");
pub const host = @import("host.zig");
pub const json = @import("json.zig");
pub const json_write = @import("json_write.zig");
pub const memory = @import("memory.zig");
pub const msgpack = @import("msgpack.zig");
pub const pattern = @import("pattern.zig");
pub const path = @import("path.zig");
pub const scalar = @import("scalar.zig");
pub const sha256 = @import("sha256.zig");
pub const utf8 = @import("utf8.zig");
pub const wire = @import("wire.zig");

pub const Buffer = @import("buffer.zig").Buffer;
pub const Context = @import("context.zig").Context;
pub const Error = @import("context.zig").Error;
pub const ImageEdit = @import("image_edit.zig").ImageEdit;
const event_file = @import("event.zig");
pub const Event = event_file.Event;
pub const Field = event_file.Field;
pub const Image = event_file.Image;
pub const Operation = event_file.Operation;

/// What becomes of an event. A failure is said with `context.fail(...)`.
pub const Answer = union(enum) {
    /// The event, with whatever was changed in it.
    keep,
    drop,
    /// Several events: each a varint length and the message (see `Buffer.varint`).
    several: []const u8,
};

/// A safety check that fails ends the call; the message becomes part of the event's failure.
pub const panic = @import("panic.zig");

/// Define the exports of the contract for a guest.
pub fn exportGuest(comptime Guest: type) void {
    const exports = struct {
        /// The one event under way.
        var event: Event = undefined;

        fn version() callconv(.c) i32 {
            return 1;
        }

        fn alloc(size: usize) callconv(.c) usize {
            return memory.hostAllocate(size);
        }

        fn dealloc(block: usize, size: usize) callconv(.c) void {
            _ = block;
            _ = size;
            memory.hostFree();
        }

        fn init(block: [*]const u8, size: usize) callconv(.c) i32 {
            configure(block[0..size]) catch |problem| {
                if (problem == error.OutOfMemory) host.log(.err, "configuration: out of memory");
                return 1;
            };
            memory.keepAll();
            return 0;
        }

        fn configure(bytes: []const u8) config.Error!void {
            // The host takes its block back after the call, while rules point into the text.
            const kept = try memory.duplicate(bytes);
            const root = config.Place{};
            const value = msgpack.parse(kept) orelse return root.refuse(&.{"not valid MessagePack"});
            return Guest.configure(.{ .value = value, .place = &root });
        }

        fn transform(block: [*]const u8, size: usize) callconv(.c) u64 {
            var context = Context{};
            return run(block[0..size], &context) catch |problem| fail(context.explain(problem) catch outOfMemory());
        }

        fn outOfMemory() noreturn {
            @branchHint(.cold);
            // A trap, not a failed event: the host runs the event again on a fresh instance, which may have the room.
            host.log(.err, "out of memory");
            @trap();
        }

        fn run(bytes: []const u8, context: *Context) Error!u64 {
            event.reset(bytes);
            switch (try ask(&event, context)) {
                .drop => return 0,
                .several => |messages| return pack(1, messages),
                .keep => {
                    if (!event.isChanged()) return @as(u64, @intFromPtr(bytes.ptr)) << 32 | bytes.len;
                    var out = try Buffer.init(event.encodedLength() + Buffer.overrun);
                    try event.encode(&out);
                    return pack(0, out.written());
                },
            }
        }

        inline fn ask(current: *Event, context: *Context) Error!Answer {
            if (@hasDecl(Guest, "transformBytes")) return Guest.transformBytes(current.bytes);
            try current.parse(&context.failed_at);
            try current.keepLastImages();
            return Guest.transform(current, context);
        }

        fn fail(message: []const u8) u64 {
            return pack(2, message);
        }

        fn pack(kind: u64, bytes: []const u8) u64 {
            memory.handOver();
            return kind << 62 | @as(u64, @intFromPtr(bytes.ptr)) << 32 | bytes.len;
        }
    };
    @export(&exports.version, .{ .name = "wasm_host_abi_version" });
    @export(&exports.alloc, .{ .name = "alloc" });
    @export(&exports.dealloc, .{ .name = "dealloc" });
    @export(&exports.init, .{ .name = "init" });
    @export(&exports.transform, .{ .name = "transform" });
}
