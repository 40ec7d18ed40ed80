//! What a failed safety check does: log a few words, then trap. The words become part of the event's failure.
//!
//! The standard library's messages carry numbers and so pull in a formatter that is larger than most guests.

const host = @import("host.zig");

/// An explicit `@panic`.
pub fn call(message: []const u8, first_trace_address: ?usize) noreturn {
    @branchHint(.cold);
    _ = first_trace_address;
    host.log(.err, message);
    @trap();
}

fn stop(comptime message: []const u8) noreturn {
    @branchHint(.cold);
    call(message, null);
}

pub fn sentinelMismatch(expected: anytype, found: @TypeOf(expected)) noreturn {
    _ = found;
    stop("sentinel mismatch");
}

pub fn unwrapError(err: anyerror) noreturn {
    _ = &err;
    stop("attempt to unwrap error");
}

pub fn outOfBounds(index: usize, len: usize) noreturn {
    _ = index;
    _ = len;
    stop("index out of bounds");
}

pub fn startGreaterThanEnd(start: usize, end: usize) noreturn {
    _ = start;
    _ = end;
    stop("slice starts behind its end");
}

pub fn inactiveUnionField(active: anytype, accessed: @TypeOf(active)) noreturn {
    _ = accessed;
    stop("access of an inactive union field");
}

pub fn sliceCastLenRemainder(src_len: usize) noreturn {
    _ = src_len;
    stop("slice cast leaves a remainder");
}

pub fn reachedUnreachable() noreturn {
    stop("reached unreachable code");
}

pub fn unwrapNull() noreturn {
    stop("attempt to use a null value");
}

pub fn castToNull() noreturn {
    stop("cast gives a null pointer");
}

pub fn incorrectAlignment() noreturn {
    stop("incorrect alignment");
}

pub fn invalidErrorCode() noreturn {
    stop("invalid error code");
}

pub fn unexpectedErrorCode(err: anyerror) noreturn {
    _ = &err;
    stop("unexpected error code");
}

pub fn integerOutOfBounds() noreturn {
    stop("integer does not fit its type");
}

pub fn integerOverflow() noreturn {
    stop("integer overflow");
}

pub fn shlOverflow() noreturn {
    stop("left shift overflows");
}

pub fn shrOverflow() noreturn {
    stop("right shift overflows");
}

pub fn divideByZero() noreturn {
    stop("division by zero");
}

pub fn exactDivisionRemainder() noreturn {
    stop("exact division leaves a remainder");
}

pub fn integerPartOutOfBounds() noreturn {
    stop("float does not fit the integer type");
}

pub fn corruptSwitch() noreturn {
    stop("switch on a corrupt value");
}

pub fn shiftRhsTooBig() noreturn {
    stop("shift by too many bits");
}

pub fn invalidEnumValue() noreturn {
    stop("invalid enum value");
}

pub fn forLenMismatch() noreturn {
    stop("for loop over slices of different lengths");
}

pub fn copyLenMismatch() noreturn {
    stop("copy between slices of different lengths");
}

pub fn memcpyAlias() noreturn {
    stop("copy between overlapping slices");
}

pub fn noreturnReturned() noreturn {
    stop("a function that must not return did");
}

pub fn loadUninstantiableType() noreturn {
    stop("load of a value that cannot exist");
}
