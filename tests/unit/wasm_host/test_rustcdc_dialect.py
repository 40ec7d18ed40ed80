"""rustcdc's ABI version 2: JSON in and out, the same driver, the same law."""

import json
from typing import Any

import pyarrow as pa
import pytest

import wasm_host
from abi import Event, Operation
from tests.hostile.wat_guest import build
from wasm_host import ISOLATIONS, ContractError, Isolation, Limits

# The packed answer of that ABI has no kinds: 32 bits of pointer, 32 bits of length.
ANSWER = """(func $answer (param $ptr i32) (param $len i32) (result i64)
  (i64.or (i64.shl (i64.extend_i32_u (local.get $ptr)) (i64.const 32)) (i64.extend_i32_u (local.get $len))))"""
COPY_FUNCTION = """(func $copy (param $ptr i32) (param $len i32) (result i64)
  (local $out i32) (local.set $out (call $take (local.get $len)))
  (if (i32.eqz (local.get $out)) (then (unreachable)))
  (memory.copy (local.get $out) (local.get $ptr) (local.get $len))
  (call $answer (local.get $out) (local.get $len)))"""
COPY = "(call $copy (local.get $ptr) (local.get $len))"
"""Pass-through: the answer is a copy in a fresh block, as that ABI wants it."""


def rustcdc(**parts: str) -> bytes:
    extra = ANSWER + COPY_FUNCTION + parts.pop("extra", "")
    return build(version_export="rustcdc_abi_version", **{"version": "(i32.const 2)", "extra": extra, **parts})


def literal(text: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in text)


def always(text: bytes) -> bytes:
    """A guest that answers every event with this text, out of a data segment."""
    return rustcdc(
        extra=f'(data (i32.const 65536) "{literal(text)}")',
        transform=f"(call $answer (i32.const 65536) (i32.const {len(text)}))",
        dealloc="",
        alloc="(i32.const 1024)",
    )


def events(count: int = 30) -> list[bytes]:
    made = []
    for number in range(count):
        event = Event(
            op=Operation.UPDATE, ts=number, table="users", after=b'{"id": %d, "x": 1.50}' % number, envelope_version=1
        )
        event.source.source_name = "pg"
        event.primary_key.append("id")
        made.append(event.SerializeToString(deterministic=True))
    return made


EVENT_JSON: dict[str, Any] = {
    "before": None,
    "after": {"id": 7},
    "op": "insert",
    "source": {"source_name": "pg", "offset": "1", "timestamp": 2},
    "ts": 3,
    "schema": None,
    "table": "t",
    "primary_key": None,
    "snapshot": None,
    "transaction": None,
    "envelope_version": 1,
}


def test_module_is_known_by_its_version_export() -> None:
    with wasm_host.load(rustcdc(transform=COPY)) as guest:
        assert guest.module.dialect.name == "rustcdc/2"


def test_other_version_is_refused_with_both_numbers() -> None:
    with pytest.raises(ContractError, match=r"version 3 to rustcdc_abi_version; this host speaks 2"):
        wasm_host.load(rustcdc(version="(i32.const 3)", transform=COPY))


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_copy_into_a_fresh_block_gives_every_event_back(isolation: Isolation) -> None:
    batch: list[bytes | None] = [*events(), None, *events(3)]
    with wasm_host.load(rustcdc(transform=COPY), isolation=isolation) as guest:
        for source in (batch, pa.array(batch, pa.binary()), pa.chunked_array([pa.array(batch, pa.large_binary())])):
            result = guest.transform(source)
            assert result.events.to_pylist() == batch
            assert result.rows.to_pylist() == list(range(len(batch)))


def test_guest_reads_serdes_json() -> None:
    log = '(import "env" "log" (func $log (param i32 i32 i32)))'
    wasm = rustcdc(imports=log, transform=f"(call $log (i32.const 2) (local.get $ptr) (local.get $len)) {COPY}")
    with wasm_host.load(wasm) as guest:
        (line,) = guest.transform(events(1)).logs
    document = json.loads(line.text)
    assert document["op"] == "update"
    assert document["after"] == {"id": 0, "x": 1.5}
    assert '"x": 1.50' in line.text or '"x":1.50' in line.text, "row images keep their bytes"
    assert document["primary_key"] == ["id"]
    assert document["before"] is None


def test_filter_drops_with_zero() -> None:
    wasm = rustcdc(transform=f"(if (i32.gt_u (local.get $len) (i32.const 500)) (then (return (i64.const 0)))) {COPY}")
    long = Event(op=Operation.INSERT, table="x" * 500).SerializeToString()
    with wasm_host.load(wasm) as guest:
        result = guest.transform([*events(3), long, *events(2), long])
    assert result.events.to_pylist() == [*events(3), *events(2)]
    assert result.rows.to_pylist() == [0, 1, 2, 4, 5]
    assert (result.stats.events_dropped, result.failures) == (2, [])


