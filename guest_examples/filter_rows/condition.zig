//! Conditions on fields: comparisons, combined by all, any and not.

const sdk = @import("sdk");
const Place = sdk.config.Place;
const Scalar = sdk.scalar.Scalar;
const Value = sdk.json.Value;

const max_depth = 8;

const Test = enum { equal, unequal, less, at_most, greater, at_least, in, prefix, suffix, contains, exists };
const test_names = [_][]const u8{ "=", "!=", "<", "<=", ">", ">=", "in", "prefix", "suffix", "contains", "exists" };

const Comparison = struct {
    field: sdk.field.Field,
    check: Test,
    operands: []const Scalar,
};

const Node = union(enum) {
    all: []Node,
    any: []Node,
    not: *Node,
    /// Index of a comparison.
    comparison: usize,
};

pub const Condition = struct {
    root: Node,
    comparisons: []Comparison,
    /// Paths of the comparisons that read images; bit i of a set belongs to `path_owner[i]`.
    paths: sdk.path.Set,
    path_owner: []usize,

    pub fn parse(item: sdk.config.Item) sdk.config.Error!Condition {
        var parser = Parser{};
        const root = try parser.node(item, 1);
        if (parser.count > parser.comparisons.len) return item.place.refuse(&.{"has more than 64 comparisons"});
        const comparisons = try sdk.memory.array(Comparison, parser.count);
        @memcpy(comparisons, parser.comparisons[0..parser.count]);
        const paths = try sdk.memory.array(sdk.path.Path, parser.count);
        const owners = try sdk.memory.array(usize, parser.count);
        var count: usize = 0;
        for (comparisons, 0..) |*comparison, index| {
            if (!comparison.field.readsImages()) continue;
            paths[count] = comparison.field.path;
            owners[count] = index;
            count += 1;
        }
        return .{
            .root = root,
            .comparisons = comparisons,
            .paths = .init(paths[0..count]),
            .path_owner = owners[0..count],
        };
    }

    pub fn holds(self: *const Condition, event: *const sdk.Event, context: *sdk.Context) sdk.Error!bool {
        var evaluation = Evaluation{ .condition = self, .event = event };
        if (self.path_owner.len != 0) try sdk.field.selectImages(&self.paths, event, &evaluation, context);
        for (self.comparisons, 0..) |*comparison, index| {
            if (comparison.field.readsImages()) continue;
            const text = try comparison.field.plainText(event, context) orelse continue;
            evaluation.look(index, try quoted(text));
        }
        return evaluation.holds(self.root);
    }
};

/// A text that is no JSON as a value that is: fields of the event compare like strings of an image.
fn quoted(text: []const u8) sdk.memory.Error!Value {
    var buffer = try sdk.Buffer.init(text.len + 2);
    try buffer.byte('"');
    try buffer.append(text);
    try buffer.byte('"');
    return .{ .kind = .string, .text = buffer.finish() };
}

const Evaluation = struct {
    condition: *const Condition,
    event: *const sdk.Event,
    /// The paths whose image is being walked.
    relevant: sdk.path.Bits = 0,
    /// Comparisons that at least one value satisfied.
    satisfied: u64 = 0,

    pub fn begin(self: *Evaluation, image: sdk.Image) void {
        self.relevant = 0;
        for (self.condition.path_owner, 0..) |owner, index| {
            if (self.condition.comparisons[owner].field.image(self.event) == image) {
                self.relevant |= @as(u64, 1) << @intCast(index);
            }
        }
    }

    pub fn found(self: *Evaluation, bits: sdk.path.Bits, value: Value) void {
        var rest = bits & self.relevant;
        while (rest != 0) : (rest &= rest - 1) self.look(self.condition.path_owner[@ctz(rest)], value);
    }

    noinline fn look(self: *Evaluation, index: usize, value: Value) void {
        const bit = @as(u64, 1) << @intCast(index);
        if (self.satisfied & bit == 0 and satisfies(&self.condition.comparisons[index], value)) self.satisfied |= bit;
    }

    fn holds(self: *const Evaluation, node: Node) bool {
        switch (node) {
            .all => |parts| {
                for (parts) |part| if (!self.holds(part)) return false;
                return true;
            },
            .any => |parts| {
                for (parts) |part| if (self.holds(part)) return true;
                return false;
            },
            .not => |part| return !self.holds(part.*),
            .comparison => |index| {
                const is_satisfied = self.satisfied >> @intCast(index) & 1 == 1;
                const comparison = &self.condition.comparisons[index];
                if (comparison.check != .exists) return is_satisfied;
                return is_satisfied == sdk.utf8.same(comparison.operands[0].text, "true");
            },
        }
    }
};

