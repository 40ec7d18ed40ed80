"""The output of a batch, gathered chunk by chunk into Arrow's own layout."""

import ctypes
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wasm_host.driver_state import NULL_ROW_BIT
from wasm_host.output_memory import output_memory

_Item = TypeVar("_Item", bound=np.generic)
_INT32_MAX = 2**31 - 1


class EventSink:
    """Grows buffers for data, ends and rows; makes the arrays once, at the end."""

    def __init__(self, *, expected_bytes: int, expected_events: int) -> None:
        self._data = output_memory.take(max(expected_bytes + expected_bytes // 8, 1024))
        self._offsets: npt.NDArray[np.int64] = np.empty(expected_events + 1, dtype=np.int64)
        self._rows: npt.NDArray[np.uint32] = np.empty(expected_events, dtype=np.uint32)
        self._offsets[0] = 0
        # Asking an array for its address costs more than copying a short chunk.
        self._data_address = _address(self._data)
        self._rows_address = _address(self._rows)
        self.size_bytes = 0
        self.count = 0

    def add(self, *, data_address: int, data_bytes: int, ends_address: int, rows_address: int, count: int) -> None:
        """Take over a chunk's output: `count` entries whose ends are relative to `data_address`."""
        if not count:
            return
        if self.size_bytes + data_bytes > len(self._data):
            self._data = _grown(self._data, self.size_bytes, data_bytes)
            self._data_address = _address(self._data)
        if self.count + count > len(self._rows):
            self._offsets = _grown(self._offsets, self.count + 1, count)
            self._rows = _grown(self._rows, self.count, count)
            self._rows_address = _address(self._rows)
        ctypes.memmove(self._data_address + self.size_bytes, data_address, data_bytes)
        ctypes.memmove(self._rows_address + 4 * self.count, rows_address, 4 * count)
        ends = np.frombuffer(ctypes.string_at(ends_address, 4 * count), np.uint32)
        # In 64 bits: the sum of a 32-bit end and a position may not fit 32 bits.
        into = self._offsets[self.count + 1 : self.count + 1 + count]
        np.add(ends, self.size_bytes, out=into, dtype=np.int64)
        self.size_bytes += data_bytes
        self.count += count

    def finish(self) -> tuple[pa.Array, pa.Array]:
        """The events and the row of each."""
        if not self.count:
            return pa.nulls(0, pa.binary()), pa.nulls(0, pa.int32())
        marked = self._rows[: self.count]
        is_null = (marked & NULL_ROW_BIT) != 0
        validity = None
        if is_null.any():
            validity = pa.py_buffer(np.packbits(~is_null, bitorder="little").tobytes())
        rows = (marked & ~np.uint32(NULL_ROW_BIT)).astype(np.int32)
        is_large = self.size_bytes > _INT32_MAX
        offsets = self._offsets[: self.count + 1].astype(np.int64 if is_large else np.int32)
        data = self._data[: self.size_bytes]
        if len(self._data) > 2 * self.size_bytes + 4096:
            data = data.copy()  # a batch that is mostly dropped must not hold its whole input's memory
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        type_ = pa.large_binary() if is_large else pa.binary()
        numbers = pa.Array.from_buffers(pa.int32(), self.count, [None, pa.py_buffer(rows)])
        return pa.Array.from_buffers(type_, self.count, buffers), numbers


def _address(buffer: npt.NDArray[Any]) -> int:
    return int(buffer.ctypes.data)


def _grown(buffer: npt.NDArray[_Item], used: int, more: int) -> npt.NDArray[_Item]:
    """A larger buffer with the same beginning."""
    grown = np.empty(max(2 * len(buffer), used + more), dtype=buffer.dtype)
    grown[:used] = buffer[:used]
    return grown
