"""Every trap of wasmtime has a code here, so that an upgrade cannot add one unseen."""

import pytest
import wasmtime

from abi.failures import FailureCode
from wasm_host.traps import TRAP_FAILURES, TrapReport, first_line

GROUPED = {
    "ALLOCATION_TOO_LARGE",
    "ARRAY_OUT_OF_BOUNDS",
    "ASYNC_DEADLOCK",
    "ATOMIC_WAIT_NON_SHARED_MEMORY",
    "BACKPRESSURE_OVERFLOW",
    "CANNOT_BLOCK_SYNC_TASK",
    "CANNOT_ENTER_COMPONENT",
    "CANNOT_LEAVE_COMPONENT",
    "CANNOT_RESUME_THREAD",
    "CAST_FAILURE",
    "CONCURRENT_FUTURE_STREAM_OP",
    "CONTINUATION_ALREADY_CONSUMED",
    "DEBUG_ASSERT_EQUAL_CODE_UNITS",
    "DEBUG_ASSERT_POINTER_ALIGNED",
    "DEBUG_ASSERT_STRING_ENCODING_FINISHED",
    "DEBUG_ASSERT_UPPER_BITS_UNSET",
    "DISABLED_OPCODE",
    "HEAP_MISALIGNED",
    "INTERRUPT",
    "INVALID_CHAR",
    "INVALID_DISCRIMINANT",
    "LIST_OUT_OF_BOUNDS",
    "NO_ASYNC_RESULT",
    "NULL_REFERENCE",
    "REFERENCE_COUNT_OVERFLOW",
    "STREAM_OP_TOO_BIG",
    "STRING_OUT_OF_BOUNDS",
    "SUBTASK_CANCEL_AFTER_TERMINAL",
    "SUBTASK_DROP_NOT_RESOLVED",
    "TASK_CANCEL_NOT_CANCELLED",
    "TASK_CANCEL_OR_RETURN_TWICE",
    "TASK_RETURN_INVALID",
    "THREAD_NEW_INDIRECT_INVALID_TYPE",
    "THREAD_NEW_INDIRECT_UNINITIALIZED",
    "UNALIGNED_POINTER",
    "UNCAUGHT_EXCEPTION",
    "UNHANDLED_TAG",
    "UNSUPPORTED_CALLBACK_CODE",
    "WAITABLE_SET_DROP_HAS_WAITERS",
    "WAITABLE_SYNC_AND_ASYNC",
}
"""Need threads, garbage collection, exceptions or components, which are off; and the wall clock, no event's failure."""


def trap(code: str = "(unreachable)") -> wasmtime.Trap:
    store = wasmtime.Store()
    module = wasmtime.Module(store.engine, f'(module (memory 1) (func (export "f") {code}))')
    function = wasmtime.Instance(store, module, []).exports(store)["f"]
    assert isinstance(function, wasmtime.Func)
    with pytest.raises(wasmtime.Trap) as caught:
        function(store)
    return caught.value


@pytest.mark.parametrize("code", list(wasmtime.TrapCode), ids=lambda code: code.name)
def test_every_trap_code_is_mapped(code: wasmtime.TrapCode) -> None:
    assert isinstance(TRAP_FAILURES[code], FailureCode)


def test_codes_without_a_name_of_their_own_are_the_ones_that_guests_cannot_raise() -> None:
    grouped = {code.name for code, failure in TRAP_FAILURES.items() if failure is FailureCode.TRAP_OTHER}
    assert grouped == GROUPED, "wasmtime has another list: decide on the new ones in traps.py, then note them here"


def test_trap_is_told_by_its_sentence_and_code() -> None:
    words = "wasm `unreachable` instruction executed"
    assert TrapReport.of(trap()) == TrapReport(FailureCode.TRAP_UNREACHABLE, words, is_interrupt=False)


def test_sentence_is_found_behind_other_causes() -> None:
    assert TrapReport.of(trap("(drop (i32.load (i32.const -4)))")).words == "out of bounds memory access"


def test_trap_without_a_code_is_other() -> None:
    for text in ("something\nelse", "another\nthing"):
        assert TrapReport.of(wasmtime.Trap(text)) == TrapReport(FailureCode.TRAP_OTHER, text.split()[0], False)


def test_first_line_of_an_error_without_words_is_its_type() -> None:
    assert first_line(ValueError("")) == "ValueError"
    assert first_line(ValueError("x" * 1000)) == "x" * 300
