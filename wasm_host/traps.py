"""The only place that knows wasmtime's two exception roots and its trap codes."""

import wasmtime
from wasmtime import TrapCode

from abi.failures import FailureCode

# Every code that guest code can raise under the enabled proposals by name; all others, which need a disabled proposal
# or the component model, are grouped. A test walks wasmtime's list, so an upgrade cannot add one unseen.
TRAP_FAILURES: dict[TrapCode, FailureCode] = dict.fromkeys(TrapCode, FailureCode.TRAP_OTHER)
TRAP_FAILURES |= {
    TrapCode.STACK_OVERFLOW: FailureCode.TRAP_STACK_OVERFLOW,
    TrapCode.MEMORY_OUT_OF_BOUNDS: FailureCode.TRAP_MEMORY_OUT_OF_BOUNDS,
    TrapCode.TABLE_OUT_OF_BOUNDS: FailureCode.TRAP_TABLE_OUT_OF_BOUNDS,
    TrapCode.INDIRECT_CALL_TO_NULL: FailureCode.TRAP_INDIRECT_CALL_TO_NULL,
    TrapCode.BAD_SIGNATURE: FailureCode.TRAP_BAD_SIGNATURE,
    TrapCode.INTEGER_OVERFLOW: FailureCode.TRAP_INTEGER_OVERFLOW,
    TrapCode.INTEGER_DIVISION_BY_ZERO: FailureCode.TRAP_INTEGER_DIVISION_BY_ZERO,
    TrapCode.BAD_CONVERSION_TO_INTEGER: FailureCode.TRAP_BAD_CONVERSION_TO_INTEGER,
    TrapCode.UNREACHABLE: FailureCode.TRAP_UNREACHABLE,
    TrapCode.OUT_OF_FUEL: FailureCode.FUEL_EXHAUSTED,
}


def is_interrupt(trap: wasmtime.Trap) -> bool:
    """Whether the wall clock ended the call."""
    return trap.trap_code == TrapCode.INTERRUPT


def failure_code(trap: wasmtime.Trap) -> FailureCode:
    """The stable code for a trap in guest code."""
    if trap.trap_code is None:
        return FailureCode.TRAP_OTHER
    return TRAP_FAILURES[trap.trap_code]


def trap_words(trap: wasmtime.Trap) -> str:
    """wasmtime's sentence for a trap. It stands below a backtrace, whose names a guest chose and nobody is shown."""
    for line in reversed(str(trap).splitlines()):
        _, mark, words = line.partition("wasm trap: ")
        if mark:
            return words.strip()[:200]
    return first_line(trap)


def first_line(error: Exception) -> str:
    """Wasmtime's own words for an error, without what stands below them."""
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
