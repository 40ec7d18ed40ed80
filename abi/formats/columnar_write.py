"""Columns → canonical events, as whole arrays: no Python loop over rows.

A message is the concatenation of its fields, and Arrow concatenates binary columns row by row in C++. So each field
becomes one or two columns of bytes (tag and length, payload), made by numpy, and one call joins them all.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from abi.formats.columnar_fields import COLUMNS, OPERATIONS, Column, Kind
from abi.formats.format import RowFailure
from abi.formats.wire import write_varint

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

CODE = "ENCODE_ERROR"


def columns_to_events(columns: "Mapping[str, pa.Array] | pa.RecordBatch") -> tuple["pa.BinaryArray", list[RowFailure]]:
    """Turn a batch of columns into canonical protobuf events.

    Columns that are not given are absent in the events; names that are no canonical field are ignored. A row that is
    null in all columns is null (a tombstone); one without an operation, or with a null inside a list, is a failure.
    """
    import numpy as np
    import pyarrow as pa

    names = columns.schema.names if isinstance(columns, pa.RecordBatch) else list(columns)
    given = [column for column in COLUMNS if column.name in names]
    arrays = {column.name: _flat(columns[column.name], column.kind) for column in given}
    length = len(next(iter(arrays.values()))) if arrays else 0
    writer = _Writer(length)
    pieces: list[pa.Array] = []
    written: set[int] = set()
    for column in given:  # in the order of field numbers, as every serialiser writes them
        if not column.message:
            pieces += writer.field(column, arrays[column.name])
        elif column.message not in written:
            written.add(column.message)
            inside = [(other, arrays[other.name]) for other in given if other.message == column.message]
            pieces += writer.message(column.message, inside)
    present = np.zeros(length, bool)
    for array in arrays.values():
        present |= array.is_valid().to_numpy(zero_copy_only=False)
    if "op" not in arrays:
        writer.fail(np.ones(length, bool), "there is no column 'op'")
    writer.failures = {row: reason for row, reason in writer.failures.items() if present[row]}
    good = present.copy()
    good[list(writer.failures)] = False
    events = _join(pieces) if pieces else pa.nulls(length, pa.binary())
    indices = pa.array(np.arange(length), mask=~good)
    return events if good.all() else events.take(indices), writer.row_failures()


class _Writer:
    """Writes the fields of one batch; remembers which rows cannot be written."""

    def __init__(self, length: int) -> None:
        self._length = length
        self.failures: dict[int, str] = {}

    def fail(self, rows: "np.ndarray", reason: str) -> None:
        """Mark rows (a mask) as failed, with the first reason found."""
        for row in rows.nonzero()[0].tolist():
            self.failures.setdefault(row, reason)

    def row_failures(self) -> list[RowFailure]:
        text = f"[{CODE}] cannot write the row as an event: %s"
        return [RowFailure(row, CODE, text % reason) for row, reason in sorted(self.failures.items())]

    def field(self, column: Column, array: "pa.Array") -> list["pa.Array"]:
        kind = column.kind
        if kind in (Kind.IMAGE, Kind.OPTIONAL_TEXT, Kind.TEXT):
            return _texts(column.number, array, keep_empty=kind is not Kind.TEXT)
        if kind in (Kind.UINT64, Kind.UINT32):
            return [self._numbers(column, array)]
        if kind is Kind.BOOL:
            return [_choose([b"", write_varint(column.number << 3) + b"\x01"], array.fill_null(False))]
        if kind is Kind.OPERATION:
            return [self._operations(column, array)]
        if kind is Kind.TEXTS:
            return [self._lists(column, array)]
        return [self._maps(column, array)]

    def message(self, number: int, inside: "list[tuple[Column, pa.Array]]") -> list["pa.Array"]:
        import numpy as np

        if not inside:
            return []
        payload = _join([piece for column, array in inside for piece in self.field(column, array)])
        present = np.zeros(self._length, bool)
        for _, array in inside:
            present |= array.is_valid().to_numpy(zero_copy_only=False)
        return [_prefixes(number << 3 | 2, _lengths(payload), present), payload]

    def _numbers(self, column: Column, array: "pa.Array") -> "pa.Array":
        import numpy as np

        values = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        if column.kind is Kind.UINT32:
            self.fail((values < 0) | (values >= 1 << 32), f"column '{column.name}' is outside 0..4294967295")
        return _prefixes(column.number << 3, values.view(np.uint64), values != 0)

    def _operations(self, column: Column, array: "pa.Array") -> "pa.Array":
        import pyarrow as pa
        import pyarrow.compute as pc

        numbers = pc.index_in(pc.utf8_upper(array), value_set=pa.array(OPERATIONS, array.type))
        self.fail(numbers.is_null().to_numpy(zero_copy_only=False), f"column 'op' is none of {', '.join(OPERATIONS)}")
        tag = write_varint(column.number << 3)
        texts = [b"" if number == 0 else tag + write_varint(number) for number in range(len(OPERATIONS))]
        return _choose(texts, numbers.fill_null(0))

    def _lists(self, column: Column, array: "pa.Array") -> "pa.Array":
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        counts = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
        elements = array.flatten()
        self._fail_elements(column, counts, elements)
        joined = _join(_texts(column.number, elements, keep_empty=True))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return pc.binary_join(pa.ListArray.from_arrays(offsets, joined), b"")

    def _maps(self, column: Column, array: "pa.Array") -> "pa.Array":
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        valid = array.is_valid().to_numpy(zero_copy_only=False)
        offsets = array.offsets.to_numpy()
        counts = np.diff(offsets)
        keys, items = (child.slice(offsets[0], offsets[-1] - offsets[0]) for child in (array.keys, array.items))
        if counts[~valid].any():  # a null row may still point at entries
            kept = pa.array(np.repeat(valid, counts))
            keys, items, counts = keys.filter(kept), items.filter(kept), np.where(valid, counts, 0)
        self._fail_elements(column, counts, items)
        entries = _join(_texts(1, keys, keep_empty=True) + _texts(2, items, keep_empty=True))
        everywhere = np.ones(len(entries), bool)
        framed = _join([_prefixes(column.number << 3 | 2, _lengths(entries), everywhere), entries])
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return pc.binary_join(pa.ListArray.from_arrays(starts, framed), b"")

    def _fail_elements(self, column: Column, counts: "np.ndarray", elements: "pa.Array") -> None:
        import numpy as np

        if elements.null_count:
            rows = np.repeat(np.arange(self._length), counts)
            mask = np.zeros(self._length, bool)
            mask[rows[elements.is_null().to_numpy(zero_copy_only=False)]] = True
            self.fail(mask, f"column '{column.name}' has a null inside")


def _flat(array: Any, kind: Kind) -> "pa.Array":
    """Bring a column to one chunk of the type its kind has; large types become small ones."""
    import pyarrow as pa

    wanted = {
        Kind.UINT64: pa.int64(),
        Kind.UINT32: pa.int64(),
        Kind.BOOL: pa.bool_(),
        Kind.TEXTS: pa.list_(pa.string()),
        Kind.MAP: pa.map_(pa.string(), pa.binary()),
    }.get(kind, pa.string())
    one = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if isinstance(one, pa.ChunkedArray):
        one = pa.concat_arrays(one.chunks)
    return one if one.type == wanted else one.cast(wanted)


def _join(pieces: "list[pa.Array]") -> "pa.BinaryArray":
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = pa.scalar(b"", pa.binary())
    return pc.binary_join_element_wise(*pieces, empty, null_handling="replace", null_replacement="")


def _lengths(array: "pa.Array") -> "np.ndarray":
    import numpy as np
    import pyarrow.compute as pc

    lengths: np.ndarray = pc.binary_length(array).fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    return lengths


def _texts(number: int, array: "pa.Array", *, keep_empty: bool) -> list["pa.Array"]:
    import pyarrow as pa

    lengths = _lengths(array)
    present = array.is_valid().to_numpy(zero_copy_only=False)
    if not keep_empty:  # proto3 does not write an empty string, unless it is marked optional
        present = present & (lengths > 0)
    return [_prefixes(number << 3 | 2, lengths, present), array.cast(pa.binary())]


def _choose(texts: list[bytes], indices: "pa.Array") -> "pa.Array":
    import pyarrow as pa

    return pa.array(texts, pa.binary()).take(indices.cast(pa.int32()))


def _prefixes(tag: int, values: "np.ndarray", present: "np.ndarray") -> "pa.Array":
    """Write a tag and a varint for each row where `present`, nothing elsewhere."""
    import numpy as np
    import pyarrow as pa

    head = np.frombuffer(write_varint(tag), np.uint8)
    sizes = np.ones(len(values), np.int64)
    largest = int(values.max()) if len(values) else 0
    for power in range(7, max(largest.bit_length(), 1), 7):
        sizes += values >= np.uint64(1 << power)
    width = int(sizes.max()) if len(values) else 1
    matrix = np.empty((len(values), len(head) + width), np.uint8)
    matrix[:, : len(head)] = head
    for index in range(width):
        septet = (values >> np.uint64(7 * index)).astype(np.uint8) & np.uint8(0x7F)
        matrix[:, len(head) + index] = septet | np.where(sizes > index + 1, np.uint8(0x80), np.uint8(0))
    kept = (np.arange(len(head) + width) < (sizes + len(head))[:, None]) & present[:, None]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(np.where(present, sizes + len(head), 0), out=offsets[1:])
    data = matrix[kept]
    return pa.Array.from_buffers(pa.binary(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
