//! Hide values of both row images by dotted path. An image that is not JSON fails the event: nothing is passed on
//! that could not be looked at.

const sdk = @import("sdk");
const action_file = @import("action.zig");
const Action = action_file.Action;
const Bits = sdk.path.Bits;

pub const panic = sdk.panic;
comptime {
    sdk.exportGuest(@This());
}

/// Attributes that repeat values of the row; a path does not reach into them, so they are removed.
const attributes_with_row_values = [_][]const u8{
    "cdc.entity.entity_identifier",
    "cdc.operation.changed_field_values",
    "debezium.tombstone",
    "opencdc.key",
};

var paths: sdk.path.Set = .{ .paths = &.{} };
var actions: []Action = &.{};
var metric_names: [][*:0]const u8 = &.{};
var default: Action = .{ .kind = .keep };
var removed_attributes: []const []const u8 = &attributes_with_row_values;

pub fn configure(item: sdk.config.Item) sdk.config.Error!void {
    const map = try item.map(&.{ "rules", "default", "hmac_key", "remove_attributes" });
    var place: sdk.config.Place = undefined;
    if (map.optional("rules", &place)) |rules| try readRules(try rules.list(), map);
    if (map.optional("default", &place)) |entry| {
        default = try readAction(try entry.map(&.{ "action", "marker", "n" }), map);
    }
    if (actions.len == 0 and default.kind == .keep) return item.place.refuse(&.{"has neither rules nor a default"});
    const more = try map.strings("remove_attributes");
    const removed = try sdk.memory.array([]const u8, attributes_with_row_values.len + more.len);
    @memcpy(removed[0..attributes_with_row_values.len], &attributes_with_row_values);
    @memcpy(removed[attributes_with_row_values.len..], more);
    removed_attributes = removed;
}

fn readRules(list: sdk.config.List, top: sdk.config.Map) sdk.config.Error!void {
    var entries = list;
    const rule_paths = try sdk.memory.array(sdk.path.Path, entries.count);
    actions = try sdk.memory.array(Action, entries.count);
    metric_names = try sdk.memory.array([*:0]const u8, entries.count);
    while (entries.next()) |entry| {
        const index = entries.index - 1;
        const map = try entry.map(&.{ "path", "action", "marker", "n" });
        var place: sdk.config.Place = undefined;
        const path_item = try map.required("path", &place);
        const path = try sdk.path.Path.parse(path_item);
        for (rule_paths[0..index]) |other| {
            if (other.equals(path)) return place.refuse(&.{"is given twice"});
        }
        rule_paths[index] = path;
        metric_names[index] = try metricName(path_item.value.string().?);
        actions[index] = try readAction(map, top);
    }
    paths = .init(rule_paths);
}

fn metricName(path: []const u8) sdk.memory.Error![*:0]const u8 {
    var name = try sdk.Buffer.init(128);
    try name.append("mask_pii.unmatched.");
    try name.append(path);
    try name.byte(0);
    return @ptrCast(name.finish().ptr);
}

fn readAction(map: sdk.config.Map, top: sdk.config.Map) sdk.config.Error!Action {
    const kind: action_file.Kind = @fromBackingInt(@intCast(try map.choice("action", &action_file.names, null)));
    const is_counted = kind == .truncate or kind == .keep_last;
    if (map.has("marker") and kind != .redact) return map.refuseKey("marker", "is only for redact");
    if (map.has("n") and !is_counted) return map.refuseKey("n", "is only for truncate and keep_last");
    const count: usize = if (is_counted) @intCast(try map.integer("n", 0, 1_000_000, null)) else 0;
    switch (kind) {
        .redact => {
            var marker = try sdk.Buffer.init(64);
            try sdk.json_write.string(&marker, try map.string("marker", "***"));
            return .{ .kind = kind, .text = marker.finish() };
        },
        .null => return .{ .kind = kind, .text = "null" },
        .hmac => try readKey(top),
        else => {},
    }
    return .{ .kind = kind, .count = count };
}

fn readKey(top: sdk.config.Map) sdk.config.Error!void {
    var place: sdk.config.Place = undefined;
    const item = try top.required("hmac_key", &place);
    const key = item.value.string() orelse item.value.binary() orelse
        return place.refuse(&.{"must be a string or bytes"});
    if (key.len < 16) return place.refuse(&.{"must have at least 16 bytes"});
    action_file.setKey(key);
}

