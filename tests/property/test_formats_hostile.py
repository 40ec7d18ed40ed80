"""Any bytes at all either decode or are refused with one coded error; a changed event is written as changed."""

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abi import DecodeError, Event, Operation
from abi.formats import FORMATS, RowFailure, detect
from tests.property.format_documents import Generator

SEEDS = st.integers(0, 2**32 - 1)


def _mutated(rng: random.Random, document: bytes) -> bytes:
    data = bytearray(document)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at : at + 1] = rng.randbytes(1)
        elif kind == 2:
            data[at:at] = rng.choice([b"{", b'"', b"\\", b"\xff", b"\x00", b"null", b'"op":1,', b"[" * 200])
        else:
            del data[at : at + rng.randrange(1, 9)]
    return bytes(data)


def _check_verdict(name: str, data: bytes) -> None:
    refusal: DecodeError | None = None
    try:
        event = FORMATS[name].decode(data)
    except DecodeError as exc:
        refusal = exc
    if refusal is not None:
        assert refusal.message.startswith("not a valid ")
        assert "\n" not in str(refusal)
        assert len(str(refusal)) < 600
        assert refusal.offset is None or 0 <= refusal.offset <= len(data)
        return
    written = FORMATS[name].encode(event)
    # Protobuf lets a number be longer than it needs to be; that alone may come back shorter.
    assert written == data or (name == "protobuf" and Event.FromString(written) == Event.FromString(data))


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.binary(max_size=60))
@settings(max_examples=150, deadline=None)
def test_arbitrary_bytes_decode_or_are_refused(name: str, data: bytes) -> None:
    _check_verdict(name, data)


@pytest.mark.parametrize("name", FORMATS)
@given(seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_mutated_documents_decode_or_are_refused(name: str, seed: int) -> None:
    generator = Generator(seed)
    for _ in range(150):
        _check_verdict(name, _mutated(generator.rng, getattr(generator, name)()))


@given(data=st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_detection_names_a_format_or_refuses(data: bytes) -> None:
    try:
        name = detect(data)
    except DecodeError:
        return
    assert name in FORMATS


@pytest.mark.parametrize("name", FORMATS)
@given(seed=SEEDS)
@settings(max_examples=5, deadline=None)
def test_a_bad_row_fails_alone(name: str, seed: int) -> None:
    generator, chosen = Generator(seed), FORMATS[name]
    good = [getattr(generator, name)() for _ in range(20)]
    bad_row = generator.rng.randrange(21)
    rows = [*good[:bad_row], b"\xff\xff", *good[bad_row:]]
    events, failures = chosen.decode_batch(pa.chunked_array([rows[:7], rows[7:]], pa.binary()))
    assert [failure.row for failure in failures] == [bad_row]
    assert isinstance(failures[0], RowFailure)
    assert failures[0].code == "DECODE_ERROR"
    again, _ = chosen.encode_batch(events)
    assert again.to_pylist() == [*good[:bad_row], None, *good[bad_row:]]


_CHANGES = {
    "before": lambda event: setattr(event, "before", b'{"changed":1.5}'),
    "after": lambda event: setattr(event, "after", b'{"changed":[1,2]}'),
    "no after": lambda event: event.ClearField("after"),
    "op": lambda event: setattr(event, "op", Operation.DELETE if event.op != Operation.DELETE else Operation.UPDATE),
    "table": lambda event: setattr(event, "table", event.table + "_moved"),
    "ts": lambda event: setattr(event, "ts", (event.ts % 10**12) + 7),
    "timestamp": lambda event: setattr(event.source, "timestamp", (event.source.timestamp % 10**12) + 7),
    "source_name": lambda event: setattr(event.source, "source_name", event.source.source_name + "2"),
    "offset": lambda event: setattr(event.source, "offset", "123456"),
    "schema": lambda event: setattr(event, "schema", event.schema + "_moved"),
    "no schema": lambda event: event.ClearField("schema"),
    "tx_id": lambda event: setattr(event.transaction, "tx_id", 99),
    "no transaction": lambda event: event.ClearField("transaction"),
}
_NO_PLACE = {"opencdc": {"schema", "no schema", "tx_id", "no transaction"}}
_FORMAT_ATTRIBUTES = ("before", "after", "op", "table", "ts", "schema", "transaction", "source")


@pytest.mark.parametrize("name", FORMATS)
@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_what_a_guest_changes_is_written_and_nothing_else_is(name: str, seed: int) -> None:
    generator, chosen = Generator(seed), FORMATS[name]
    for _ in range(40):
        event = chosen.decode(getattr(generator, name)())
        if "debezium.tombstone" in event.attributes or event.op == Operation.SCHEMA_CHANGE:
            continue
        what = generator.rng.choice([change for change in _CHANGES if change not in _NO_PLACE.get(name, ())])
        _CHANGES[what](event)
        again = chosen.decode(chosen.encode(event))
        for field in _FORMAT_ATTRIBUTES:
            assert getattr(again, field) == getattr(event, field), (what, field)
