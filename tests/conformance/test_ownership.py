"""The order of calls in the life of an instance and of an event: sections 1 and 5 of the spec.

The guest logs each call as a letter, the block it is about (in units of 4096) and its size.
"""

import pytest
import wasmtime

import wasm_host
from abi import Event

EVENT = Event(table="a").SerializeToString()  # three bytes
INPUT, OUTPUT = 4096, 8192


def tracing_guest(transform: str, *, status: int = 0) -> bytes:
    """A guest whose blocks lie at 1 (input), 2 (output) and whose `transform` is the given text."""
    return bytes(
        wasmtime.wat2wasm(f"""
        (module
          (import "env" "log" (func $log (param i32 i32 i32)))
          (memory (export "memory") 1)
          (data (i32.const {OUTPUT}) "\\3a\\01b\\03\\3a\\01c")
          (func $trace (param $letter i32) (param $ptr i32) (param $size i32)
            (i32.store8 (i32.const 16) (local.get $letter))
            (i32.store8 (i32.const 17) (i32.add (i32.const 48) (i32.shr_u (local.get $ptr) (i32.const 12))))
            (i32.store8 (i32.const 18) (i32.add (i32.const 48) (local.get $size)))
            (call $log (i32.const 2) (i32.const 16) (i32.const 3)))
          (func (export "_initialize") (call $trace (i32.const 0x53) (i32.const 0) (i32.const 0)))
          (func (export "wasm_host_abi_version") (result i32)
            (call $trace (i32.const 0x56) (i32.const 0) (i32.const 0)) (i32.const 1))
          (func (export "init") (param i32 i32) (result i32)
            (call $trace (i32.const 0x49) (local.get 0) (local.get 1)) (i32.const {status}))
          (func (export "shutdown") (result i32) unreachable)
          (func (export "alloc") (param i32) (result i32)
            (call $trace (i32.const 0x41) (i32.const {INPUT}) (local.get 0)) (i32.const {INPUT}))
          (func (export "dealloc") (param i32 i32)
            (call $trace (i32.const 0x44) (local.get 0) (local.get 1)))
          (func (export "transform") (param $ptr i32) (param $len i32) (result i64)
            (call $trace (i32.const 0x54) (local.get $ptr) (local.get $len))
            {transform}))
        """)
    )


def packed(kind: int, pointer: int, length: int) -> str:
    return f"(i64.const {(kind << 62) - (1 << 64 if kind >= 2 else 0) | pointer << 32 | length})"


def calls_for_one_event(transform: str) -> list[str]:
    with wasm_host.load(tracing_guest(transform)) as guest:
        result = guest.transform([EVENT])
    return [line.text for line in result.logs if line.row == 0]


def test_instance_is_brought_up_in_order_with_the_empty_map() -> None:
    with wasm_host.load(tracing_guest("(i64.const 0)")) as guest:
        result = guest.transform([EVENT])
    assert [line.text for line in result.logs if line.row is None] == ["S00", "V00", "A11", "I11", "D11"]


@pytest.mark.parametrize(
    ("transform", "calls"),
    [
        pytest.param("(i64.const 0)", ["A13", "T13", "D13"], id="dropped"),
        pytest.param(packed(0, OUTPUT, 3), ["A13", "T13", "D13", "D23"], id="one event: input freed first"),
        pytest.param(packed(1, OUTPUT + 3, 4), ["A13", "T13", "D13", "D24"], id="several events"),
        pytest.param(packed(0, INPUT, 3), ["A13", "T13", "D13"], id="handed back: freed once"),
        pytest.param(packed(2, INPUT, 2), ["A13", "T13", "D13"], id="handed back shorter: freed with its own size"),
        pytest.param(packed(2, OUTPUT, 3), ["A13", "T13", "D13", "D23"], id="failure with a message"),
        pytest.param(packed(2, 0, 0), ["A13", "T13", "D13"], id="failure without a message"),
    ],
)
def test_blocks_are_freed_in_the_order_and_with_the_sizes_of_the_spec(transform: str, calls: list[str]) -> None:
    assert calls_for_one_event(transform) == calls


@pytest.mark.parametrize(
    "transform", [packed(3, OUTPUT, 3), packed(0, 0, 3), packed(0, 65536, 1), packed(0, INPUT + 1, 2)]
)
def test_nothing_is_called_after_an_answer_that_breaks_the_contract(transform: str) -> None:
    assert calls_for_one_event(transform) == ["A13", "T13"]


def test_answer_survives_the_freeing_of_the_input() -> None:
    with wasm_host.load(tracing_guest(packed(0, OUTPUT, 3))) as guest:
        assert guest.transform([EVENT]).events.to_pylist() == [Event(table="b").SerializeToString()]


def test_trap_in_shutdown_does_not_touch_answered_events() -> None:
    guest = wasm_host.load(tracing_guest(packed(0, INPUT, 3)))
    result = guest.transform([EVENT])
    guest.close()
    assert (result.events.to_pylist(), result.failures) == ([EVENT], [])


def test_init_that_refuses_stops_the_load() -> None:
    with pytest.raises(wasm_host.InitError, match=r"^\[INIT_REFUSED\] .*status 7"):
        wasm_host.load(tracing_guest("(i64.const 0)", status=7)).transform([EVENT])


def test_empty_event_is_allocated_with_size_0() -> None:
    with wasm_host.load(tracing_guest("(i64.const 0)")) as guest:
        result = guest.transform([b""])
    assert [line.text for line in result.logs if line.row == 0] == ["A10", "T10", "D10"]
