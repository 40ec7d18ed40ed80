"""The output's Arrow buffers, also beyond the reach of 32 bits."""

import ctypes

import numpy as np
import pyarrow as pa

from wasm_host.event_sink import EventSink

GIB = 1 << 30


def add(sink: EventSink, events: list[bytes], rows: list[int]) -> None:
    data = ctypes.create_string_buffer(b"".join(events))
    ends = np.cumsum([len(event) for event in events]).astype(np.uint32)
    numbers = np.array(rows, dtype=np.uint32)
    sink.add(
        data_address=ctypes.addressof(data),
        data_bytes=int(ends[-1]),
        ends_address=ends.ctypes.data,
        rows_address=numbers.ctypes.data,
        count=len(events),
    )


def test_sink_grows_as_it_must() -> None:
    sink = EventSink(expected_bytes=0, expected_events=0)
    for number in range(300):
        add(sink, [b"%05d" % number] * 20, [number] * 20)
    events, rows = sink.finish()
    assert events.to_pylist() == [b"%05d" % number for number in range(300) for _ in range(20)]
    assert rows.to_pylist() == [number for number in range(300) for _ in range(20)]


def test_sink_marks_nulls_by_the_sign_of_their_row() -> None:
    sink = EventSink(expected_bytes=10, expected_events=3)
    add(sink, [b"a", b"", b"b"], [0, 0x8000_0001, 2])
    events, rows = sink.finish()
    assert (events.to_pylist(), rows.to_pylist()) == ([b"a", None, b"b"], [0, 1, 2])


def test_output_beyond_two_and_four_gib_has_64_bit_offsets() -> None:
    # Pages that nobody writes are never there: 5 GiB of buffer cost nothing.
    sink = EventSink(expected_bytes=4 * GIB, expected_events=10)
    for position in (0, 2 * GIB - 2, 4 * GIB - 2, 4 * GIB + 5):
        sink.size_bytes = position
        add(sink, [b"abcd", b"e"], [1, 2])
    events, rows = sink.finish()
    assert events.type == pa.large_binary()
    offsets = np.frombuffer(events.buffers()[1], np.int64)
    assert offsets.tolist()[1:] == [
        position + step for position in (0, 2 * GIB - 2, 4 * GIB - 2, 4 * GIB + 5) for step in (4, 5)
    ]
    assert rows.to_pylist() == [1, 2] * 4


def test_mostly_dropped_batch_does_not_hold_the_memory_of_its_input() -> None:
    sink = EventSink(expected_bytes=100_000_000, expected_events=10)
    add(sink, [b"abc"], [5])
    events, _ = sink.finish()
    assert events.buffers()[2].size < 10_000
