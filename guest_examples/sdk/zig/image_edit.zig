//! Replace pieces of an image. What stays is copied once, when the event is written.
//!
//! An edit is large and must live until then, so a guest has one for each image as a variable of its own.

const memory = @import("memory.zig");
const Buffer = @import("buffer.zig").Buffer;
const event_file = @import("event.zig");
const Event = event_file.Event;

/// Replacements that are remembered before the beginning of the image is written out.
const max_pieces = 32;

pub const ImageEdit = struct {
    text: []const u8,
    pieces: [max_pieces]event_file.Replacement,
    count: usize,
    /// Length of the image with its pieces.
    len: usize,
    /// The beginning of the new image, up to `written` in the old one, once it had to be written out.
    out: ?Buffer,
    written: usize,

    /// Begin with an image. The old pieces stay where they are, because clearing them takes time.
    pub fn reset(self: *ImageEdit, text: []const u8) void {
        self.text = text;
        self.len = text.len;
        self.count = 0;
        self.out = null;
        self.written = 0;
    }

    /// Put a text in place of a piece. Pieces come in order; the text must live until the answer is given.
    pub fn replace(self: *ImageEdit, start: usize, end: usize, text: []const u8) memory.Error!void {
        if (self.count == self.pieces.len) try self.writeOut(self.pieces[self.count - 1].end);
        self.pieces[self.count] = .{ .start = start, .end = end, .text = text };
        self.count += 1;
        self.len = self.len + text.len - (end - start);
    }

    /// Replace a piece by whatever is then appended to the buffer.
    pub noinline fn rewrite(self: *ImageEdit, start: usize, end: usize) memory.Error!*Buffer {
        try self.writeOut(start);
        self.written = end;
        return &self.out.?;
    }

    /// Write out the new image as far as it comes from the old one up to `end`.
    noinline fn writeOut(self: *ImageEdit, end: usize) memory.Error!void {
        if (self.out == null) self.out = try .init(self.text.len + self.text.len / 4 + 64);
        const out = &self.out.?;
        for (self.pieces[0..self.count]) |piece| {
            try out.append(self.text[self.written..piece.start]);
            try out.append(piece.text);
            self.written = piece.end;
        }
        self.count = 0;
        try out.append(self.text[self.written..end]);
        self.written = end;
    }

    /// Make the image part of the event, if anything in it was replaced.
    pub fn finish(self: *ImageEdit, event: *Event, field: event_file.Field) event_file.Error!void {
        if (self.out == null) {
            if (self.count != 0) try event.setPieces(field, self.text, self.pieces[0..self.count], self.len);
            return;
        }
        try self.writeOut(self.text.len);
        try event.setBytes(field, self.out.?.finish());
    }
};
