"""What became of each event of a batch, in a form that can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from abi.failures import FailureCode
from wasm_host.guest import Guest
from wasm_host.native import Pipeline
from wasm_host.result import BatchResult

# What the guest itself decided; every other code means that it broke.
_OWN_CODES = (FailureCode.GUEST_FAILURE,)
_TRAP_CODES = frozenset(
    code
    for code in FailureCode
    if code.startswith("TRAP_")
    or code in (FailureCode.GUEST_ABORT, FailureCode.FUEL_EXHAUSTED, FailureCode.MEMORY_LIMIT, FailureCode.ALLOC_FAILED)
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One event's outcome: outputs, or none (a drop), or a failure with its code and the guest's words."""

    outputs: tuple[bytes | None, ...] = ()
    code: str | None = None
    words: str | None = None
    message: str | None = None

    @property
    def is_trap(self) -> bool:
        """Whether the guest broke off: a trap, an abort, or out of fuel or memory."""
        return self.code in _TRAP_CODES

    @property
    def is_breach(self) -> bool:
        """Whether the answer broke the contract."""
        return self.code is not None and self.code not in _OWN_CODES and not self.is_trap

    def describe(self) -> str:
        """The verdict in a few words."""
        if self.code is not None:
            return f"failure {self.code}" + (f': "{self.words}"' if self.words else "")
        if not self.outputs:
            return "dropped"
        return "1 event" if len(self.outputs) == 1 else f"{len(self.outputs)} events"

    def same_as(self, other: "Outcome") -> bool:
        """Same outputs byte for byte, or the same failure in the same words."""
        return (self.outputs, self.code, self.words) == (other.outputs, other.code, other.words)


def outcomes_of(result: BatchResult, count: int) -> list[Outcome]:
    """Sort a result by input row."""
    outputs: list[list[bytes | None]] = [[] for _ in range(count)]
    for row, event in zip(result.rows.to_pylist(), result.events.to_pylist(), strict=True):
        outputs[row].append(event)
    outcomes = [Outcome(tuple(events)) for events in outputs]
    for failure in result.failures:
        outcomes[failure.row] = Outcome(code=str(failure.code), words=failure.guest_text, message=failure.message)
    return outcomes


def run_all(guest: Guest | Pipeline, events: Sequence[bytes]) -> list[Outcome]:
    """Run events as one batch."""
    return outcomes_of(guest.transform(events), len(events))


def run_one(guest: Guest | Pipeline, event: bytes) -> Outcome:
    """Run one event as a batch of its own."""
    return run_all(guest, [event])[0]
