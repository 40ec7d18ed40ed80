"""Joins small batches while a partition has many tenants, so that each call into a guest has some rows to work on.

A call costs tens of microseconds, whatever its size. With a thousand tenants a batch of 10,000 rows has ten rows for
each of them, and the calls would cost more than the work.
"""

from collections.abc import Iterator

import pyarrow as pa

_ROWS_FOR_EACH_TENANT = 128
_MAX_ROWS = 131_072
_MAX_BYTES = 48 * 1024 * 1024


class Gatherer:
    """Hands on batches as they come, until it is told that they have too few rows for their tenants."""

    def __init__(self, expected_tenants: int = 1) -> None:
        self._wanted_rows = _wanted(expected_tenants)

    def note(self, tenants: int) -> None:
        """Learn from a batch how many tenants there are."""
        self._wanted_rows = _wanted(tenants)

    def gather(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Join batches as far as that helps; never more than so many bytes."""
        waiting: list[pa.RecordBatch] = []
        rows, nbytes = 0, 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            waiting.append(batch)
            rows += batch.num_rows
            nbytes += batch.nbytes
            if rows >= self._wanted_rows or nbytes >= _MAX_BYTES:
                yield _join(waiting)
                waiting, rows, nbytes = [], 0, 0
        if waiting:
            yield _join(waiting)


def _wanted(tenants: int) -> int:
    return min(tenants * _ROWS_FOR_EACH_TENANT, _MAX_ROWS) if tenants > 1 else 0


def _join(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
