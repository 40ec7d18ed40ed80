//! Dotted paths, and sets of them that are followed through a document together.

const std = @import("std");
const utf8 = @import("utf8.zig");
const config = @import("config.zig");
const json = @import("json.zig");
const memory = @import("memory.zig");

pub const max_paths = 64;

/// One bit for each path of a set.
pub const Bits = u64;

pub const Segment = union(enum) { any, key: []const u8 };

pub const Path = struct {
    segments: []const Segment,

    pub fn parse(item: config.Item) config.Error!Path {
        return parseText(try item.name(), item.place);
    }

    /// Split a text that has passed the checks of a name.
    pub noinline fn parseText(text: []const u8, place: *const config.Place) config.Error!Path {
        // Each segment but the last takes two bytes.
        const segments = try memory.array(Segment, text.len / 2 + 1);
        const unescaped = try memory.allocate(text.len);
        var count: usize = 0;
        var start: usize = 0;
        var len: usize = 0;
        var is_plain = true;
        var at: usize = 0;
        while (at <= text.len) : (at += 1) {
            if (at < text.len and text[at] != '.') {
                if (text[at] == '\\') {
                    at += 1;
                    is_plain = false;
                    if (at == text.len or utf8.indexOf(".*\\", text[at]) == null) {
                        return place.refuse(&.{"has a backslash before something else than \".\", \"*\" or \"\\\""});
                    }
                }
                unescaped[start + len] = text[at];
                len += 1;
                continue;
            }
            if (len == 0) return place.refuse(&.{"has an empty segment"});
            const key = unescaped[start..][0..len];
            segments[count] = if (is_plain and utf8.same(key, "*")) .any else .{ .key = key };
            count += 1;
            start += len;
            len = 0;
            is_plain = true;
        }
        return .{ .segments = segments[0..count] };
    }

    pub fn hasWildcard(self: Path) bool {
        for (self.segments) |segment| if (segment == .any) return true;
        return false;
    }

    pub fn equals(self: Path, other: Path) bool {
        if (self.segments.len != other.segments.len) return false;
        for (self.segments, other.segments) |a, b| {
            if (std.meta.activeTag(a) != std.meta.activeTag(b)) return false;
            if (a == .key and !utf8.same(a.key, b.key)) return false;
        }
        return true;
    }
};

/// Paths that go on from a container to some of its children.
pub const Fork = struct {
    set: *const Set,
    level: usize,
    /// Those that lead to every child, and those that lead to a member with the right key.
    any: Bits,
    named: Bits,
    /// A bit for each length that such a key may have. Most keys are of no such length and need no comparison.
    lengths: u32,

    /// Those of the paths that lead to this child.
    pub inline fn step(self: *const Fork, children: *const json.Children) Bits {
        if (!children.is_object) return self.any;
        const key = children.key;
        if (!key.escaped and self.lengths & lengthBit(key.raw.len) == 0) return self.any;
        return self.any | self.set.namedSteps(self.named, self.level, key.raw, key.escaped);
    }
};

/// The bit of a length; lengths that are 32 apart share one.
inline fn lengthBit(len: usize) u32 {
    return @as(u32, 1) << @truncate(len);
}

/// Whoever is shown the values that paths lead to: a pointer to anything with a method `found(bits, value)`, which is
/// called with the paths that end at the value. One walk serves all of them, so that it is compiled once.
pub const Visitor = struct {
    target: *anyopaque,
    found_by: *const fn (*anyopaque, Bits, json.Value) void,

    pub fn of(target: anytype) Visitor {
        const Target = @TypeOf(target);
        const shown = struct {
            fn found(pointer: *anyopaque, bits: Bits, value: json.Value) void {
                const visitor: Target = @ptrCast(@alignCast(pointer));
                visitor.found(bits, value);
            }
        };
        return .{ .target = target, .found_by = shown.found };
    }

    fn found(self: Visitor, bits: Bits, value: json.Value) void {
        self.found_by(self.target, bits, value);
    }
};

/// Up to 64 paths. While a document is walked, a set of bits says which of them lead on from here.
pub const Set = struct {
    paths: []const Path,
    /// By level: the paths that end there, and those whose next segment is a wildcard.
    ending: [levels]Bits = @splat(0),
    any: [levels]Bits = @splat(0),
    /// By level: a bit for each length of a key that a path names there.
    lengths: [levels]u32 = @splat(0),

    const levels = config.max_name_bytes + 2;

    pub noinline fn init(paths: []const Path) Set {
        var set = Set{ .paths = paths };
        for (paths, 0..) |path, index| {
            const bit = @as(Bits, 1) << @intCast(index);
            set.ending[path.segments.len] |= bit;
            for (path.segments, 0..) |segment, level| {
                switch (segment) {
                    .any => set.any[level] |= bit,
                    .key => |key| set.lengths[level] |= lengthBit(key.len),
                }
            }
        }
        return set;
    }

    pub fn all(self: *const Set) Bits {
        const count = self.paths.len;
        return if (count == max_paths) ~@as(Bits, 0) else (@as(Bits, 1) << @intCast(count)) - 1;
    }

    /// Those of the paths that have more segments than `level`.
    pub fn longer(self: *const Set, bits: Bits, level: usize) Bits {
        return bits & ~self.ending[level];
    }

    /// Those of the paths, all longer than `level`, that lead to this child.
    pub fn step(self: *const Set, bits: Bits, level: usize, children: *const json.Children) Bits {
        return self.fork(bits, level).step(children);
    }

    /// What there is to know of a level before its children are walked.
    pub inline fn fork(self: *const Set, bits: Bits, level: usize) Fork {
        // Documents may be deeper than any path.
        if (bits == 0) return .{ .set = self, .level = level, .any = 0, .named = 0, .lengths = 0 };
        const any = bits & self.any[level];
        const lengths = if (bits == any) 0 else self.lengths[level];
        return .{ .set = self, .level = level, .any = any, .named = bits & ~any, .lengths = lengths };
    }

    /// Those of the paths whose segment on this level is the key.
    noinline fn namedSteps(self: *const Set, bits: Bits, level: usize, raw: []const u8, escaped: bool) Bits {
        const key = json.String{ .raw = raw, .escaped = escaped };
        var found: Bits = 0;
        var named = bits;
        while (named != 0) : (named &= named - 1) {
            const index = @ctz(named);
            if (key.equals(self.paths[index].segments[level].key)) found |= named & (~named + 1);
        }
        return found;
    }

    /// Walk a whole document and show every value that a path leads to, in document order.
    pub fn select(self: *const Set, scanner: *json.Scanner, visitor: Visitor) json.Error!void {
        scanner.begin();
        try self.walk(scanner, self.all(), 0, &visitor);
        try scanner.finish();
    }

    fn walk(self: *const Set, scanner: *json.Scanner, bits: Bits, level: usize, visitor: *const Visitor) json.Error!void {
        const ended = bits & self.ending[level];
        const deeper = bits & ~ended;
        if (deeper == 0) {
            if (ended == 0) return scanner.skip();
            const value = try scanner.value();
            visitor.found(ended, value);
            return;
        }
        if (!scanner.atContainer()) {
            const value = try scanner.value();
            if (ended != 0) visitor.found(ended, value);
            return;
        }
        if (ended != 0) {
            // The value itself comes before what is in it: look at it as a whole, then go back.
            const at = scanner.at;
            const value = try scanner.value();
            visitor.found(ended, value);
            scanner.at = at;
        }
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            const led = self.step(deeper, level, &children);
            if (led == 0) try scanner.skip() else try self.walk(scanner, led, level + 1, visitor);
        }
    }
};
