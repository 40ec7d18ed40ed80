//! What the host offers: a log and counters. Whatever is not called is not imported.

pub const Level = enum(i32) { trace = 0, debug = 1, info = 2, warn = 3, err = 4 };

const env = struct {
    extern "env" fn log(level: i32, text: [*]const u8, len: usize) void;
    extern "env" fn record_metric(name: [*:0]const u8, value: i64) void;
    extern "env" fn get_metric(name: [*:0]const u8) i64;
};

pub fn log(level: Level, text: []const u8) void {
    env.log(@backingInt(level), text.ptr, text.len);
}

/// Add to a counter. Names end with a zero byte and have at most 128 bytes before it.
pub fn count(name: [*:0]const u8, amount: i64) void {
    env.record_metric(name, amount);
}

/// What this event has added to a counter so far.
pub fn counted(name: [*:0]const u8) i64 {
    return env.get_metric(name);
}
