//! Memory of a guest: blocks one behind the other, all free again when the host holds none.
//!
//! The host allocates an input, calls, and gives back input and output before the next event. So a pointer that only
//! goes up, and falls back when no block is live, is all that is needed: nothing fragments, nothing is searched, and
//! what an event used as scratch disappears with it. What `init` allocated stays.

const std = @import("std");

/// Bytes that may be read behind any block, so that vectors can be loaded from its last byte on.
pub const slack = 32;

const page = 65536;

var base: usize = 0;
var top: usize = 0;
var room: usize = 0;
var live: usize = 0;

pub const Error = error{OutOfMemory};

/// A block whose address is a multiple of 16. It is gone when the host holds no block any more.
pub fn allocate(size: usize) Error![]u8 {
    const start = std.mem.alignForward(usize, try end(), 16);
    if (size > std.math.maxInt(u32) - start - slack) return error.OutOfMemory;
    try reserve(start + size);
    top = start + size;
    return pointer(start)[0..size];
}

/// Make a block longer without moving it, if nothing was allocated behind it.
pub fn extend(block: []u8, size: usize) Error!bool {
    const start = @intFromPtr(block.ptr);
    if (start + block.len != top) return false;
    if (size > std.math.maxInt(u32) - start - slack) return error.OutOfMemory;
    try reserve(start + size);
    top = start + size;
    return true;
}

/// Give back the unused end of a block, if nothing was allocated behind it.
pub fn trim(block: []u8, used: usize) void {
    const start = @intFromPtr(block.ptr);
    if (start + block.len == top) top = start + used;
}

pub fn duplicate(bytes: []const u8) Error![]u8 {
    const copy = try allocate(bytes.len);
    @memcpy(copy, bytes);
    return copy;
}

pub fn array(comptime T: type, count: usize) Error![]T {
    if (count > std.math.maxInt(u32) / @max(1, @sizeOf(T))) return error.OutOfMemory;
    const block = try allocate(count * @sizeOf(T));
    const items: [*]T = @ptrCast(@alignCast(block.ptr));
    return items[0..count];
}

pub fn create(comptime T: type) Error!*T {
    return &(try array(T, 1))[0];
}

/// What the host asks for; 0 when there is no room.
pub fn hostAllocate(size: usize) usize {
    const block = allocate(size) catch return 0;
    live += 1;
    return @intFromPtr(block.ptr);
}

/// Count a block that is handed to the host and comes back through `hostFree`.
pub fn handOver() void {
    live += 1;
}

pub fn hostFree() void {
    live -|= 1;
    if (live == 0) top = base;
}

/// Keep everything allocated so far for the life of the instance.
pub fn keepAll() void {
    base = top;
}

fn pointer(address: usize) [*]u8 {
    return @ptrFromInt(address);
}

fn end() Error!usize {
    if (room == 0) {
        // The heap begins behind what the compiler laid out: the data and the stack.
        room = @wasmMemorySize(0) * page;
        base = room;
        top = room;
    }
    return top;
}

fn reserve(address: usize) Error!void {
    const needed = address + slack;
    if (needed <= room) return;
    const pages = (needed - room + page - 1) / page;
    if (@wasmMemoryGrow(0, pages) < 0) return error.OutOfMemory;
    room += pages * page;
}
