"""Canonical events → columns, as whole arrays: no Python loop over rows, except over rows that are odd."""

from typing import TYPE_CHECKING, Any

from abi.errors import DecodeError
from abi.formats.columnar_fields import COLUMNS, MESSAGES, NAMES, OPERATIONS, Column, Kind
from abi.formats.columnar_scan import PADDING, Found, scan
from abi.formats.format import RowFailure
from abi.formats.protobuf_bytes import parse_event, serialise_event
from abi.formats.wire import BYTES, VARINT

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_VARINTS = (Kind.UINT64, Kind.UINT32, Kind.BOOL, Kind.OPERATION)
_SINGLE = (Kind.IMAGE, Kind.OPTIONAL_TEXT, Kind.TEXT)


def events_to_columns(events: "pa.Array | pa.ChunkedArray") -> tuple["pa.RecordBatch", list[RowFailure]]:
    """Turn canonical protobuf events into a batch of columns, named and typed as in `columnar_fields`.

    A null event is null in all columns. So is one that is no event, or whose row image is not UTF-8: it has a
    `RowFailure`. Fields that nobody knows are dropped.
    """
    import pyarrow as pa

    one = pa.concat_arrays(events.chunks) if isinstance(events, pa.ChunkedArray) and events.num_chunks else events
    if isinstance(one, pa.ChunkedArray):
        one = pa.array([], pa.binary())
    one = one.cast(pa.binary())
    table, odd = _Reader(one).read()
    if table is not None and not odd.any():
        return table, []
    # Rarely: rows that need merging, or are no events. The protobuf package writes them plainly, or says what is wrong.
    rows = range(len(one)) if table is None else odd.nonzero()[0].tolist()
    plain, failures = _normalised(one, rows)
    table, odd = _Reader(plain).read()
    assert table is not None
    assert not odd.any()
    return table, failures


def _normalised(events: "pa.Array", rows: Any) -> tuple["pa.Array", list[RowFailure]]:
    import pyarrow as pa

    values = events.to_pylist()
    failures: list[RowFailure] = []
    for row in rows:
        if values[row] is None:
            continue
        try:
            event = parse_event(values[row])
            for field in ("before", "after"):
                _check_text(field, getattr(event, field))
            event.DiscardUnknownFields()
            values[row] = serialise_event(event)
        except DecodeError as exc:
            failures.append(RowFailure(row, exc.code, str(exc)))
            values[row] = None
    return pa.array(values, pa.binary()), failures


def _check_text(field: str, image: bytes) -> None:
    try:
        image.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise DecodeError(
            f"the row image '{field}' is not UTF-8 ({exc.reason})", path=field, offset=exc.start
        ) from None


