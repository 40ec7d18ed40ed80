"""The input of a batch as flat Arrow buffers, cut into chunks without looking at single events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wasm_host.errors import ConfigError

Events: TypeAlias = "Sequence[bytes | None] | pa.Array | pa.ChunkedArray"
"""What `transform` takes."""


@dataclass(slots=True)
class EventSource:
    """One contiguous Arrow array of events.

    Attributes:
        row_base: Row of the whole batch at which this array begins.
        count: Events in it.
        offsets: `count + 1` positions in the data, 32 or 64 bits each.
        data_address: Where position 0 lies in this process.
        validity: The null bitmap, or None when there are no nulls; `validity_bit` is the array's first bit in it.
        keeps: What must stay alive while the addresses are used.
    """

    row_base: int
    count: int
    offsets: npt.NDArray[Any]
    data_address: int
    validity: npt.NDArray[np.uint8] | None
    validity_bit: int
    keeps: object

    def end_of_chunk(self, start: int, *, max_rows: int, max_bytes: int) -> int:
        """The row behind the last one of a chunk that begins at `start`: at least one row, whatever its size."""
        stop = min(start + max_rows, self.count)
        limit = int(self.offsets[start]) + max_bytes
        if int(self.offsets[stop]) <= limit:
            return stop
        fitting = start + int(np.searchsorted(self.offsets[start : stop + 1], limit, side="right")) - 1
        return max(fitting, start + 1)

    def size_bytes(self, start: int, stop: int) -> int:
        """Bytes of rows [start, stop)."""
        return int(self.offsets[stop]) - int(self.offsets[start])

    def is_null(self, row: int) -> bool:
        """Whether the event is a tombstone."""
        if self.validity is None:
            return False
        bit = row + self.validity_bit
        return not (int(self.validity[bit >> 3]) >> (bit & 7)) & 1

    def rows_longer_than(self, max_bytes: int) -> list[int]:
        """Rows with more than `max_bytes` bytes, in order."""
        if self.count == 0 or self.size_bytes(0, self.count) <= max_bytes:
            return []
        lengths = np.diff(self.offsets)
        # Arrow allows any bytes below a null, and nobody is going to look at them.
        return [int(row) for row in np.flatnonzero(lengths > max_bytes) if not self.is_null(int(row))]


def sources_of(events: Events) -> Iterator[EventSource]:
    """Turn whatever `transform` takes into contiguous arrays.

    Raises:
        ConfigError: not a sequence of bytes or None, and not an Arrow array of binaries.
    """
    row_base = 0
    for array in _binary_arrays(events):
        if len(array):
            yield _source_of(array, row_base)
        row_base += len(array)


def _binary_arrays(events: Events) -> list[pa.Array]:
    if isinstance(events, pa.ChunkedArray):
        return [array for chunk in events.chunks for array in _binary_arrays(chunk)]
    if isinstance(events, pa.Array):
        if pa.types.is_binary(events.type) or pa.types.is_large_binary(events.type):
            return [events]
        if pa.types.is_null(events.type) or pa.types.is_binary_view(events.type):
            return [events.cast(pa.large_binary())]
        raise ConfigError(
            f"events are an Arrow array of {events.type}; allowed are binary and large_binary",
            hint="cast the column to binary",
        )
    if isinstance(events, (bytes, bytearray, str)):
        raise ConfigError(
            f"events are a single {type(events).__name__}; allowed is a sequence of bytes or None",
            hint="put the one event into a list",
        )
    try:
        if pa.types.is_string(pa.infer_type(events)):
            raise TypeError("text")  # which Arrow would take, as UTF-8
        return [pa.array(events, type=pa.large_binary())]
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise ConfigError(
            f"events hold something that is neither bytes nor None: {str(error).splitlines()[0][:200]}",
            hint="serialize each event first, for example with Event.SerializeToString()",
        ) from error


def _source_of(array: pa.Array, row_base: int) -> EventSource:
    validity, offsets, data = array.buffers()
    width = np.int64 if pa.types.is_large_binary(array.type) else np.int32
    count = len(array)
    positions = np.frombuffer(offsets, width, count=count + 1, offset=array.offset * np.dtype(width).itemsize)
    return EventSource(
        row_base=row_base,
        count=count,
        offsets=positions,
        data_address=data.address if data is not None else 0,
        validity=np.frombuffer(validity, np.uint8) if validity is not None and array.null_count else None,
        validity_bit=array.offset,
        keeps=array,
    )
