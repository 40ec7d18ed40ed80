//! Rename, copy, set and remove members of the row images.

const sdk = @import("sdk");

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

const Place = sdk.config.Place;

/// Attributes that repeat row values, under the names they had.
const stale_attributes = [_][]const u8{ "cdc.operation.changed_field_values", "debezium.tombstone" };
const column_lists = [_]sdk.Field{ .primary_key, .unavailable_columns, .before_unavailable_columns };

const Op = enum { rename, copy, set, remove };

const Step = struct {
    op: Op,
    /// Leads to the objects; the last segment is the member in them.
    segments: []const sdk.path.Segment,
    to: []const u8 = "",
    /// The new key as a JSON string, for rename and copy; the new value, for set.
    json: []const u8 = "",

    fn key(self: *const Step) []const u8 {
        return self.segments[self.segments.len - 1].key;
    }

    fn isTop(self: *const Step) bool {
        return self.segments.len == 1;
    }
};

var steps: []Step = &.{};

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{"steps"});
    var place: Place = undefined;
    var entries = try (try map.required("steps", &place)).list();
    steps = try sdk.memory.array(Step, entries.count);
    for (steps) |*step| step.* = try readStep(try entries.next().?.map(&.{ "op", "field", "to", "value" }));
}

fn readStep(map: sdk.config.Map) sdk.config.Error!Step {
    const op: Op = @fromBackingInt(@intCast(try map.choice("op", &.{ "rename", "copy", "set", "remove" }, null)));
    const has_target = op == .rename or op == .copy;
    if (map.has("to") and !has_target) return map.refuseKey("to", "is only for rename and copy");
    if (map.has("value") and op != .set) return map.refuseKey("value", "is only for set");
    var place: Place = undefined;
    const path = try sdk.path.Path.parse(try map.required("field", &place));
    if (path.hasWildcard()) return place.refuse(&.{"must not have a wildcard"});
    var step = Step{ .op = op, .segments = path.segments };
    var json = try sdk.Buffer.init(64);
    if (has_target) {
        step.to = try map.name("to", null);
        try sdk.json_write.string(&json, step.to);
    }
    if (op == .set) {
        const scalar = try sdk.scalar.Scalar.parse(try map.required("value", &place));
        if (scalar.kind == .string) try sdk.json_write.string(&json, scalar.text) else try json.append(scalar.text);
    }
    step.json = json.finish();
    return step;
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    try context.checkImages(event);
    var columns: [column_lists.len][][]const u8 = undefined;
    for (&columns, column_lists) |*names, field| names.* = try event.texts(field);
    var images = [_]?[]const u8{ event.before(), event.after() };
    for (steps) |*step| {
        for (&images, [_][]const u8{ "before", "after" }) |*image, name| {
            const text = image.* orelse continue;
            var editor = Editor{ .step = step, .scanner = .{ .text = text }, .keys = columns[0], .name = name };
            image.* = try editor.run(context);
        }
        if (step.op == .rename and step.isTop()) {
            for (columns) |names| for (names) |*name| {
                if (sdk.utf8.same(name.*, step.key())) name.* = step.to;
            };
        }
    }
    inline for (.{ sdk.Field.before, sdk.Field.after }, 0..) |field, index| {
        if (images[index]) |text| {
            if (text.ptr != event.bytesOf(field).?.ptr) try event.setBytes(field, text);
        }
    }
    for (columns, column_lists) |names, field| try patchColumns(event, field, names);
    try sdk.attributes.removeAll(event, &stale_attributes, &context.failed_at);
    return .keep;
}

fn patchColumns(event: *sdk.Event, field: sdk.Field, names: []const []const u8) sdk.Error!void {
    var all = event.occurrences(field);
    for (names) |name| {
        const span = (try all.next()).?;
        if (name.ptr == event.bytes[span.value..].ptr) continue;
        var encoded = try sdk.Buffer.init(name.len + 8);
        try sdk.wire.appendBytes(&encoded, @backingInt(field), name);
        try event.patch(span.start, span.end, field, encoded.finish());
    }
}