class _Reader:
    """Reads one array of events; `read` answers None where the texts in it are not UTF-8."""

    def __init__(self, events: "pa.Array") -> None:
        import numpy as np
        import pyarrow as pa

        self._length = len(events)
        self._valid = events.is_valid().to_numpy(zero_copy_only=False)
        _, offsets, data = events.buffers()
        ends = np.frombuffer(offsets, np.int32, self._length + 1, events.offset * 4).astype(np.int64)
        low, high = (int(ends[0]), int(ends[-1])) if self._length else (0, 0)
        self._data = np.zeros(high - low + PADDING, np.uint8)
        if high > low:
            self._data[: high - low] = np.frombuffer(data, np.uint8, high - low, low)
        self._buffer = pa.py_buffer(self._data)
        self._starts, self._ends = ends[:-1] - low, ends[1:] - low
        self.odd = np.zeros(self._length, bool)

    def read(self) -> "tuple[pa.RecordBatch | None, np.ndarray]":
        import pyarrow as pa

        columns = {column.name: column for column in COLUMNS}
        scans: dict[int, tuple[dict[int, Found], np.ndarray]] = {}
        top = scan(self._data, self._starts, self._ends, _wire_types(0), self.odd)
        scans[0] = (top, self._valid)
        for message in MESSAGES:
            scans[message] = self._nested(top.get(message), message)
        try:
            arrays = [self._array(columns[name], *scans[columns[name].message]) for name in NAMES]
        except pa.ArrowInvalid:  # the only cast in there is bytes to text
            return None, self.odd
        return pa.RecordBatch.from_arrays(arrays, NAMES), self.odd

    def _nested(self, found: Found | None, message: int) -> "tuple[dict[int, Found], np.ndarray]":
        import numpy as np

        starts, ends = self._starts.copy(), self._starts.copy()
        present = np.zeros(self._length, bool)
        if found is not None:
            starts[found.rows], ends[found.rows] = found.starts, found.ends
            present[found.rows] = True
            if present.sum() != len(found.rows):  # a message that stands twice is to be merged
                self.odd |= np.bincount(found.rows, minlength=self._length) > 1
        return scan(self._data, starts, ends, _wire_types(message), self.odd), present

    def _array(self, column: Column, scans: dict[int, Found], present: "np.ndarray") -> "pa.Array":
        found = scans.get(column.number)
        if column.kind in _VARINTS:
            return self._numbers(column, found, present)
        if column.kind in _SINGLE:
            return self._texts(column, found, present)
        return self._lists(found, present) if column.kind is Kind.TEXTS else self._maps(found, present)

    def _numbers(self, column: Column, found: Found | None, present: "np.ndarray") -> "pa.Array":
        import numpy as np
        import pyarrow as pa

        values = np.zeros(self._length, np.uint64)
        if found is not None:
            values[found.rows] = found.values
        if column.kind is Kind.UINT64:
            return pa.array(values.view(np.int64), mask=~present)
        if column.kind is Kind.BOOL:
            return pa.array(values != 0, mask=~present)
        values &= np.uint64(0xFFFF_FFFF)
        if column.kind is Kind.UINT32:
            return pa.array(values.astype(np.int64), mask=~present)
        known = values < len(OPERATIONS)
        numbers = np.where(known, values, 0).astype(np.int32)
        # A number that a newer writer may know has no name here; it is written as unspecified.
        return pa.array(OPERATIONS, pa.string()).take(pa.array(numbers, mask=~present))

    def _texts(self, column: Column, found: Found | None, present: "np.ndarray") -> "pa.Array":
        import numpy as np
        import pyarrow as pa

        starts, ends = self._starts.copy(), self._starts.copy()
        seen = np.zeros(self._length, bool)
        if found is not None:
            starts[found.rows], ends[found.rows] = found.starts, found.ends
            seen[found.rows] = True
        return self._gather(starts, ends, present if column.kind is Kind.TEXT else present & seen).cast(pa.string())

    def _lists(self, found: Found | None, present: "np.ndarray") -> "pa.Array":
        import pyarrow as pa

        offsets, starts, ends = self._elements(found)
        elements = self._gather(starts, ends, None).cast(pa.string())
        return pa.ListArray.from_arrays(_masked(offsets, present), elements)

    def _maps(self, found: Found | None, present: "np.ndarray") -> "pa.Array":
        import numpy as np
        import pyarrow as pa

        offsets, starts, ends = self._elements(found)
        rows = np.repeat(np.arange(self._length), np.diff(offsets))
        odd_entries = np.zeros(len(starts), bool)
        inside = scan(self._data, starts, ends, {1: BYTES, 2: BYTES}, odd_entries)
        columns = []
        for number in (1, 2):
            first, last = starts.copy(), starts.copy()
            if number in inside:
                entries = inside[number]
                first[entries.rows], last[entries.rows] = entries.starts, entries.ends
                odd_entries |= np.bincount(entries.rows, minlength=len(starts)) > 1
            columns.append(self._gather(first, last, None))
        keys = columns[0].cast(pa.string())
        self.odd[rows[odd_entries]] = True
        self._mark_twice(rows, keys)
        return pa.MapArray.from_arrays(_masked(offsets, present), keys, columns[1])

    def _mark_twice(self, rows: "np.ndarray", keys: "pa.Array") -> None:
        """Mark events in which an attribute stands twice: the last one counts, which a map cannot say."""
        import numpy as np

        if not len(rows):
            return
        codes = keys.dictionary_encode().indices.to_numpy().astype(np.int64)
        pairs = np.sort(rows * (int(codes.max()) + 1) + codes)
        twice = pairs[1:][pairs[1:] == pairs[:-1]] // (int(codes.max()) + 1)
        self.odd[twice] = True

    def _elements(self, found: Found | None) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
        import numpy as np

        if found is None:
            empty = np.zeros(0, np.int64)
            return np.zeros(self._length + 1, np.int32), empty, empty
        order = np.argsort(found.starts, kind="stable")
        counts = np.bincount(found.rows, minlength=self._length)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return offsets, found.starts[order], found.ends[order]

    def _gather(self, starts: "np.ndarray", ends: "np.ndarray", valid: "np.ndarray | None") -> "pa.Array":
        """Copy spans of the data into an array: spans and the gaps between them are one array, every other is taken."""
        import numpy as np
        import pyarrow as pa

        if not len(starts):
            return pa.array([], pa.binary())
        offsets = np.empty(2 * len(starts), np.int32)
        offsets[0::2], offsets[1::2] = starts, ends
        spans = pa.Array.from_buffers(pa.binary(), 2 * len(starts) - 1, [None, pa.py_buffer(offsets), self._buffer])
        return spans.take(pa.array(np.arange(0, 2 * len(starts), 2), mask=None if valid is None else ~valid))


def _masked(offsets: "np.ndarray", present: "np.ndarray") -> "pa.Array":
    """Make list offsets in which the rows that are not present are null."""
    import numpy as np
    import pyarrow as pa

    return pa.array(offsets, pa.int32(), mask=np.append(~present, False))


def _wire_types(message: int) -> dict[int, int]:
    found = {column.number: _wire_type(column) for column in COLUMNS if column.message == message}
    return found if message else found | dict.fromkeys(MESSAGES, BYTES)


def _wire_type(column: Column) -> int:
    return VARINT if column.kind in _VARINTS else BYTES
