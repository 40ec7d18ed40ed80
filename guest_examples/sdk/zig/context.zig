//! The failure of one event: why, in words for people.

const std = @import("std");
const event_file = @import("event.zig");
const json = @import("json.zig");
const memory = @import("memory.zig");
const wire = @import("wire.zig");
const Buffer = @import("buffer.zig").Buffer;

pub const Error = error{Failed} || wire.Error || memory.Error;

pub const Context = struct {
    failed_at: usize = 0,
    message: []const u8 = "",

    /// Fail the event: `return context.fail(&.{ "no ", name })`. The parts are joined.
    pub noinline fn fail(self: *Context, parts: []const []const u8) Error {
        var text = try Buffer.init(128);
        for (parts) |part| try text.append(part);
        self.message = text.finish();
        return error.Failed;
    }

    /// Turn the trouble of the document scanned last into the event's failure. `name` is what the document is called.
    pub noinline fn failJson(self: *Context, problem: json.Error, name: []const u8) Error {
        if (problem == error.TooDeep) return self.fail(&.{ name, " is nested deeper than 128 levels" });
        var offset = try Buffer.init(20);
        try offset.decimal(json.failed_at);
        return self.fail(&.{ name, " is not valid JSON at byte ", offset.written() });
    }

    /// Check that a whole document is JSON.
    pub noinline fn checkJson(self: *Context, text: []const u8, name: []const u8) Error!void {
        var scanner = json.Scanner{ .text = text };
        scanner.begin();
        scanner.skip() catch |problem| return self.failJson(problem, name);
        scanner.finish() catch |problem| return self.failJson(problem, name);
    }

    /// Check that both images are JSON, `before` first.
    pub fn checkImages(self: *Context, event: *const event_file.Event) Error!void {
        if (event.before()) |text| try self.checkJson(text, "before");
        if (event.after()) |text| try self.checkJson(text, "after");
    }

    /// The text of a failed event.
    pub noinline fn explain(self: *Context, problem: Error) memory.Error![]const u8 {
        switch (problem) {
            error.Failed => return self.message,
            error.OutOfMemory => return error.OutOfMemory,
            error.NotAnEvent => {
                var text = try Buffer.init(64);
                try text.append("not an Event at byte ");
                try text.decimal(self.failed_at);
                return text.written();
            },
        }
    }
};
