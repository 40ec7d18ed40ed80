//! Read a configuration and refuse what is not understood, in the words every language uses (`../SEMANTICS.md`, 3).
//!
//! This runs once for each instance, so its functions are never inlined: that would only cost compile time.

const utf8 = @import("utf8.zig");
const host = @import("host.zig");
const memory = @import("memory.zig");
const msgpack = @import("msgpack.zig");
const Buffer = @import("buffer.zig").Buffer;

pub const Error = error{Refused} || memory.Error;

pub const max_list_entries = 64;
pub const max_name_bytes = 100;

/// Where a value stands, as messages name it: `rules[0].path`.
pub const Place = struct {
    parent: ?*const Place = null,
    key: []const u8 = "",
    index: ?usize = null,

    pub fn child(self: *const Place, key: []const u8) Place {
        return .{ .parent = self, .key = key };
    }

    pub fn entry(self: *const Place, index: usize) Place {
        return .{ .parent = self, .index = index };
    }

    fn write(self: *const Place, out: *Buffer) memory.Error!void {
        const parent = self.parent orelse return;
        try parent.write(out);
        if (self.index) |index| {
            try out.byte('[');
            try out.decimal(index);
            try out.byte(']');
        } else {
            if (parent.parent != null) try out.byte('.');
            try out.append(self.key);
        }
    }

    /// Log why the configuration is refused. `parts` are joined.
    pub noinline fn refuse(self: *const Place, parts: []const []const u8) Error {
        var text = try Buffer.init(256);
        try text.append("configuration: ");
        try self.write(&text);
        if (self.parent != null) try text.byte(' ');
        for (parts) |part| try text.append(part);
        host.log(.err, text.written());
        return error.Refused;
    }

    noinline fn refuseUnknown(self: *const Place) Error {
        var text = try Buffer.init(256);
        try text.append("configuration: unknown key ");
        try self.write(&text);
        host.log(.err, text.written());
        return error.Refused;
    }
};

/// Refuse a text that is empty, longer than 100 bytes or has control characters.
pub noinline fn checkName(text: []const u8, place: *const Place) Error![]const u8 {
    if (text.len == 0) return place.refuse(&.{"must not be empty"});
    if (text.len > max_name_bytes) return place.refuse(&.{"must have at most 100 bytes"});
    for (text) |byte| if (byte < 0x20) return place.refuse(&.{"has a control character"});
    return text;
}

/// A value and where it stands.
pub const Item = struct {
    value: msgpack.Value,
    place: *const Place,

    pub noinline fn string(self: Item) Error![]const u8 {
        const text = self.value.string() orelse return self.place.refuse(&.{"must be a string"});
        if (text.len == 0) return self.place.refuse(&.{"must not be empty"});
        return text;
    }

    /// A string of at most 100 bytes without control characters: paths, and names that become keys.
    pub noinline fn name(self: Item) Error![]const u8 {
        return checkName(try self.string(), self.place);
    }

    /// The index of one of a few words.
    pub noinline fn choice(self: Item, choices: []const []const u8) Error!usize {
        if (self.value.string()) |text| {
            for (choices, 0..) |word, index| if (utf8.same(word, text)) return index;
        }
        var words = try Buffer.init(128);
        for (choices, 0..) |word, index| {
            if (index > 0) try words.append(", ");
            try words.append(word);
        }
        return self.place.refuse(&.{ "must be one of ", words.written() });
    }

    /// A list of 1 to 64 entries.
    pub noinline fn list(self: Item) Error!List {
        if (self.value.kind() != .list) return self.place.refuse(&.{"must be a list"});
        const count = self.value.count();
        if (count < 1 or count > max_list_entries) return self.place.refuse(&.{"must have from 1 to 64 entries"});
        return .{ .place = self.place, .items = self.value.items(), .count = count };
    }

    /// A map that has no other keys than these.
    pub noinline fn map(self: Item, allowed: []const []const u8) Error!Map {
        if (self.value.kind() != .map) return self.place.refuse(&.{"must be a map"});
        var items = self.value.items();
        while (items.next()) |key| {
            _ = items.next();
            const text = key.string() orelse return self.place.refuse(&.{"has a key that is not a string"});
            for (allowed) |word| {
                if (utf8.same(word, text)) break;
            } else return (&self.place.child(text)).refuseUnknown();
        }
        return .{ .value = self.value, .place = self.place };
    }
};

