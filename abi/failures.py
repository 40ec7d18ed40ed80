"""The stable codes of an event's failure, each with its meaning, once, as data.

A failure belongs to one event of a batch: the other events are not touched by it. Errors that end a whole call are
exceptions (see `abi.errors` and `wasm_host.errors`), not codes of this table. `SPEC.md` prints the table under
"Failure codes", `docs/errors.md` adds cause and cure; tests hold both complete.
"""

from enum import StrEnum
from types import MappingProxyType
from typing import Final


class FailureCode(StrEnum):
    """Why one event has no output. The member's value is the text that a failure record carries.

    >>> FailureCode.FUEL_EXHAUSTED == "FUEL_EXHAUSTED", FailureCode.FUEL_EXHAUSTED.limit_field
    (True, 'fuel_per_event')
    """

    meaning: str
    """One line for people."""
    limit_field: str | None
    """The field of `Limits` that decided, where one did; the failure's message names it too."""

    def __new__(cls, value: str, meaning: str, limit_field: str | None = None) -> "FailureCode":
        """Make a member whose string value is the code alone."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.limit_field = limit_field
        return member

    # The guest's own decision.
    GUEST_FAILURE = "GUEST_FAILURE", "the guest answered that this event failed (an answer of kind 2)"
    GUEST_ABORT = "GUEST_ABORT", "the guest called env.abort"

    # WebAssembly traps.
    TRAP_UNREACHABLE = "TRAP_UNREACHABLE", "the guest executed an unreachable instruction (a panic, an assertion)"
    TRAP_MEMORY_OUT_OF_BOUNDS = "TRAP_MEMORY_OUT_OF_BOUNDS", "the guest touched an address outside its memory"
    TRAP_STACK_OVERFLOW = "TRAP_STACK_OVERFLOW", "the guest's calls nested deeper than its stack", "max_stack_bytes"
    TRAP_INTEGER_DIVISION_BY_ZERO = "TRAP_INTEGER_DIVISION_BY_ZERO", "the guest divided an integer by zero"
    TRAP_INTEGER_OVERFLOW = "TRAP_INTEGER_OVERFLOW", "the guest divided the smallest integer by -1"
    TRAP_BAD_CONVERSION_TO_INTEGER = (
        "TRAP_BAD_CONVERSION_TO_INTEGER",
        "the guest converted a float that is NaN or out of range to an integer",
    )
    TRAP_TABLE_OUT_OF_BOUNDS = "TRAP_TABLE_OUT_OF_BOUNDS", "the guest used an index outside its table"
    TRAP_INDIRECT_CALL_TO_NULL = "TRAP_INDIRECT_CALL_TO_NULL", "the guest called a function reference that is null"
    TRAP_BAD_SIGNATURE = "TRAP_BAD_SIGNATURE", "the guest called a function reference of another type"
    TRAP_OTHER = "TRAP_OTHER", "the guest trapped for a reason that has no code of its own; the message names it"

    # Limits.
    FUEL_EXHAUSTED = "FUEL_EXHAUSTED", "the event used up its fuel on an instance of its own", "fuel_per_event"
    MEMORY_LIMIT = "MEMORY_LIMIT", "the guest needed more memory than it may have", "max_memory_bytes"
    INPUT_TOO_LARGE = "INPUT_TOO_LARGE", "the input event cannot fit the memory a guest may have", "max_memory_bytes"
    OUTPUT_TOO_LARGE = (
        "OUTPUT_TOO_LARGE",
        "the answer is longer than one event's output may be",
        "max_output_bytes_per_event",
    )
    TOO_MANY_OUTPUT_EVENTS = (
        "TOO_MANY_OUTPUT_EVENTS",
        "the answer holds more events than one may become",
        "max_output_events_per_event",
    )

    # Broken contract.
    ALLOC_FAILED = "ALLOC_FAILED", "alloc returned 0, which means that it has no memory left"
    ALLOC_OUT_OF_BOUNDS = "ALLOC_OUT_OF_BOUNDS", "alloc returned a block that does not lie inside the guest's memory"
    RESULT_OUT_OF_BOUNDS = "RESULT_OUT_OF_BOUNDS", "the answer's block does not lie inside the guest's memory"
    RESULT_OVERLAPS_INPUT = (
        "RESULT_OVERLAPS_INPUT",
        "the answer's block overlaps the input without being the input handed back",
    )
    RESULT_RESERVED_KIND = "RESULT_RESERVED_KIND", "the answer is of kind 3, which is reserved"
    RESULT_EMPTY = "RESULT_EMPTY", "the answer is of kind 0 or 1 with a null pointer or without bytes"
    OUTPUT_NOT_AN_EVENT = "OUTPUT_NOT_AN_EVENT", "the output does not parse as an Event"
    STREAM_MALFORMED = "STREAM_MALFORMED", "the answer of kind 1 is not a sequence of lengths and messages"

    # Conversion for a dialect that does not read protobuf.
    INPUT_NOT_AN_EVENT = "INPUT_NOT_AN_EVENT", "the input is not an event that can be converted for this guest"

    # Transforms in plain Python.
    NATIVE_EXCEPTION = "NATIVE_EXCEPTION", "a transform in plain Python raised an exception"


DRIVER_CODES: Final = MappingProxyType(
    {
        1: FailureCode.GUEST_FAILURE,
        2: FailureCode.ALLOC_FAILED,
        3: FailureCode.ALLOC_OUT_OF_BOUNDS,
        4: FailureCode.RESULT_OUT_OF_BOUNDS,
        5: FailureCode.RESULT_OVERLAPS_INPUT,
        6: FailureCode.RESULT_RESERVED_KIND,
        7: FailureCode.RESULT_EMPTY,
        8: FailureCode.OUTPUT_TOO_LARGE,
        9: FailureCode.TOO_MANY_OUTPUT_EVENTS,
        10: FailureCode.OUTPUT_NOT_AN_EVENT,
        11: FailureCode.STREAM_MALFORMED,
    }
)
"""The number that the in-wasm driver writes for each failure that it finds itself."""
