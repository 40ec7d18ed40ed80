"""Columns ↔ events: what the vectorised code reads and writes is what the protobuf package reads and writes."""

import pyarrow as pa
import pytest
from google.protobuf.message import DecodeError as ProtobufDecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from abi import Event
from abi.formats import columns_to_events, events_to_columns
from abi.formats.columnar_fields import COLUMNS, OPERATIONS
from tests.property.format_documents import Generator

SEEDS = st.integers(0, 2**32 - 1)
_MESSAGES = {4: "source", 9: "snapshot", 10: "transaction"}


def _events(generator: Generator, count: int) -> list[Event | None]:
    events: list[Event | None] = []
    for _ in range(count):
        event = generator.event()
        for _ in range(generator.rng.randrange(4)):
            event.attributes[generator.text()] = generator.rng.randbytes(generator.rng.choice([0, 4, 300]))
        event.unavailable_columns.extend(generator.text() for _ in range(generator.rng.randrange(2)))
        if generator.rng.random() < 0.05:
            event.after = b'"' + b"x" * generator.rng.choice([100, 20_000]) + b'"'
        events.append(generator.maybe(lambda event=event: event, 0.95))
    return events


def _bytes(events: list[Event | None]) -> pa.Array:
    return pa.array([None if event is None else event.SerializeToString() for event in events], pa.binary())


def _expected(event: Event, name: str) -> object:
    """Read one column's value with the protobuf package."""
    column = next(column for column in COLUMNS if column.name == name)
    owner: Event = event
    if column.message:
        if not event.HasField(_MESSAGES[column.message]):  # type: ignore[arg-type]
            return None
        owner = getattr(event, _MESSAGES[column.message])
    field = owner.DESCRIPTOR.fields_by_number[column.number]
    if field.has_presence and not owner.HasField(field.name):  # type: ignore[arg-type]
        return None
    value = getattr(owner, field.name)
    if name in ("before", "after"):
        return value.decode()
    if name == "op":
        return OPERATIONS[value]
    if name == "attributes":
        return dict(value)
    if not isinstance(value, str | int | bool):
        return list(value)
    return value - 2**64 if not isinstance(value, str) and value >= 2**63 else value


@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_columns_hold_what_the_protobuf_package_reads(seed: int) -> None:
    generator = Generator(seed)
    events = _events(generator, 100)
    batch, failures = events_to_columns(_bytes(events))
    batch.validate(full=True)
    assert failures == []
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        values = [dict(value) if name == "attributes" and value is not None else value for value in array.to_pylist()]
        assert values == [None if event is None else _expected(event, name) for event in events]


@given(seed=SEEDS, start=st.integers(0, 40))
@settings(max_examples=15, deadline=None)
def test_events_come_back_from_columns_also_from_the_middle_of_arrays(seed: int, start: int) -> None:
    events = _events(Generator(seed), 100)
    batch, _ = events_to_columns(_bytes(events).slice(start, 50))
    again, failures = columns_to_events(batch.slice(5, 30))
    assert failures == []
    parsed = [None if data is None else Event.FromString(data) for data in again.to_pylist()]
    assert parsed == events[start + 5 : start + 35]


_SOURCE_TWICE = Event(op=1).SerializeToString() + b"\x22\x03\x0a\x01a" + b"\x22\x03\x12\x01b"  # type: ignore[arg-type]
_ODD = {
    "a message twice": _SOURCE_TWICE,
    "an attribute twice": b"\xc2\x3e\x06\x0a\x01k\x12\x01a" + b"\xc2\x3e\x06\x0a\x01k\x12\x01b",
    "a scalar twice": b"\x3a\x01a\x3a\x01b\x28\x01\x28\x02",
    "another wire type": b"\x38\x05\x1a\x01a",
    "a group": b"\x7b\x7c\x3a\x01a",
    "fixed 32 and 64": b"\x7d1234" + b"\x7912345678" + b"\x3a\x01t",
    "an overlong number": b"\x28\x81\x80\x00",
    "an entry without a key": b"\xc2\x3e\x03\x12\x01a",
    "an entry with two keys": b"\xc2\x3e\x06\x0a\x01k\x0a\x01l",
    "no bytes": b"",
}


