"""Carries columns past pandas: packed as Arrow before it, unpacked after it, bit for bit, whatever their type.

Before mapInPandas each batch's columns become one blob in the batch's first row; after it each output row says which
row of the last blob it came from. Rows stay in order within a partition and nothing is put between the stages, so the
position of a row is all that is needed to find it again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

BLOB_COLUMN = "blob"
INDEX_COLUMN = "blob_row"


@dataclass(frozen=True, slots=True)
class PackCarried:
    """For mapInArrow: replaces the carried columns, which come last, by one blob a batch."""

    carried: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack the batches of a partition."""
        for batch in batches:
            if batch.num_rows == 0:
                continue
            direct = batch.num_columns - self.carried
            packed = batch.select(range(direct, batch.num_columns))
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, packed.schema) as writer:
                writer.write_batch(packed)
            blob = pa.array([sink.getvalue().to_pybytes()], pa.binary())
            column = pa.concat_arrays([blob, pa.nulls(batch.num_rows - 1, pa.binary())])
            schema = pa.schema([*list(batch.schema)[:direct], pa.field(BLOB_COLUMN, pa.binary())])
            yield pa.RecordBatch.from_arrays([*batch.columns[:direct], column], schema=schema)


class BlobTrack:
    """Remembers, between the stages, where each blob's rows begin in the partition."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._blobs: dict[int, bytes] = {}
        self._rows = 0
        self._sent = -1

    def number_rows(self, blobs: list[bytes | None]) -> pa.Array:
        """Take note of a batch's blobs and number its rows through the partition."""
        first = self._rows
        for offset, blob in enumerate(blobs):
            if blob is not None:
                self._blobs[len(self._starts)] = blob
                self._starts.append(first + offset)
        self._rows += len(blobs)
        return pa.array(np.arange(first, self._rows, dtype=np.int64))

    def locate(self, rows: np.ndarray) -> tuple[pa.Array, pa.Array]:
        """For output rows, ascending: the blob where a new one begins, and the row within the blob."""
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        within = rows - np.asarray(self._starts, np.int64)[numbers]
        is_new = np.diff(numbers, prepend=self._sent) != 0
        blobs = [self._blobs[number] if new else None for number, new in zip(numbers.tolist(), is_new, strict=True)]
        if len(numbers):
            self._sent = int(numbers[-1])
            for done in [number for number in self._blobs if number < self._sent]:
                del self._blobs[done]
        return pa.array(blobs, pa.binary()), pa.array(within.astype(np.int64))


@dataclass(frozen=True, slots=True)
class UnpackCarried:
    """For mapInArrow: replaces blob and row number, which come last, by the columns that were carried."""

    names: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Unpack the batches of a partition."""
        current: pa.RecordBatch | None = None
        for batch in batches:
            direct = batch.num_columns - 2
            blobs, rows = batch.column(BLOB_COLUMN), batch.column(INDEX_COLUMN)
            starts = np.flatnonzero(blobs.is_valid().to_numpy(zero_copy_only=False)).tolist()
            cuts = sorted({0, *starts, batch.num_rows})
            for start, end in pairwise(cuts):
                if blobs[start].is_valid:
                    current = pa.ipc.open_stream(blobs[start].as_buffer()).read_next_batch()
                assert current is not None
                carried = current.take(rows.slice(start, end - start))
                columns = [column.slice(start, end - start) for column in batch.columns[:direct]]
                fields = [pa.field(name, column.type) for name, column in zip(self.names, carried.columns, strict=True)]
                schema = pa.schema([*list(batch.schema)[:direct], *fields])
                yield pa.RecordBatch.from_arrays([*columns, *carried.columns], schema=schema)
