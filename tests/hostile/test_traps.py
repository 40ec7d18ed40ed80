"""Every trap that WebAssembly can raise under the proposals guests have, each with its own code."""

import pytest

import wasm_host
from abi.failures import FailureCode
from tests.hostile.containment import assert_contained, assert_refused
from tests.hostile.wat_guest import SPIN, build, on_poison
from wasm_host import GuestTrapError, Limits
from wasm_host.traps import TRAP_FAILURES

TABLE = """(type $nothing (func)) (type $number (func (result i32)))
  (func $one (result i32) (i32.const 1)) (table $t 4 4 funcref) (elem (table $t) (i32.const 0) func $one)"""

TRAPS: dict[str, tuple[str, str, str]] = {
    "unreachable": ("(unreachable)", "TRAP_UNREACHABLE", "unreachable"),
    "load": ("(drop (i32.load (i32.const -4)))", "TRAP_MEMORY_OUT_OF_BOUNDS", "out of bounds memory"),
    "load-with-offset": ("(drop (i64.load offset=0xfffffff0 (i32.const -1)))", "TRAP_MEMORY_OUT_OF_BOUNDS", "memory"),
    "store-across-the-end": ("(i64.store (i32.const 131065) (i64.const 0))", "TRAP_MEMORY_OUT_OF_BOUNDS", "memory"),
    "vector-load": ("(drop (v128.load (i32.const 131057)))", "TRAP_MEMORY_OUT_OF_BOUNDS", "memory"),
    "memory-fill": ("(memory.fill (i32.const 0) (i32.const 0) (i32.const -1))", "TRAP_MEMORY_OUT_OF_BOUNDS", "memory"),
    "memory-copy": (
        "(memory.copy (i32.const 0) (i32.const 131072) (i32.const 1))",
        "TRAP_MEMORY_OUT_OF_BOUNDS",
        "memory",
    ),
    "memory-init": (
        "(memory.init $d (i32.const 0) (i32.const 0) (i32.const 99))",
        "TRAP_MEMORY_OUT_OF_BOUNDS",
        "memory",
    ),
    "call-outside-table": ("(call_indirect $t (type $nothing) (i32.const 4))", "TRAP_TABLE_OUT_OF_BOUNDS", "table"),
    "table-get": ("(drop (table.get $t (i32.const 4)))", "TRAP_TABLE_OUT_OF_BOUNDS", "table"),
    "table-fill": ("(table.fill $t (i32.const 0) (ref.null func) (i32.const 5))", "TRAP_TABLE_OUT_OF_BOUNDS", "table"),
    "call-to-null": ("(call_indirect $t (type $nothing) (i32.const 1))", "TRAP_INDIRECT_CALL_TO_NULL", "uninitialized"),
    "call-of-another-type": ("(call_indirect $t (type $nothing) (i32.const 0))", "TRAP_BAD_SIGNATURE", "mismatch"),
    "divide-by-zero": (
        "(drop (i32.div_u (i32.const 1) (i32.sub (local.get $len) (local.get $len))))",
        "TRAP_INTEGER_DIVISION_BY_ZERO",
        "divide by zero",
    ),
    "remainder-by-zero": (
        "(drop (i64.rem_s (i64.const 1) (i64.extend_i32_u (i32.sub (local.get $len) (local.get $len)))))",
        "TRAP_INTEGER_DIVISION_BY_ZERO",
        "divide by zero",
    ),
    "smallest-by-minus-one": (
        "(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))",
        "TRAP_INTEGER_OVERFLOW",
        "integer overflow",
    ),
    "float-too-large": ("(drop (i32.trunc_f64_s (f64.const 1e300)))", "TRAP_INTEGER_OVERFLOW", "integer overflow"),
    "not-a-number": ("(drop (i64.trunc_f32_u (f32.const nan)))", "TRAP_BAD_CONVERSION_TO_INTEGER", "conversion"),
    "stack": ("(call $down)", "TRAP_STACK_OVERFLOW", "max_stack_bytes"),
    "fuel": (SPIN, "FUEL_EXHAUSTED", "fuel_per_event"),
}


@pytest.mark.parametrize("name", TRAPS)
def test_trap_fails_the_event_with_its_own_code(name: str) -> None:
    code, expected, says = TRAPS[name]
    wasm = build(extra=f'{TABLE} (data $d "abc") (func $down (call $down))', transform=on_poison(code))
    failure = assert_contained(wasm, expected, says=(says,), limits=Limits(fuel_per_event=2_000_000))
    assert failure.fuel is not None


def test_every_trap_code_with_a_name_is_raised_here() -> None:
    raised = {expected for _, expected, _ in TRAPS.values()}
    assert raised == {str(code) for code in TRAP_FAILURES.values()} - {FailureCode.TRAP_OTHER}


@pytest.mark.parametrize(
    ("parts", "stage"),
    [
        ({"start": "(unreachable)"}, "start"),
        ({"initialize": "(unreachable)"}, "_initialize"),
        ({"version": "(unreachable)"}, "wasm_host_abi_version"),
        ({"init": "(unreachable)"}, "init"),
        ({"init": "(i32.const 0)", "alloc": "(unreachable)"}, "alloc"),
        ({"init": "(i32.const 0)", "dealloc": "(unreachable)"}, "dealloc"),
    ],
    ids=["start", "_initialize", "abi_version", "init", "alloc", "dealloc"],
)
def test_trap_before_the_guest_is_ready_is_refused_with_the_export(parts: dict[str, str], stage: str) -> None:
    error = assert_refused(build(**parts), GuestTrapError, says=("unreachable", f"export {stage})"))
    assert (error.details["trap"], error.details["stage"]) == ("TRAP_UNREACHABLE", stage)


def test_data_segment_outside_memory_is_refused_as_a_trap_at_start() -> None:
    wasm = build(extra='(data (i32.const 131070) "abcdef")')
    assert_refused(wasm, GuestTrapError, says=("out of bounds memory access", "export start"))


def test_element_segment_outside_its_table_is_refused_as_a_trap_at_start() -> None:
    wasm = build(extra="(table 1 funcref) (elem (i32.const 9) func $take)")
    assert_refused(wasm, GuestTrapError, says=("out of bounds table access", "export start"))


def test_trap_in_shutdown_is_noted() -> None:
    guest = wasm_host.load(build(shutdown="(unreachable)"))
    guest.close()
    assert guest.shutdown_failure is not None
    assert "`unreachable` instruction executed" in guest.shutdown_failure


def test_status_of_shutdown_is_noted() -> None:
    guest = wasm_host.load(build(shutdown="(i32.const 9)"))
    guest.close()
    assert guest.shutdown_failure is not None
    assert "shutdown returned 9" in guest.shutdown_failure