@pytest.mark.parametrize("data", _ODD.values(), ids=_ODD.keys())
def test_unusual_wire_is_read_as_the_protobuf_package_reads_it(data: bytes) -> None:
    plain = Event(op=2, table="t")  # type: ignore[arg-type]
    batch, failures = events_to_columns(pa.array([plain.SerializeToString(), data, None], pa.binary()))
    assert failures == []
    event = Event.FromString(data)
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        value = array[1].as_py()
        assert name != "attributes" or len(value) == len(event.attributes)  # a map, so each key once
        assert (dict(value) if name == "attributes" else value) == _expected(event, name)
        assert array[2].as_py() is None
    assert batch.column("table")[0].as_py() == "t"


@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_mutated_events_are_read_or_fail_as_the_protobuf_package_says(seed: int) -> None:
    generator = Generator(seed)
    rows = []
    for _ in range(60):
        data = bytearray(generator.protobuf())
        if data and generator.rng.random() < 0.7:
            data[generator.rng.randrange(len(data))] = generator.rng.randrange(256)
        rows.append(bytes(data[: generator.rng.randrange(len(data) + 1)] if generator.rng.random() < 0.3 else data))
    batch, failures = events_to_columns(pa.array(rows, pa.binary()))
    failed = {failure.row for failure in failures}
    for row, data in enumerate(rows):
        try:
            event = Event.FromString(data)
            assert event.before.decode() + event.after.decode() is not None
        except (ProtobufDecodeError, UnicodeDecodeError):
            assert row in failed
            continue
        assert row not in failed
        assert batch.column("table")[row].as_py() == event.table
        assert batch.column("ts")[row].as_py() == _expected(event, "ts")
        assert dict(batch.column("attributes")[row].as_py()) == dict(event.attributes)


def test_rows_that_cannot_be_events_fail_alone() -> None:
    columns = {
        "op": pa.array(["insert", "UPSERT", None, None, "UPDATE"]),
        "table": pa.array(["a", "b", "c", None, "e"]),
        "primary_key": pa.array([["id"], [], [], None, ["id", None]], pa.list_(pa.string())),
    }
    events, failures = columns_to_events(columns)
    assert [failure.row for failure in failures] == [1, 2, 4]
    assert "column 'op' is none of" in failures[0].message
    assert "column 'primary_key' has a null inside" in failures[2].message
    assert [data is None for data in events.to_pylist()] == [False, True, True, True, True]
    assert Event.FromString(events[0].as_py()) == Event(op=1, table="a", primary_key=["id"])  # type: ignore[arg-type]


def test_written_bytes_are_those_of_the_serialiser() -> None:
    events = [event for event in _events(Generator(3), 200) if event is not None]
    for event in events:
        event.attributes.clear()  # their order on the wire is not defined
    batch, _ = events_to_columns(_bytes(list(events)))
    again, _ = columns_to_events(batch)
    assert again.to_pylist() == _bytes(list(events)).to_pylist()


def test_a_length_past_the_end_of_an_event_does_not_reach_into_the_next() -> None:
    rows = [b"\x3a\x03ab", b"\x28\x01\x3a\x01t"]
    batch, failures = events_to_columns(pa.array(rows, pa.binary()))
    assert [(failure.row, failure.code) for failure in failures] == [(0, "DECODE_ERROR")]
    assert batch.column("table").to_pylist() == [None, "t"]


def test_empty_batches_have_all_columns() -> None:
    for empty in (pa.array([], pa.binary()), pa.chunked_array([], pa.binary())):
        batch, failures = events_to_columns(empty)
        assert (batch.num_rows, batch.num_columns, failures) == (0, len(COLUMNS), [])
        assert len(columns_to_events(batch)[0]) == 0
