//! Name one value of an event in a configuration, and read it: `event:table`, `attribute:key`, `after:contact.email`.

const utf8 = @import("utf8.zig");
const attributes = @import("attributes.zig");
const config = @import("config.zig");
const json = @import("json.zig");
const path = @import("path.zig");
const Context = @import("context.zig").Context;
const Error = @import("context.zig").Error;
const Event = @import("event.zig").Event;
const Image = @import("event.zig").Image;

pub const Source = enum { schema, table, attribute, before, after, row };

pub const Field = struct {
    source: Source,
    /// An attribute's key.
    key: []const u8 = "",
    path: path.Path = .{ .segments = &.{} },

    pub fn parse(item: config.Item) config.Error!Field {
        return parseText(try item.string(), item.place);
    }

    /// Read a field's name that is not empty.
    pub noinline fn parseText(text: []const u8, place: *const config.Place) config.Error!Field {
        const colon = utf8.indexOf(text, ':') orelse return fromPath(.row, text, place);
        const word = text[0..colon];
        const rest = text[colon + 1 ..];
        if (utf8.same(word, "event")) {
            if (utf8.same(rest, "schema")) return .{ .source = .schema };
            if (utf8.same(rest, "table")) return .{ .source = .table };
            return place.refuse(&.{"must be event:schema or event:table"});
        }
        if (utf8.same(word, "attribute")) {
            if (rest.len < 1 or rest.len > 100) return place.refuse(&.{"must name an attribute of 1 to 100 bytes"});
            return .{ .source = .attribute, .key = rest };
        }
        inline for (.{ .before, .after, .row }) |source| {
            if (utf8.same(word, @tagName(source))) return fromPath(source, rest, place);
        }
        return fromPath(.row, text, place);
    }

    noinline fn fromPath(source: Source, text: []const u8, place: *const config.Place) config.Error!Field {
        return .{ .source = source, .path = try .parseText(try config.checkName(text, place), place) };
    }

    pub fn readsImages(self: Field) bool {
        return self.source == .before or self.source == .after or self.source == .row;
    }

    /// The image that a path is followed in.
    pub fn image(self: Field, event: *const Event) Image {
        return switch (self.source) {
            .before => .before,
            .row => rowImage(event),
            else => .after,
        };
    }

    /// The one value of a field that does not read images.
    pub fn plainText(self: Field, event: *const Event, context: *Context) Error!?[]const u8 {
        return switch (self.source) {
            .schema => event.schema(),
            .table => event.table(),
            .attribute => attributes.get(event, self.key, &context.failed_at),
            else => null,
        };
    }
};

/// The image that stands for the row: `after`, or `before` where there is no `after`.
pub fn rowImage(event: *const Event) Image {
    return if (event.after() != null) .after else .before;
}

/// Scan both images as a whole; every value that a path of `set` leads to in an image of `images` is shown to the
/// visitor: `visitor.found(bits, value)`, after `visitor.begin(image)`.
pub fn selectImages(set: *const path.Set, event: *const Event, visitor: anytype, context: *Context) Error!void {
    inline for (.{ Image.before, Image.after }) |which| {
        if (event.image(which)) |document| {
            visitor.begin(which);
            try select(set, document, @tagName(which), .of(visitor), context);
        }
    }
}

/// Follow paths through one document. `name` is what failures call it.
pub noinline fn select(
    set: *const path.Set,
    document: []const u8,
    name: []const u8,
    visitor: path.Visitor,
    context: *Context,
) Error!void {
    var scanner = json.Scanner{ .text = document };
    set.select(&scanner, visitor) catch |problem| return context.failJson(problem, name);
}
