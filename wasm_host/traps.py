"""The only place that knows wasmtime's two exception roots and its trap codes."""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class TrapReport:
    """What is kept of a trap.

    Attributes:
        code: The stable code of a failure by this trap.
        words: wasmtime's sentence for it.
        is_interrupt: Whether it was the wall clock that ended the call.
    """

    code: FailureCode
    words: str
    is_interrupt: bool

    @classmethod
    def of(cls, trap: wasmtime.Trap) -> "TrapReport":
        """Read a trap; poisoned batches have many, so each kind is read only once."""
        kind = trap.trap_code
        if kind is None:
            return cls(FailureCode.TRAP_OTHER, _trap_words(trap), False)
        report = _reports.get(kind)
        if report is None:
            report = _reports[kind] = cls(TRAP_FAILURES[kind], _trap_words(trap), kind is TrapCode.INTERRUPT)
        return report


_reports: dict[TrapCode, TrapReport] = {}


def _trap_words(trap: wasmtime.Trap) -> str:
    """The sentence stands below a backtrace, whose names a guest chose and nobody is shown."""
    for line in reversed(str(trap).splitlines()):
        _, mark, words = line.partition("wasm trap: ")
        if mark:
            return words.strip()[:200]
    return first_line(trap)


def first_line(error: Exception) -> str:
    """Wasmtime's own words for an error, without what stands below them."""
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