/// Applies one step to one image, which has been checked.
const Editor = struct {
    step: *const Step,
    scanner: sdk.json.Scanner,
    keys: []const []const u8,
    name: []const u8,
    out: sdk.Buffer = undefined,
    copied: usize = 0,

    const Problem = error{ AlreadyThere, IsKey } || sdk.json.Error || sdk.memory.Error;

    fn run(self: *Editor, context: *sdk.Context) sdk.Error![]const u8 {
        const text = self.scanner.text;
        self.out = try .init(text.len + self.step.json.len + 64);
        self.scanner.begin();
        self.walk(0) catch |problem| switch (problem) {
            error.OutOfMemory => return error.OutOfMemory,
            error.AlreadyThere => return context.fail(&.{ self.name, " already has ", self.step.to }),
            error.IsKey => return context.fail(&.{ self.step.key(), " is a key column and cannot be removed" }),
            error.NotJson, error.TooDeep => |kind| return context.failJson(kind, self.name),
        };
        if (self.out.len == 0) return text;
        try self.out.append(text[self.copied..]);
        return self.out.finish();
    }

    /// Follow the leading segments to the objects.
    fn walk(self: *Editor, level: usize) Problem!void {
        const scanner = &self.scanner;
        if (scanner.peek() != '{') return scanner.skip();
        if (level + 1 == self.step.segments.len) return self.object();
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            if (children.key.equals(self.step.segments[level].key)) try self.walk(level + 1) else try scanner.skip();
        }
    }

    /// What there is in an object, before anything in it is changed.
    const Survey = struct {
        is_empty: bool = true,
        has_target: bool = false,
        member: ?[]const u8 = null,
        /// Where the last child's value ends.
        last_end: usize = 0,
    };

    fn survey(self: *Editor) Problem!Survey {
        const scanner = &self.scanner;
        var result = Survey{};
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            result.is_empty = false;
            if (children.key.equals(self.step.to)) result.has_target = true;
            const is_member = children.key.equals(self.step.key());
            const value = try scanner.value();
            if (is_member) result.member = value.text;
            result.last_end = scanner.at;
        }
        return result;
    }

    fn object(self: *Editor) Problem!void {
        const start = self.scanner.at;
        const found = try self.survey();
        const end = self.scanner.at;
        const step = self.step;
        if (found.member == null and step.op != .set) return;
        switch (step.op) {
            .remove => {
                if (step.isTop()) for (self.keys) |name| {
                    if (sdk.utf8.same(name, step.key())) return error.IsKey;
                };
                try self.removeMembers(start);
            },
            .set => {
                if (found.member != null) return self.replaceMembers(start);
                try self.insert(start, end, found, step.key(), step.json);
            },
            .rename, .copy => {
                if (sdk.utf8.same(step.to, step.key())) return;
                if (found.has_target) return error.AlreadyThere;
                if (step.op == .rename) return self.replaceMembers(start);
                try self.insert(start, end, found, step.to, found.member.?);
            },
        }
    }

    /// Put the new key (rename) or the new value (set) in place of every occurrence.
    fn replaceMembers(self: *Editor, start: usize) Problem!void {
        const scanner = &self.scanner;
        scanner.at = start;
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            const is_member = children.key.equals(self.step.key());
            const value_start = scanner.at;
            try scanner.skip();
            if (!is_member) continue;
            if (self.step.op == .rename) {
                try self.replace(children.key_start, children.key_start + children.key.raw.len + 2, self.step.json);
            } else {
                try self.replace(value_start, scanner.at, self.step.json);
            }
        }
    }

    fn removeMembers(self: *Editor, start: usize) Problem!void {
        const scanner = &self.scanner;
        scanner.at = start;
        try self.replace(start, start, "{");
        var is_first = true;
        var children = try scanner.enter();
        while (try scanner.next(&children)) {
            const is_member = children.key.equals(self.step.key());
            try scanner.skip();
            scanner.skipSpace();
            if (is_member) continue;
            if (!is_first) try self.out.byte(',');
            is_first = false;
            try self.out.append(scanner.text[children.slot..scanner.at]);
        }
        try self.out.byte('}');
        self.copied = scanner.at;
    }

    /// Add a member behind the last one.
    fn insert(self: *Editor, start: usize, end: usize, found: Survey, key: []const u8, value: []const u8) Problem!void {
        if (found.is_empty) {
            try self.replace(start + 1, end - 1, "");
        } else {
            try self.replace(found.last_end, found.last_end, ",");
        }
        try sdk.json_write.string(&self.out, key);
        try self.out.byte(':');
        try self.out.append(value);
    }

    fn replace(self: *Editor, start: usize, end: usize, replacement: []const u8) sdk.memory.Error!void {
        try self.out.append(self.scanner.text[self.copied..start]);
        try self.out.append(replacement);
        self.copied = end;
    }
};
