"""The output of a batch, gathered chunk by chunk into Arrow's own layout."""

import ctypes

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wasm_host.driver_state import NULL_ROW_BIT

_INT32_MAX = 2**31 - 1


class EventSink:
    """Grows one data buffer and notes the ends and rows of each chunk; builds the arrays once, at the end."""

    def __init__(self, expected_bytes: int) -> None:
        self._data = np.empty(max(expected_bytes + expected_bytes // 8, 1024), dtype=np.uint8)
        self.size_bytes = 0
        self._ends: list[npt.NDArray[np.int64]] = []
        self._rows: list[npt.NDArray[np.uint32]] = []
        self.count = 0

    def add(self, *, data_address: int, data_bytes: int, ends_address: int, rows_address: int, count: int) -> None:
        """Take over a chunk's output: `count` entries whose ends are relative to `data_address`."""
        if not count:
            return
        if self.size_bytes + data_bytes > len(self._data):
            grown = np.empty(max(2 * len(self._data), self.size_bytes + data_bytes), dtype=np.uint8)
            grown[: self.size_bytes] = self._data[: self.size_bytes]
            self._data = grown
        ctypes.memmove(self._data.ctypes.data + self.size_bytes, data_address, data_bytes)
        ends = np.frombuffer(ctypes.string_at(ends_address, 4 * count), np.uint32)
        self._ends.append(ends.astype(np.int64) + self.size_bytes)
        self._rows.append(np.frombuffer(ctypes.string_at(rows_address, 4 * count), np.uint32))
        self.size_bytes += data_bytes
        self.count += count

    def finish(self) -> tuple[pa.Array, pa.Array]:
        """The events and the row of each."""
        if not self.count:
            return pa.array([], pa.binary()), pa.array([], pa.int32())
        marked = np.concatenate(self._rows)
        is_null = (marked & NULL_ROW_BIT) != 0
        rows = (marked & ~np.uint32(NULL_ROW_BIT)).astype(np.int32)
        is_large = self.size_bytes > _INT32_MAX
        offsets = np.zeros(self.count + 1, dtype=np.int64 if is_large else np.int32)
        np.concatenate(self._ends, out=offsets[1:], casting="same_kind")
        validity = None
        if is_null.any():
            validity = pa.py_buffer(np.packbits(~is_null, bitorder="little").tobytes())
        data = self._data[: self.size_bytes]
        if len(self._data) > 2 * self.size_bytes + 4096:
            data = data.copy()  # a batch that is mostly dropped must not hold its whole input's memory
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        type_ = pa.large_binary() if is_large else pa.binary()
        return pa.Array.from_buffers(type_, self.count, buffers), pa.array(rows)
