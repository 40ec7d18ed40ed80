"""Length-delimited streams to Arrow arrays and back, without a Python loop over messages.

The work is done by a small module of our own (`framing.wat`); it sees only bytes, and every result is checked here.
"""

import ctypes
from importlib import resources
from typing import Any

import numpy as np
import pyarrow as pa
import wasmtime

from wasm_host.limits import WASM_PAGE_BYTES

_MAX_FRAMES = 1 << 17
_OFFSETS_BYTES = 4 * (_MAX_FRAMES + 1)
_DATA = _OFFSETS_BYTES


class Framing:
    """One instance of the framing module with its memory."""

    def __init__(self) -> None:
        text = resources.files("wasm_host.cli.streams").joinpath("framing.wat").read_text(encoding="utf-8")
        self._store = wasmtime.Store(wasmtime.Engine())
        instance = wasmtime.Instance(
            self._store, wasmtime.Module(self._store.engine, bytes(wasmtime.wat2wasm(text))), []
        )
        exports = instance.exports(self._store)
        self._memory: Any = exports["memory"]
        self._split: Any = exports["split"]
        self._join: Any = exports["join"]
        self._next: Any = exports["next"]
        self._needs: Any = exports["needs"]
        self._malformed: Any = exports["malformed"]

    def split(self, buffer: bytes) -> tuple[list[pa.Array], int, int]:
        """Take all whole messages.

        Returns:
            Arrays of messages, how many bytes were used, and how many bytes the first message that is not whole needs
            in all (0 when that is not known yet).

        Raises:
            ValueError: a length has more than five bytes.
        """
        base = self._reserve(_DATA + len(buffer))
        ctypes.memmove(base + _DATA, buffer, len(buffer))
        end = _DATA + len(buffer)
        arrays: list[pa.Array] = []
        at = _DATA
        while True:
            count = self._split(self._store, at, end, 0, _MAX_FRAMES)
            if count:
                arrays.append(_array(base, at, count))
            at = self._next.value(self._store)
            if self._malformed.value(self._store):
                raise ValueError(f"no length at byte {at - _DATA}")
            if count < _MAX_FRAMES:
                return arrays, at - _DATA, self._needs.value(self._store)

    def join(self, events: pa.Array) -> bytes:
        """Write all messages of an array, which has no nulls, behind their lengths."""
        parts = [self._join_part(events.slice(at, _MAX_FRAMES)) for at in range(0, len(events), _MAX_FRAMES)]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _join_part(self, events: pa.Array) -> bytes:
        _, offset_buffer, data = events.buffers()
        width = np.int64 if pa.types.is_large_binary(events.type) else np.int32
        start = events.offset * np.dtype(width).itemsize
        offsets = np.frombuffer(offset_buffer, width, count=len(events) + 1, offset=start)
        first, last = int(offsets[0]), int(offsets[-1])
        relative = np.ascontiguousarray(offsets - first, dtype=np.int32)
        size = last - first
        out = _DATA + size
        base = self._reserve(out + size + 5 * len(events))
        ctypes.memmove(base, relative.ctypes.data, relative.nbytes)
        if size:
            ctypes.memmove(base + _DATA, data.address + first, size)
        written = self._join(self._store, _DATA, 0, len(events), out)
        return ctypes.string_at(base + out, written)

    def _reserve(self, size_bytes: int) -> int:
        """Make the memory at least that large and return its address."""
        missing = size_bytes - self._memory.data_len(self._store)
        if missing > 0:
            self._memory.grow(self._store, -(-missing // WASM_PAGE_BYTES))
        address = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        return int(address)


def _array(base: int, at: int, count: int) -> pa.Array:
    offsets = ctypes.string_at(base, 4 * (count + 1))
    size = int.from_bytes(offsets[-4:], "little")
    data = ctypes.string_at(base + at, size)
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
