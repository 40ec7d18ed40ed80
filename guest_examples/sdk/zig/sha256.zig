//! SHA-256 (FIPS 180-4), written for a small module: rounds in a loop of eight, the message schedule in vectors.

const std = @import("std");

const Bytes = @Vector(16, u8);
const Words = @Vector(4, u32);

pub const digest_length = 32;
pub const block_length = 64;

/// What is known after whole blocks: enough to go on from there later, and elsewhere.
pub const State = struct { words: [8]u32, length: u64 };

const start = State{
    .words = .{ 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
    .length = 0,
};

const constants = [64]u32{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

// One hash is under way at a time, so it needs no memory of its own.
var words: [8]u32 align(16) = undefined;
var digest: [digest_length]u8 align(16) = undefined;
var length: u64 = 0;
/// The block under way. Behind what is filled it is 0; behind the block there is room for a whole vector.
var block: [block_length + 16]u8 align(16) = @splat(0);
var filled: usize = 0;
var schedule: [64]u32 align(16) = undefined;

/// Begin a hash.
pub fn begin() void {
    beginFrom(&start);
}

/// Go on from a state.
pub fn beginFrom(state: *const State) void {
    words = state.words;
    length = state.length;
    clear();
}

/// The state; what was given so far must be whole blocks.
pub fn save() State {
    std.debug.assert(filled == 0);
    return .{ .words = words, .length = length };
}

pub noinline fn update(bytes: []const u8) void {
    length += bytes.len;
    var rest = bytes;
    while (rest.len >= block_length - filled) {
        const part = rest[0 .. block_length - filled];
        put(part);
        compress();
        clear();
        rest = rest[part.len..];
    }
    put(rest);
}

/// End the hash; the digest is valid until the next one begins.
pub noinline fn finish() *align(16) const [digest_length]u8 {
    block[filled] = 0x80;
    if (filled >= block_length - 8) {
        compress();
        clear();
    }
    std.mem.writeInt(u64, block[block_length - 8 ..][0..8], length *% 8, .big);
    compress();
    inline for (0..2) |half| {
        const four: Bytes = @bitCast(@as(*const Words, @ptrCast(words[4 * half ..][0..4])).*);
        @as(*Bytes, @ptrCast(&digest[16 * half])).* = swapped(four);
    }
    return &digest;
}

/// A digest in lower-case hexadecimal digits.
pub fn hex(bytes_of: *align(16) const [digest_length]u8, out: *align(16) [2 * digest_length]u8) void {
    const to: *[4]Bytes = @ptrCast(out);
    inline for (@as(*const [2]Bytes, @ptrCast(bytes_of)), 0..) |bytes, half| {
        const high = digits(bytes >> @as(Bytes, @splat(4)));
        const low = digits(bytes & @as(Bytes, @splat(15)));
        to[2 * half] = @shuffle(u8, high, low, between);
        to[2 * half + 1] = @shuffle(u8, high, low, between_later);
    }
}

/// High and low digits in turn: of the first eight bytes, and of the others.
const between = [16]i32{ 0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6, -7, 7, -8 };
const between_later = [16]i32{ 8, -9, 9, -10, 10, -11, 11, -12, 12, -13, 13, -14, 14, -15, 15, -16 };

fn digits(nibbles: Bytes) Bytes {
    const is_letter = nibbles > @as(Bytes, @splat(9));
    const letters = @select(u8, is_letter, @as(Bytes, @splat('a' - '0' - 10)), @as(Bytes, @splat(0)));
    return nibbles + letters + @as(Bytes, @splat('0'));
}

fn clear() void {
    for (@as(*[4]Bytes, @ptrCast(block[0..block_length]))) |*some| some.* = @splat(0);
    filled = 0;
}

/// Add to the block what it has room for. Whole vectors are read, with slack behind every text; what does not belong to it
/// is made 0.
noinline fn put(bytes: []const u8) void {
    std.debug.assert(bytes.len <= block_length - filled);
    const lanes = std.simd.iota(u8, 16);
    var at: usize = 0;
    while (at < bytes.len) : (at += 16) {
        const chunk: Bytes = @as(*align(1) const Bytes, @ptrCast(bytes.ptr + at)).*;
        const left: u8 = @intCast(@min(bytes.len - at, 16));
        const kept = @select(u8, lanes < @as(Bytes, @splat(left)), chunk, @as(Bytes, @splat(0)));
        @as(*align(1) Bytes, @ptrCast(block[filled + at ..][0..16])).* = kept;
    }
    filled += bytes.len;
}

/// The bytes of four words in the other order.
inline fn swapped(bytes: Bytes) Bytes {
    return @shuffle(u8, bytes, undefined, [16]i32{ 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12 });
}

noinline fn compress() void {
    expand();
    var a, var b, var c, var d, var e, var f, var g, var h = words;
    var at: usize = 0;
    while (at < schedule.len) : (at += 8) {
        const eight = schedule[at..][0..8];
        round(a, b, c, &d, e, f, g, &h, eight[0]);
        round(h, a, b, &c, d, e, f, &g, eight[1]);
        round(g, h, a, &b, c, d, e, &f, eight[2]);
        round(f, g, h, &a, b, c, d, &e, eight[3]);
        round(e, f, g, &h, a, b, c, &d, eight[4]);
        round(d, e, f, &g, h, a, b, &c, eight[5]);
        round(c, d, e, &f, g, h, a, &b, eight[6]);
        round(b, c, d, &e, f, g, h, &a, eight[7]);
    }
    const more = [8]u32{ a, b, c, d, e, f, g, h };
    inline for (0..8) |index| words[index] +%= more[index];
}

inline fn round(a: u32, b: u32, c: u32, d: *u32, e: u32, f: u32, g: u32, h: *u32, word: u32) void {
    const choice = g ^ (e & (f ^ g));
    const majority = (a & b) | (c & (a | b));
    const first = h.* +% (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +% choice +% word;
    d.* +%= first;
    h.* = first +% (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +% majority;
}

inline fn rotr(word: u32, comptime count: u5) u32 {
    return std.math.rotr(u32, word, count);
}

/// Write the schedule, with the constants added. Word t is made of words t-2, t-7, t-15 and t-16, so the last sixteen are
/// kept, in four vectors.
inline fn expand() void {
    var four: [4]Words = undefined;
    inline for (&four, 0..) |*some, index| {
        const bytes: *const Bytes = @ptrCast(@alignCast(block[16 * index ..][0..16]));
        some.* = @bitCast(swapped(bytes.*));
        emit(4 * index, some.*);
    }
    var at: usize = 16;
    while (at < schedule.len) : (at += 4) {
        const fifteen = @shuffle(u32, four[0], four[1], [4]i32{ 1, 2, 3, -1 });
        const seven = @shuffle(u32, four[2], four[3], [4]i32{ 1, 2, 3, -1 });
        const sum = four[0] +% seven +% (turned(fifteen, 7) ^ turned(fifteen, 18) ^ (fifteen >> @as(Words, @splat(3))));
        // The last two of the four need the first two.
        const zero: Words = @splat(0);
        const half = sum +% mixed(@shuffle(u32, four[3], zero, [4]i32{ 2, 3, -1, -1 }));
        const new = half +% mixed(@shuffle(u32, half, zero, [4]i32{ -1, -1, 0, 1 }));
        four = .{ four[1], four[2], four[3], new };
        emit(at, new);
    }
}

inline fn emit(at: usize, some: Words) void {
    const added: Words = constants[at..][0..4].*;
    @as(*align(4) Words, @ptrCast(schedule[at..][0..4])).* = some +% added;
}

inline fn mixed(some: Words) Words {
    return turned(some, 17) ^ turned(some, 19) ^ (some >> @as(Words, @splat(10)));
}

inline fn turned(some: Words, comptime count: u5) Words {
    return (some >> @as(Words, @splat(count))) | (some << @as(Words, @splat(32 - @as(u6, count))));
}