pub fn transform(event: *sdk.Event, context: *sdk.Context) sdk.Error!sdk.Answer {
    masker.matched = 0;
    if (event.before()) |text| try masker.run(event, .before, text, &edits.before, context);
    if (event.after()) |text| try masker.run(event, .after, text, &edits.after, context);
    if (event.has(.before) or event.has(.after)) {
        var unmatched = paths.all() & ~masker.matched;
        while (unmatched != 0) : (unmatched &= unmatched - 1) sdk.host.count(metric_names[@ctz(unmatched)], 1);
    }
    try sdk.attributes.removeAll(event, removed_attributes, &context.failed_at);
    return .keep;
}

// One event is under way at a time, so these need not be made anew for each.
var masker: Masker = undefined;
var edits: struct { before: sdk.ImageEdit, after: sdk.ImageEdit } = undefined;

const Masker = struct {
    scanner: sdk.json.Scanner,
    edit: *sdk.ImageEdit,
    matched: Bits,

    const Problem = sdk.json.Error || sdk.memory.Error;

    /// Walk an image and hide in it what the rules say.
    noinline fn run(
        self: *Masker,
        event: *sdk.Event,
        image: sdk.Field,
        text: []const u8,
        edit: *sdk.ImageEdit,
        context: *sdk.Context,
    ) sdk.Error!void {
        self.scanner = .{ .text = text };
        self.edit = edit;
        edit.reset(text);
        self.document() catch |problem| switch (problem) {
            error.OutOfMemory => return error.OutOfMemory,
            error.NotJson, error.TooDeep => |kind| return context.failJson(kind, @tagName(image)),
        };
        try edit.finish(event, image);
    }

    fn document(self: *Masker) Problem!void {
        self.scanner.begin();
        try self.walk(paths.all(), 0, &default);
        try self.scanner.finish();
    }

    /// Mask the value at hand. `bits` are the rules whose first `level` segments led here.
    fn walk(self: *Masker, bits: Bits, level: usize, inherited: *const Action) Problem!void {
        const scanner = &self.scanner;
        var action = inherited;
        const ending = if (bits == 0) 0 else bits & paths.ending[level];
        if (ending != 0) {
            self.matched |= ending;
            action = &actions[@ctz(ending)];
        }
        const deeper = bits & ~ending;
        if (deeper == 0 and action.kind == .keep) return scanner.skip();
        if (scanner.atContainer() and (ending == 0 or action.kind == .keep)) return self.walkChildren(deeper, level, action);
        try self.hide(action);
    }

    /// Put what the action makes of it in place of the value at hand.
    fn hide(self: *Masker, action: *const Action) Problem!void {
        const scanner = &self.scanner;
        const start = scanner.at;
        if (action.text.len != 0) {
            const is_null = scanner.peek() == 'n';
            try scanner.skip();
            if (!is_null) try self.edit.replace(start, scanner.at, action.text);
            return;
        }
        const value = try scanner.value();
        if (action.changes(value)) try action.apply(value, try self.edit.rewrite(start, scanner.at));
    }

    /// Mask what is in the container at hand.
    fn walkChildren(self: *Masker, bits: Bits, level: usize, action: *const Action) Problem!void {
        // A copy, which stays in registers from child to child.
        var scanner = self.scanner;
        const fork = paths.fork(bits, level);
        const keeps = action.kind == .keep;
        var children = try scanner.enter();
        while (true) {
            switch (scanner.move(&children)) {
                .child => {},
                .end => break,
                .trouble => return error.NotJson,
            }
            const led = fork.step(&children);
            // What is kept and what is hidden behind the same text goes no further than this loop.
            var text: []const u8 = "";
            if (led != 0 or !keeps) {
                const ending = if (led == 0) 0 else led & paths.ending[level + 1];
                if (ending != 0) text = actions[@ctz(ending)].text else if (!scanner.atContainer()) text = action.text;
                if (text.len == 0) {
                    self.scanner = scanner;
                    try self.walk(led, level + 1, action);
                    scanner.at = self.scanner.at;
                    continue;
                }
                self.matched |= ending;
            }
            const start = scanner.at;
            const is_null = scanner.peek() == 'n';
            try scanner.skipInline();
            if (text.len != 0 and !is_null) try self.edit.replace(start, scanner.at, text);
        }
        self.scanner = scanner;
    }
};
