"""rustcdc's JSON, as a guest of its dialect reads and writes it, against the vectors."""

from typing import Any

import pytest
import wasmtime

import wasm_host
from abi import Event
from tests.vectors import vector_params

ANY_EVENT = Event(op=1, table="any").SerializeToString()


def rustcdc_guest(answer: bytes, *, wants: bytes = b"") -> bytes:
    """A module that answers every event with these bytes; with `wants`, it traps on any other input."""
    answer_data, wanted_data = ("".join(f"\\{byte:02x}" for byte in data) for data in (answer, wants))
    return bytes(
        wasmtime.wat2wasm(f"""
        (module
          (memory (export "memory") 1)
          (data (i32.const 4096) "{answer_data}")
          (data (i32.const 16384) "{wanted_data}")
          (func (export "rustcdc_abi_version") (result i32) (i32.const 2))
          (func (export "alloc") (param i32) (result i32) (i32.const 32768))
          (func (export "dealloc") (param i32 i32))
          (func (export "transform") (param $ptr i32) (param $len i32) (result i64)
            (local $i i32)
            (if (i32.const {len(wants)})
              (then
                (if (i32.ne (local.get $len) (i32.const {len(wants)})) (then unreachable))
                (loop $next
                  (if (i32.ne
                        (i32.load8_u (i32.add (local.get $ptr) (local.get $i)))
                        (i32.load8_u offset=16384 (local.get $i)))
                    (then unreachable))
                  (local.set $i (i32.add (local.get $i) (i32.const 1)))
                  (br_if $next (i32.lt_u (local.get $i) (local.get $len))))))
            (i64.const {(4096 << 32) | len(answer)})))
        """)
    )


@pytest.mark.parametrize("vector", vector_params("valid", "rustcdc_events"))
def test_event_crosses_as_the_json_it_says_and_comes_back(vector: dict[str, Any]) -> None:
    event, text = bytes.fromhex(vector["hex"]), vector["json"].encode()
    is_written_so = not vector.get("reads_only")
    with wasm_host.load(rustcdc_guest(text, wants=text if is_written_so else b"")) as guest:
        result = guest.transform([event if is_written_so else ANY_EVENT])
    assert result.failures == []
    assert [Event.FromString(output) for output in result.events.to_pylist()] == [Event.FromString(event)]


@pytest.mark.parametrize("vector", vector_params("invalid", "rustcdc_outputs"))
def test_output_that_is_no_event_is_that_events_failure(vector: dict[str, Any]) -> None:
    with wasm_host.load(rustcdc_guest(bytes.fromhex(vector["hex"]))) as guest:
        result = guest.transform([None, ANY_EVENT])
    assert [(failure.row, failure.code) for failure in result.failures] == [(1, vector["code"])]
    assert result.events.to_pylist() == [None]


@pytest.mark.parametrize("vector", vector_params("invalid", "rustcdc_inputs"))
def test_input_that_cannot_be_converted_never_reaches_the_guest(vector: dict[str, Any]) -> None:
    with wasm_host.load(rustcdc_guest(b"x", wants=b"nothing")) as guest:
        result = guest.transform([bytes.fromhex(vector["hex"])])
    assert [(failure.row, failure.code) for failure in result.failures] == [(0, vector["code"])]
    assert len(result.events) == 0
