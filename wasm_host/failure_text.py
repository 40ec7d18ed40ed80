"""The one-line message of an event's failure: what was seen, what is allowed, what to change."""

from typing import TYPE_CHECKING

from abi.failures import FailureCode
from wasm_host.limits import WASM_PAGE_BYTES
from wasm_host.result import Failure
from wasm_host.startup_errors import words_of
from wasm_host.traps import TrapReport

if TYPE_CHECKING:
    from wasm_host.instance import GuestInstance

# What a guest does when it cannot get memory: it gives up, or it uses the -1 that memory.grow returned.
_SIGNS_OF_FULL_MEMORY = frozenset({FailureCode.TRAP_UNREACHABLE, FailureCode.TRAP_MEMORY_OUT_OF_BOUNDS})


def describe_trap(instance: "GuestInstance", trap: TrapReport, *, row: int, fuel: int) -> Failure:
    """The failure of an event whose guest trapped, alone on a fresh instance."""
    limits, state, code = instance.recipe.limits, instance.state, trap.code
    if code is FailureCode.FUEL_EXHAUSTED:
        what = f"the event used more than fuel_per_event, which is {limits.fuel_per_event:,}"
        return _failure(instance, code, f"{what}, in export {instance.stage}", row, fuel)
    if state.aborted:
        where = f"line {state.abort_line}, column {state.abort_column}"
        return _failure(instance, FailureCode.GUEST_ABORT, f"the guest aborted at {where}", row, fuel)
    if code is FailureCode.TRAP_STACK_OVERFLOW:
        what = (
            f"the guest overflowed its stack in export {instance.stage}; max_stack_bytes is {limits.max_stack_bytes:,}"
        )
        return _failure(instance, code, what, row, fuel)
    if code in _SIGNS_OF_FULL_MEMORY and _is_memory_full(instance):
        return _failure(instance, FailureCode.MEMORY_LIMIT, _memory_message(instance, trap.words), row, fuel)
    return _failure(instance, code, f"the guest trapped in export {instance.stage}: {trap.words}", row, fuel)


def describe_contract_failure(instance: "GuestInstance", code: FailureCode, *, row: int, fuel: int) -> Failure:
    """The failure of an event whose answer breaks the contract or a limit of the output."""
    limits, state = instance.recipe.limits, instance.state
    if code is FailureCode.ALLOC_FAILED and _is_memory_full(instance):
        return _failure(instance, FailureCode.MEMORY_LIMIT, _memory_message(instance, "alloc returned 0"), row, fuel)
    answer = f"pointer {state.answer_ptr:,}, {state.answer_bytes:,} bytes"
    message = {
        FailureCode.OUTPUT_TOO_LARGE: (
            f"the answer has {state.answer_bytes:,} bytes; max_output_bytes_per_event is "
            f"{limits.max_output_bytes_per_event:,}"
        ),
        FailureCode.TOO_MANY_OUTPUT_EVENTS: (
            f"the answer holds more events than max_output_events_per_event, which is "
            f"{limits.max_output_events_per_event:,}"
        ),
        FailureCode.ALLOC_OUT_OF_BOUNDS: f"alloc returned a block ({answer}) that is not all inside the memory",
        FailureCode.RESULT_OUT_OF_BOUNDS: f"the answer ({answer}) is not all inside the memory",
        FailureCode.OUTPUT_NOT_AN_EVENT: f"the answer ({answer}) holds bytes that are not an Event",
        FailureCode.STREAM_MALFORMED: f"the answer of kind 1 ({answer}) is not a sequence of lengths and events",
        FailureCode.RESULT_OVERLAPS_INPUT: f"the answer ({answer}) overlaps the input block without being it",
    }.get(code, code.meaning)
    return _failure(instance, code, f"{message}; guest memory is {instance.guest_memory_bytes:,} bytes", row, fuel)


def _failure(instance: "GuestInstance", code: FailureCode, message: str, row: int, fuel: int) -> Failure:
    words = words_of(instance.last_line(), instance.state, instance.recipe.limits.max_error_message_bytes)
    said = f'; the guest says: "{words}"' if words else ""
    hint = f"; hint: raise Limits.{code.limit_field}" if code.limit_field else ""
    full = f"{message} (module {instance.recipe.module.digest[:12]}){said}{hint}"
    return Failure(row, str(code), full, words, fuel)


def _is_memory_full(instance: "GuestInstance") -> bool:
    """Whether the guest's memory cannot grow by even one page under its limit."""
    return instance.guest_memory_bytes + WASM_PAGE_BYTES > instance.recipe.limits.max_memory_bytes


def _memory_message(instance: "GuestInstance", sign: str) -> str:
    limit = instance.recipe.limits.max_memory_bytes
    return f"the guest's memory is full: {instance.guest_memory_bytes:,} of max_memory_bytes={limit:,}; then {sign}"
