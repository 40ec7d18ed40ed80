"""Sorts the rows of a batch by tenant, and puts results back in order, without a Python loop over rows."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

TENANT_COLUMN = "__wasm_host_tenant"
"""Holds the tenant on the way to Python, where it is not a column that is kept."""


@dataclass(frozen=True, slots=True)
class TenantRows:
    """The rows of one tenant. `rows` are their positions in the batch, ascending; None means all of them."""

    tenant: str | None
    rows: np.ndarray | None
    events: pa.Array


def split_by_tenant(tenants: pa.Array, events: pa.Array) -> list[TenantRows]:
    """Cut a batch into one piece for each tenant in it.

    Args:
        tenants: The tenant of each row; null is a tenant of its own, which nobody configures.
        events: The event of each row.
    """
    encoded = pc.dictionary_encode(tenants, null_encoding="encode")
    names = encoded.dictionary.to_pylist()
    if len(names) <= 1:
        return [TenantRows(names[0], None, events)] if names else []
    # Sorting 16-bit numbers is a radix sort, several times faster than sorting 32-bit ones.
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    codes = codes.astype(np.uint16 if len(names) <= 1 << 16 else np.uint32)
    order = np.argsort(codes, kind="stable")
    # One gather for the whole batch; each tenant's events are then a slice of it.
    gathered = events.take(pa.array(order))
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    pieces, start = [], 0
    for name, end in zip(names, ends.tolist(), strict=True):
        pieces.append(TenantRows(name, order[start:end], gathered.slice(start, end - start)))
        start = end
    return pieces


def restore_order(rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray | None]:
    """Find the order in which pieces, each with ascending source rows, become one batch again.

    Returns:
        The source row of each output row, ascending, and the permutation that brings the concatenated pieces into that
        order, or None if they are in it already. Outputs of the same row keep their order.
    """
    joined = np.concatenate(rows) if rows else np.empty(0, np.int64)
    if len(rows) <= 1 or bool(np.all(joined[1:] >= joined[:-1])):
        return joined, None
    counts = np.bincount(joined)
    if counts.max() > 1:
        permutation = np.argsort(joined, kind="stable")
        return joined[permutation], permutation
    # No row has two outputs: each one's place follows from its row, without sorting.
    places = np.empty(len(counts), np.int64)
    places[joined] = np.arange(len(joined))
    source = np.flatnonzero(counts)
    return source, places[source]


def is_every_row_once(rows: np.ndarray, length: int) -> bool:
    """Say whether the rows are 0, 1, 2, ... up to the length, so that nothing has to be gathered."""
    return len(rows) == length and (length == 0 or bool(np.array_equal(rows, np.arange(length))))
