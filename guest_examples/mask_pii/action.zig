//! What may be done to a value that is to be hidden.

const std = @import("std");
const sdk = @import("sdk");

const Sha256 = std.crypto.hash.sha2.Sha256;

pub const names = [_][]const u8{ "redact", "null", "truncate", "hash", "hmac", "keep_last", "keep" };

pub const Action = union(enum) {
    /// The marker as a JSON string.
    redact: []const u8,
    null,
    truncate: usize,
    hash,
    hmac,
    keep_last: usize,
    keep,

    /// Whether a value does not stay as it is.
    pub fn changes(self: Action, value: sdk.json.Value) bool {
        if (value.kind == .null) return false; // there is nothing to hide
        return switch (self) {
            .keep => false,
            .truncate => |count| value.text.len > count and value.characters().count() > count,
            else => true,
        };
    }

    /// The new JSON text, where it is the same for every value that changes.
    pub fn constant(self: Action) ?[]const u8 {
        return switch (self) {
            .redact => |marker| marker,
            .null => "null",
            else => null,
        };
    }

    /// Write the new JSON text of a value that changes, where it depends on the value.
    pub noinline fn apply(self: Action, value: sdk.json.Value, out: *sdk.Buffer) sdk.memory.Error!void {
        switch (self) {
            .keep, .redact, .null => {},
            .truncate => |count| try truncate(value, count, out),
            .keep_last => |count| try keepLast(value, count, out),
            .hash => {
                var state = Sha256.init(.{});
                update(&state, value);
                try hex(&state, out);
            },
            .hmac => {
                var state = keyed.inner;
                update(&state, value);
                var digest: [Sha256.digest_length]u8 = undefined;
                state.final(&digest);
                state = keyed.outer;
                state.update(&digest);
                try hex(&state, out);
            },
        }
    }
};

/// The two hashes of HMAC after their first block, which depends on the key alone.
var keyed: struct { inner: Sha256, outer: Sha256 } = undefined;

pub fn setKey(key: []const u8) void {
    var block: [Sha256.block_length]u8 = @splat(0);
    if (key.len > block.len) {
        Sha256.hash(key, block[0..Sha256.digest_length], .{});
    } else {
        @memcpy(block[0..key.len], key);
    }
    keyed.inner = Sha256.init(.{});
    keyed.outer = Sha256.init(.{});
    for (&block) |*byte| byte.* ^= 0x36;
    keyed.inner.update(&block);
    for (&block) |*byte| byte.* ^= 0x36 ^ 0x5c;
    keyed.outer.update(&block);
}

fn update(state: *Sha256, value: sdk.json.Value) void {
    if (value.plain()) |text| return state.update(text);
    var characters = value.characters();
    while (characters.next()) |char| state.update(char);
}

fn hex(state: *Sha256, out: *sdk.Buffer) sdk.memory.Error!void {
    var digest: [Sha256.digest_length]u8 = undefined;
    state.final(&digest);
    var text: [2 + 2 * digest.len]u8 = undefined;
    text[0] = '"';
    text[text.len - 1] = '"';
    for (digest, 0..) |byte, index| {
        text[1 + 2 * index] = digits[byte >> 4];
        text[2 + 2 * index] = digits[byte & 15];
    }
    try out.append(&text);
}

const digits = "0123456789abcdef";

fn truncate(value: sdk.json.Value, count: usize, out: *sdk.Buffer) sdk.memory.Error!void {
    try out.byte('"');
    var characters = value.characters();
    for (0..count) |_| try sdk.json_write.escaped(out, characters.next().?);
    try out.byte('"');
}

fn keepLast(value: sdk.json.Value, count: usize, out: *sdk.Buffer) sdk.memory.Error!void {
    const total = value.characters().count();
    // A value that is not longer than what may be seen is hidden as a whole.
    const hidden = if (total > count) total - count else total;
    try out.byte('"');
    try out.repeat('*', hidden);
    var characters = value.characters();
    for (0..hidden) |_| _ = characters.next();
    while (characters.next()) |char| try sdk.json_write.escaped(out, char);
    try out.byte('"');
}