pub const List = struct {
    place: *const Place,
    items: msgpack.Items,
    count: usize,
    index: usize = 0,
    entry_place: Place = .{},

    /// The next entry; its place is valid until the next call.
    pub noinline fn next(self: *List) ?Item {
        const value = self.items.next() orelse return null;
        self.entry_place = self.place.entry(self.index);
        self.index += 1;
        return .{ .value = value, .place = &self.entry_place };
    }
};

pub const Map = struct {
    value: msgpack.Value,
    place: *const Place,

    pub noinline fn get(self: Map, key: []const u8) ?msgpack.Value {
        var found: ?msgpack.Value = null;
        var items = self.value.items();
        while (items.next()) |word| {
            const value = items.next().?;
            if (utf8.same(word.string() orelse continue, key)) found = value;
        }
        return found;
    }

    pub fn has(self: Map, key: []const u8) bool {
        return self.get(key) != null;
    }

    /// A value that must be there. `place` is a variable of the caller, filled with where the value stands.
    pub noinline fn required(self: Map, key: []const u8, place: *Place) Error!Item {
        place.* = self.place.child(key);
        const value = self.get(key) orelse return place.refuse(&.{"is missing"});
        return .{ .value = value, .place = place };
    }

    pub noinline fn optional(self: Map, key: []const u8, place: *Place) ?Item {
        place.* = self.place.child(key);
        return if (self.get(key)) |value| .{ .value = value, .place = place } else null;
    }

    pub noinline fn string(self: Map, key: []const u8, default: ?[]const u8) Error![]const u8 {
        var place: Place = undefined;
        if (default) |text| if (!self.has(key)) return text;
        return (try self.required(key, &place)).string();
    }

    pub noinline fn name(self: Map, key: []const u8, default: ?[]const u8) Error![]const u8 {
        var place: Place = undefined;
        if (default) |text| if (!self.has(key)) return text;
        return (try self.required(key, &place)).name();
    }

    pub noinline fn choice(self: Map, key: []const u8, choices: []const []const u8, default: ?usize) Error!usize {
        var place: Place = undefined;
        if (default) |index| if (!self.has(key)) return index;
        return (try self.required(key, &place)).choice(choices);
    }

    pub noinline fn integer(self: Map, key: []const u8, low: u64, high: u64, default: ?u64) Error!u64 {
        var place: Place = undefined;
        if (default) |value| if (!self.has(key)) return value;
        const item = try self.required(key, &place);
        if (item.value.integer()) |value| {
            if (!value.is_negative and value.magnitude >= low and value.magnitude <= high) return value.magnitude;
        }
        var problem = try Buffer.init(64);
        try problem.append("must be an integer from ");
        try problem.decimal(low);
        try problem.append(" to ");
        try problem.decimal(high);
        return place.refuse(&.{problem.written()});
    }

    /// A list of strings that are not empty; none if the key is absent.
    pub noinline fn strings(self: Map, key: []const u8) Error![]const []const u8 {
        var place: Place = undefined;
        const item = self.optional(key, &place) orelse return &.{};
        var entries = try item.list();
        const texts = try memory.array([]const u8, entries.count);
        for (texts) |*text| text.* = try entries.next().?.string();
        return texts;
    }

    /// Refuse a key that another choice rules out.
    pub noinline fn refuseKey(self: Map, key: []const u8, problem: []const u8) Error {
        return (&self.place.child(key)).refuse(&.{problem});
    }
};
