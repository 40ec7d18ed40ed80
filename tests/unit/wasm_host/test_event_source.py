"""Whatever holds events goes through a guest the same way: lists, and Arrow arrays of every binary layout."""

import pyarrow as pa
import pytest

import wasm_host
from tests.hostile.containment import event_bytes
from tests.hostile.wat_guest import build
from wasm_host import ConfigError, Guest, Limits
from wasm_host.event_source import sources_of
from wasm_host.limits import KIB, MIB
from wasm_host.native import Pipeline

EVENTS: list[bytes | None] = [
    None if number % 5 == 3 else event_bytes(number, 60 + number % 50 * 3) for number in range(200)
]
FULL = [event for event in EVENTS if event is not None]


@pytest.fixture(scope="module")
def guest() -> Guest:
    return wasm_host.load(build())


def arrow(values: list[bytes | None], type_: pa.DataType) -> pa.Array:
    return pa.array(values, type_)


@pytest.mark.parametrize("type_", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("start", [0, 1, 3, 7, 8, 9, 63, 199, 200])
@pytest.mark.parametrize("length", [0, 1, 8, 9, 150])
def test_slice_of_an_array_is_only_its_own_rows(guest: Guest, type_: pa.DataType, start: int, length: int) -> None:
    part = arrow(EVENTS, type_).slice(start, length)
    result = guest.transform(part)
    assert result.events.to_pylist() == EVENTS[start : start + length]
    assert result.rows.to_pylist() == list(range(len(part)))


@pytest.mark.parametrize("type_", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_chunked_array_counts_rows_through_all_chunks(guest: Guest, type_: pa.DataType) -> None:
    whole = arrow(EVENTS, type_)
    chunked = pa.chunked_array([whole.slice(3, 50), whole.slice(0, 0), whole.slice(60, 1), whole.slice(63, 137)])
    result = guest.transform(chunked)
    assert result.events.to_pylist() == chunked.to_pylist()
    assert result.rows.to_pylist() == list(range(len(chunked)))
    assert result.stats.events_in == len(chunked)


@pytest.mark.parametrize(
    "events",
    [
        [],
        (),
        pa.array([], pa.binary()),
        pa.array([], pa.large_binary()),
        pa.array([], pa.null()),
        pa.chunked_array([], pa.binary()),
        pa.chunked_array([pa.array([], pa.binary())] * 3),
    ],
    ids=["list", "tuple", "binary", "large", "null", "no-chunks", "empty-chunks"],
)
def test_empty_input_gives_an_empty_result(guest: Guest, events: pa.Array) -> None:
    result = guest.transform(events)
    assert (result.events.type, result.rows.type) == (pa.binary(), pa.int32())
    assert len(result.events) == len(result.rows) == result.stats.events_in == 0


@pytest.mark.parametrize("count", [1, 7, 8, 9, 1000])
def test_nulls_alone_stay_nulls(guest: Guest, count: int) -> None:
    for events in ([None] * count, pa.nulls(count), pa.nulls(count, pa.binary()), pa.chunked_array([pa.nulls(count)])):
        result = guest.transform(events)
        assert result.events.null_count == count
        assert result.rows.to_pylist() == list(range(count))
        assert (result.stats.events_dropped, result.stats.events_failed) == (0, 0)


def test_tuple_of_bytes_is_taken(guest: Guest) -> None:
    assert guest.transform(tuple(EVENTS)).events.to_pylist() == EVENTS


def test_null_whose_slot_still_has_bytes_is_a_null(guest: Guest) -> None:
    # Arrow allows anything below a null; here more than a guest's memory could hold.
    data = b"x" * (70 * MIB)
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, len(data), len(data) + len(FULL[0]))))
    validity = pa.py_buffer(b"\x02")
    array = pa.Array.from_buffers(pa.binary(), 2, [validity, offsets, pa.py_buffer(data + FULL[0])])
    result = guest.transform(array)
    assert result.events.to_pylist() == [None, FULL[0]]
    assert result.failures == []


def test_output_is_an_arrow_array_that_outlives_guest_and_input() -> None:
    with wasm_host.load(build()) as guest:
        result = guest.transform(pa.array(EVENTS, pa.binary()))
    assert isinstance(result.events, pa.BinaryArray)
    assert isinstance(result.rows, pa.Int32Array)
    result.events.validate(full=True)
    result.rows.validate(full=True)
    assert result.events.to_pylist() == EVENTS


@pytest.mark.parametrize("size", [1, 255, 256, 257, 16_383, 16_384, 16_385, 40_000])
def test_batches_around_the_sizes_of_chunks_come_out_whole(guest: Guest, size: int) -> None:
    events = pa.array([FULL[number % len(FULL)] for number in range(size)], pa.binary())
    result = guest.transform(events)
    assert result.events.equals(events)
    assert result.rows.to_numpy().tolist() == list(range(size))


@pytest.mark.parametrize("event_size", [64 * KIB - 1, 64 * KIB, MIB - 1, MIB, MIB + 1, 3 * MIB])
def test_events_around_the_bytes_of_chunks_come_out_whole(event_size: int) -> None:
    events = [event_bytes(number, event_size) for number in range(5)]
    with wasm_host.load(build(), limits=Limits(fuel_per_event=10**9)) as guest:
        assert guest.transform(events).events.to_pylist() == events


@pytest.mark.parametrize(
    ("events", "says"),
    [
        (b"one event", "single bytes"),
        ("text", "single str"),
        ([1, 2], "neither bytes nor None"),
        (["text"], "neither bytes nor None"),
        ([b"x", 1], "neither bytes nor None"),
        ([[b"x"]], "neither bytes nor None"),
        (7, "neither bytes nor None"),
        (None, "neither bytes nor None"),
        (pa.array(["a"]), "Arrow array of string"),
        (pa.array([1]), "Arrow array of int64"),
        (pa.array([[b"x"]]), "Arrow array of list"),
        (pa.array([b"abcd"], pa.binary(4)), "Arrow array of fixed_size_binary"),
        (pa.chunked_array([pa.array([1.5])]), "Arrow array of double"),
    ],
    ids=repr,
)
def test_input_that_is_no_sequence_of_events_is_refused_and_the_guest_goes_on(
    guest: Guest, events: object, says: str
) -> None:
    for target in (guest, Pipeline([])):
        with pytest.raises(ConfigError, match=says):
            target.transform(events)
    assert guest.transform(EVENTS).events.to_pylist() == EVENTS


def test_sources_cut_chunks_by_rows_and_bytes() -> None:
    (source,) = sources_of([b"x" * 10] * 10)
    assert source.end_of_chunk(0, max_rows=4, max_bytes=1000) == 4
    assert source.end_of_chunk(0, max_rows=100, max_bytes=35) == 3
    assert source.end_of_chunk(8, max_rows=100, max_bytes=1000) == 10
    assert source.end_of_chunk(5, max_rows=100, max_bytes=1) == 6, "at least one row, whatever its size"