def test_answer_out_of_a_data_segment_becomes_the_event() -> None:
    with wasm_host.load(always(json.dumps(EVENT_JSON).encode())) as guest:
        result = guest.transform(events(3))
    decoded = [Event.FromString(value) for value in result.events.to_pylist()]
    assert [(event.table, event.op, event.after) for event in decoded] == [("t", Operation.INSERT, b'{"id": 7}')] * 3


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"null",
        b"[]",
        b"\xff",
        b'"text"',
        b"{}",
        json.dumps({**EVENT_JSON, "op": "explode"}).encode(),
        json.dumps({**EVENT_JSON, "ts": "soon"}).encode(),
        json.dumps({**EVENT_JSON, "ts": -1}).encode(),
        json.dumps({**EVENT_JSON, "table": 5}).encode(),
        b"[" * 5_000,
    ],
    ids=["cut", "null", "list", "not-utf-8", "string", "empty", "operation", "time", "negative", "table", "deep"],
)
def test_answer_that_is_no_event_in_json_fails_its_row(text: bytes) -> None:
    with wasm_host.load(always(text)) as guest:
        result = guest.transform(events(3))
    assert [(failure.row, failure.code) for failure in result.failures] == [
        (n, "OUTPUT_NOT_AN_EVENT") for n in range(3)
    ]
    assert len(result.events) == len(result.rows) == 0
    assert all(failure.message.isprintable() for failure in result.failures)


def test_input_that_is_no_event_fails_without_being_shown() -> None:
    batch: list[bytes | None] = [*events(2), b"\xff\xff", None, *events(2)]
    with wasm_host.load(rustcdc(transform=COPY)) as guest:
        result = guest.transform(batch)
    assert [(failure.row, failure.code) for failure in result.failures] == [(2, "INPUT_NOT_AN_EVENT")]
    assert result.rows.to_pylist() == [0, 1, 3, 4, 5]
    assert result.events.to_pylist() == [value for row, value in enumerate(batch) if row != 2]
    assert (result.stats.events_in, result.stats.events_failed, result.stats.events_dropped) == (6, 1, 0)


def test_failures_of_all_stages_come_in_order_of_rows() -> None:
    # Traps on long texts, answers garbage on short ones.
    wasm = rustcdc(
        transform=f"""(if (i32.gt_u (local.get $len) (i32.const 2000)) (then (unreachable)))
          (if (i32.lt_u (local.get $len) (i32.const 500)) (then (return (call $answer (local.get $ptr) (i32.const 1)))))
          {COPY}"""
    )
    long, middle, short = (Event(op=Operation.INSERT, table="x" * n).SerializeToString() for n in (3_000, 600, 1))
    with wasm_host.load(wasm) as guest:
        result = guest.transform([long, b"\xff", short, middle, b"\xff", long])
    assert [(failure.row, failure.code) for failure in result.failures] == [
        (0, "TRAP_UNREACHABLE"),
        (1, "INPUT_NOT_AN_EVENT"),
        (2, "OUTPUT_NOT_AN_EVENT"),
        (4, "INPUT_NOT_AN_EVENT"),
        (5, "TRAP_UNREACHABLE"),
    ]
    assert result.rows.to_pylist() == [3]


@pytest.mark.parametrize(
    ("transform", "code"),
    [
        ("(call $answer (i32.const 0) (i32.const 5))", "RESULT_EMPTY"),
        ("(call $answer (i32.const 1024) (i32.const 0))", "RESULT_EMPTY"),
        ("(call $answer (i32.const 0xffffffff) (i32.const 0xffffffff))", "RESULT_OUT_OF_BOUNDS"),
        ("(call $answer (i32.const 0xc0000000) (i32.const 1))", "RESULT_OUT_OF_BOUNDS"),
        ("(call $answer (i32.add (local.get $ptr) (i32.const 1)) (i32.const 2))", "RESULT_OVERLAPS_INPUT"),
        ("(loop $l (br $l)) (unreachable)", "FUEL_EXHAUSTED"),
    ],
    ids=["null-pointer", "empty", "all-ones", "top-bits-are-pointer", "overlap", "spin"],
)
def test_law_and_limits_hold_for_this_dialect_too(transform: str, code: str) -> None:
    with wasm_host.load(rustcdc(transform=transform), limits=Limits(fuel_per_event=100_000)) as guest:
        result = guest.transform(events(2))
    assert [(failure.row, failure.code) for failure in result.failures] == [(0, code), (1, code)]