fn satisfies(comparison: *const Comparison, value: Value) bool {
    const operand = &comparison.operands[0];
    switch (comparison.check) {
        .equal, .in => {
            for (comparison.operands) |*candidate| if (candidate.equals(value)) return true;
            return false;
        },
        .unequal => return !operand.equals(value),
        .exists => return true,
        .prefix, .suffix, .contains => return value.kind == .string and textTest(comparison.check, value, operand.text),
        .less, .at_most, .greater, .at_least => {
            const order = operand.order(value) orelse return false;
            return switch (comparison.check) {
                .less => order == .lt,
                .at_most => order != .gt,
                .greater => order == .gt,
                else => order != .lt,
            };
        },
    }
}

fn textTest(check: Test, value: Value, wanted: []const u8) bool {
    const text = value.valueText() catch return false;
    return switch (check) {
        .prefix => sdk.utf8.startsWith(text, wanted),
        .suffix => sdk.utf8.endsWith(text, wanted),
        else => sdk.utf8.contains(text, wanted),
    };
}

const combinations = [_][]const u8{ "all", "any", "not" };

const Parser = struct {
    comparisons: [sdk.path.max_paths]Comparison = undefined,
    count: usize = 0,

    fn node(self: *Parser, item: sdk.config.Item, depth: usize) sdk.config.Error!Node {
        if (depth > max_depth) return item.place.refuse(&.{"is nested deeper than 8 levels"});
        if (item.value.kind() == .map) {
            const probe = sdk.config.Map{ .value = item.value, .place = item.place };
            for (combinations, 0..) |word, index| {
                if (probe.has(word)) return self.combination(item, index, depth);
            }
        }
        return self.comparison(try item.map(&.{ "field", "op", "value" }));
    }

    noinline fn combination(self: *Parser, item: sdk.config.Item, index: usize, depth: usize) sdk.config.Error!Node {
        const word = combinations[index];
        const map = try item.map(&.{word});
        var place: Place = undefined;
        const parts = try map.required(word, &place);
        if (index == 2) {
            const part = try sdk.memory.create(Node);
            part.* = try self.node(parts, depth + 1);
            return .{ .not = part };
        }
        const found = try self.nodes(parts, depth);
        return if (index == 0) .{ .all = found } else .{ .any = found };
    }

    fn nodes(self: *Parser, item: sdk.config.Item, depth: usize) sdk.config.Error![]Node {
        var list = try item.list();
        const parts = try sdk.memory.array(Node, list.count);
        for (parts) |*part| part.* = try self.node(list.next().?, depth + 1);
        return parts;
    }

    fn comparison(self: *Parser, map: sdk.config.Map) sdk.config.Error!Node {
        var place: Place = undefined;
        const field = try sdk.field.Field.parse(try map.required("field", &place));
        const check: Test = @fromBackingInt(@intCast(try map.choice("op", &test_names, null)));
        const operands = try readOperands(map, check);
        // Comparisons beyond the limit are still checked, so that the first problem is the one that is named.
        if (self.count < self.comparisons.len) {
            self.comparisons[self.count] = .{ .field = field, .check = check, .operands = operands };
        }
        self.count += 1;
        return .{ .comparison = self.count - 1 };
    }
};

fn readOperands(map: sdk.config.Map, check: Test) sdk.config.Error![]const Scalar {
    var place: Place = undefined;
    const item = try map.required("value", &place);
    if (check == .in) {
        var list = try item.list();
        const scalars = try sdk.memory.array(Scalar, list.count);
        for (scalars) |*scalar| scalar.* = try .parse(list.next().?);
        return scalars;
    }
    const operands = try sdk.memory.array(Scalar, 1);
    operands[0] = try .parse(item);
    const kind = operands[0].kind;
    const name = test_names[@backingInt(check)];
    switch (check) {
        .less, .at_most, .greater, .at_least => if (kind != .string and kind != .number) {
            return place.refuse(&.{ "must be a string or a number for ", name });
        },
        .prefix, .suffix, .contains => if (kind != .string) return place.refuse(&.{ "must be a string for ", name }),
        .exists => if (kind != .boolean) return place.refuse(&.{"must be true or false for exists"}),
        .equal, .unequal, .in => {},
    }
    return operands;
}
