"""The vectors again, this time as answers of a guest to the real host."""

from collections.abc import Iterator
from typing import Any

import pytest
import wasmtime

import wasm_host
from abi import ConfigRefused, Event, ResultKind
from abi.failures import FailureCode
from tests.conformance.puppet import INPUT_AT, MEMORY_BYTES, PUPPET_WASM, answer_with, answer_with_bytes
from tests.unit.abi.test_vectors import from_json
from tests.vectors import load_vectors, vector_params

HEALTHY = Event(table="healthy").SerializeToString()


@pytest.fixture(scope="module")
def puppet() -> Iterator[Any]:
    with wasm_host.load(PUPPET_WASM) as guest:
        yield guest


def outcome_between_healthy_events(puppet: Any, event: bytes) -> tuple[list[bytes], list[str]]:
    """Outputs and failure codes of one input, run between two that go well and must not notice."""
    healthy = answer_with_bytes(ResultKind.EVENT, HEALTHY)
    result = puppet.transform([healthy, event, healthy])
    rows, outputs = result.rows.to_pylist(), result.events.to_pylist()
    assert (outputs[0], outputs[-1]) == (HEALTHY, HEALTHY)
    assert (rows[0], rows[-1]) == (0, 2)
    assert {failure.row for failure in result.failures} <= {1}
    assert set(rows[1:-1]) <= {1}
    return outputs[1:-1], [failure.code for failure in result.failures]


@pytest.mark.parametrize("vector", vector_params("valid", "events"))
def test_host_takes_a_valid_event_byte_for_byte(puppet: Any, vector: dict[str, Any]) -> None:
    event = bytes.fromhex(vector["hex"])
    # The message without any field is an event, but an answer without bytes is none; only a stream can hold it.
    expected = ([event], []) if event else ([], [FailureCode.RESULT_EMPTY])
    assert outcome_between_healthy_events(puppet, answer_with_bytes(ResultKind.EVENT, event)) == expected


@pytest.mark.parametrize("vector", vector_params("invalid", "events"))
def test_host_refuses_what_is_no_event(puppet: Any, vector: dict[str, Any]) -> None:
    answer = answer_with_bytes(ResultKind.EVENT, bytes.fromhex(vector["hex"]))
    assert outcome_between_healthy_events(puppet, answer) == ([], [vector["code"]])


@pytest.mark.parametrize("vector", vector_params("valid", "streams"))
def test_host_splits_a_stream_into_its_events(puppet: Any, vector: dict[str, Any]) -> None:
    answer = answer_with_bytes(ResultKind.SEVERAL, bytes.fromhex(vector["hex"]))
    assert outcome_between_healthy_events(puppet, answer) == ([bytes.fromhex(event) for event in vector["events"]], [])


@pytest.mark.parametrize("vector", vector_params("invalid", "streams"))
def test_host_refuses_a_broken_stream_as_a_whole(puppet: Any, vector: dict[str, Any]) -> None:
    answer = answer_with_bytes(ResultKind.SEVERAL, bytes.fromhex(vector["hex"]))
    assert outcome_between_healthy_events(puppet, answer) == ([], [vector["code"]])


@pytest.mark.parametrize("vector", vector_params("invalid", "packed_results"))
def test_host_refuses_an_answer_that_breaks_the_contract(puppet: Any, vector: dict[str, Any]) -> None:
    assert (vector["memory_bytes"], vector["input_pointer"]) == (MEMORY_BYTES, INPUT_AT)
    answer = answer_with(int(vector["hex"], 16), length=vector["input_length"])
    assert outcome_between_healthy_events(puppet, answer) == ([], [vector["code"]])


def packed_result(desc: str) -> int:
    (vector,) = (vector for vector in load_vectors("valid")["packed_results"] if vector["desc"] == desc)
    return int(vector["hex"], 16)


def test_host_drops_the_event_for_0(puppet: Any) -> None:
    answer = answer_with(packed_result("drop the event"))
    assert outcome_between_healthy_events(puppet, answer) == ([], [])
    assert puppet.transform([answer]).stats.events_dropped == 1


def test_host_takes_a_failure_with_and_without_a_message(puppet: Any) -> None:
    with_text = answer_with(packed_result("the event failed, message of 5 bytes at 4096"), b"sorry")
    without = answer_with(packed_result("the event failed, without a message"))
    result = puppet.transform([with_text, without])
    assert [failure.code for failure in result.failures] == [FailureCode.GUEST_FAILURE] * 2
    assert [failure.guest_text or None for failure in result.failures] == ["sorry", None]


def test_host_refuses_the_highest_pointer_because_no_memory_is_so_large(puppet: Any) -> None:
    answer = answer_with(packed_result("highest pointer and length that the format can carry"))
    assert outcome_between_healthy_events(puppet, answer) == ([], [FailureCode.RESULT_OUT_OF_BOUNDS])


def guest_that_wants(configuration: bytes) -> bytes:
    """A guest whose init accepts exactly these bytes."""
    data = "".join(f"\\{byte:02x}" for byte in configuration)
    return bytes(
        wasmtime.wat2wasm(f"""
        (module
          (memory (export "memory") 1)
          (data (i32.const 64) "{data}")
          (func (export "wasm_host_abi_version") (result i32) (i32.const 1))
          (func (export "alloc") (param i32) (result i32) (i32.const 4096))
          (func (export "dealloc") (param i32 i32))
          (func (export "transform") (param i32 i32) (result i64) (i64.const 0))
          (func (export "init") (param $ptr i32) (param $len i32) (result i32)
            (local $i i32)
            (if (i32.ne (local.get $len) (i32.const {len(configuration)})) (then (return (i32.const 1))))
            (loop $next
              (if (i32.ne
                    (i32.load8_u (i32.add (local.get $ptr) (local.get $i)))
                    (i32.load8_u offset=64 (local.get $i)))
                (then (return (i32.const 2))))
              (local.set $i (i32.add (local.get $i) (i32.const 1)))
              (br_if $next (i32.lt_u (local.get $i) (local.get $len))))
            (i32.const 0)))
        """)
    )


@pytest.mark.parametrize("vector", vector_params("valid", "configurations"))
def test_host_hands_over_the_configuration_byte_for_byte(vector: dict[str, Any]) -> None:
    with wasm_host.load(guest_that_wants(bytes.fromhex(vector["hex"])), config=from_json(vector["value"])) as guest:
        assert guest.transform([HEALTHY]).stats.events_dropped == 1


def test_host_sends_the_empty_map_when_there_is_no_configuration() -> None:
    with wasm_host.load(guest_that_wants(b"\x80")) as guest:
        assert guest.transform([HEALTHY]).failures == []


def test_refusals_of_configurations_are_for_guests_to_make() -> None:
    assert {vector["code"] for vector in load_vectors("invalid")["configurations"]} == {ConfigRefused.code}
