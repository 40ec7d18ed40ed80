//! What may be done to a value that is to be hidden.

const sdk = @import("sdk");
const sha256 = sdk.sha256;

pub const Kind = enum { redact, null, truncate, hash, hmac, keep_last, keep };

pub const names = [_][]const u8{ "redact", "null", "truncate", "hash", "hmac", "keep_last", "keep" };

pub const Action = struct {
    kind: Kind,
    /// The new JSON text, where it is the same for every value; empty where it is not.
    text: []const u8 = "",
    /// Characters to keep, for truncate and keep_last.
    count: usize = 0,

    /// Whether a value does not stay as it is.
    pub fn changes(self: *const Action, value: sdk.json.Value) bool {
        if (value.kind == .null) return false; // there is nothing to hide
        if (self.kind == .truncate) return value.text.len > self.count and value.characters().count() > self.count;
        return self.kind != .keep;
    }

    /// Write the new JSON text of a value that changes, where it depends on the value.
    pub noinline fn apply(self: *const Action, value: sdk.json.Value, out: *sdk.Buffer) sdk.memory.Error!void {
        try out.byte('"');
        switch (self.kind) {
            .truncate => try writeCharacters(value, 0, self.count, out),
            .keep_last => {
                const total = value.characters().count();
                // A value that is not longer than what may be seen is hidden as a whole.
                const hidden = if (total > self.count) total - self.count else total;
                try out.repeat('*', hidden);
                try writeCharacters(value, hidden, total, out);
            },
            .hash => {
                sha256.begin();
                update(value);
                try hex(out);
            },
            .hmac => {
                sha256.beginFrom(&keyed.inner);
                update(value);
                const digest = sha256.finish().*;
                sha256.beginFrom(&keyed.outer);
                sha256.update(&digest);
                try hex(out);
            },
            .redact, .null, .keep => {},
        }
        try out.byte('"');
    }
};

/// The two hashes of HMAC after their first block, which depends on the key alone.
var keyed: struct { inner: sha256.State, outer: sha256.State } = undefined;

pub fn setKey(key: []const u8) void {
    var short = key;
    if (key.len > sha256.block_length) {
        sha256.begin();
        sha256.update(key);
        short = sha256.finish();
    }
    var block: [sha256.block_length]u8 = @splat(0);
    @memcpy(block[0..short.len], short);
    keyed.inner = afterBlock(&block, 0x36);
    keyed.outer = afterBlock(&block, 0x5c);
}

noinline fn afterBlock(key: *const [sha256.block_length]u8, pad: u8) sha256.State {
    var block = key.*;
    for (&block) |*byte| byte.* ^= pad;
    sha256.begin();
    sha256.update(&block);
    return sha256.save();
}

noinline fn update(value: sdk.json.Value) void {
    if (value.plain()) |text| return sha256.update(text);
    var characters = value.characters();
    while (characters.next()) |char| sha256.update(char);
}

noinline fn hex(out: *sdk.Buffer) sdk.memory.Error!void {
    var text: [2 * sha256.digest_length]u8 align(16) = undefined;
    sha256.hex(sha256.finish(), &text);
    try out.append(&text);
}

/// Write some characters of the value text, from the first of them up to but without the last.
noinline fn writeCharacters(value: sdk.json.Value, first: usize, last: usize, out: *sdk.Buffer) sdk.memory.Error!void {
    var characters = value.characters();
    for (0..last) |index| {
        const char = characters.next().?;
        if (index >= first) try sdk.json_write.escaped(out, char);
    }
}
