"""Puts the outcomes of a batch's tenants together again: rows in order, other columns beside them, failures kept."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from spark_udf.failure import FAILURE_ARROW, FAILURE_COLUMN, RowFailure, build_failure_column
from spark_udf.routing import is_every_row_once, restore_order

_MAX_OUTPUT_ROWS = 20_000
_MAX_OUTPUT_BYTES = 256 * 1024 * 1024


@dataclass(slots=True)
class Pieces:
    """What has come out of a batch so far; rows are positions in that batch."""

    events: list[pa.Array] = field(default_factory=list)
    rows: list[np.ndarray] = field(default_factory=list)
    dead: list[RowFailure] = field(default_factory=list)

    def add(self, events: pa.Array, rows: np.ndarray) -> None:
        """Add the output of one tenant."""
        if len(events):
            self.events.append(events)
            self.rows.append(rows)


def assemble(
    batch: pa.RecordBatch,
    pieces: Pieces,
    *,
    event_column: str,
    with_failures: bool,
    event_type: pa.DataType | None = None,
) -> list[pa.RecordBatch]:
    """Make the output batches of an input batch.

    Args:
        batch: The columns that are kept, as they came.
        pieces: What the tenants' transforms gave.
        event_column: The column that is replaced.
        with_failures: Whether a failure column is added.
        event_type: The type of the event column in the output, if it is another than before.
    """
    dead = sorted(pieces.dead, key=lambda failure: failure.row)
    events, rows = list(pieces.events), list(pieces.rows)
    if dead:
        events.append(pa.nulls(len(dead), pa.binary()))
        rows.append(np.fromiter((failure.row for failure in dead), np.int64, len(dead)))
    source, permutation = restore_order(rows)
    joined = _join(events)
    if permutation is not None:
        joined = joined.take(pa.array(permutation))
    original = batch.column(event_column)
    position = batch.schema.get_field_index(event_column)
    others = batch.remove_column(position)
    if others.num_columns and not is_every_row_once(source, batch.num_rows):
        others = others.take(pa.array(source))
    columns = [*others.columns[:position], joined, *others.columns[position:]]
    if with_failures:
        dead_positions = _positions_of_dead(len(source), len(dead), permutation)
        columns.append(build_failure_column(len(source), dead_positions, dead, original))
    return _cut(columns, output_schema(batch.schema, event_column, with_failures, event_type), position)


def output_schema(
    given: pa.Schema, event_column: str, with_failures: bool, event_type: pa.DataType | None = None
) -> pa.Schema:
    """The schema of what comes out: as given, except that the event may be null and a failure may be added."""
    position = given.get_field_index(event_column)
    field = given.field(position).with_nullable(True)
    schema = given.set(position, field.with_type(event_type or field.type))
    return schema.append(pa.field(FAILURE_COLUMN, FAILURE_ARROW)) if with_failures else schema


def _join(events: list[pa.Array]) -> pa.Array:
    if len(events) == 1:
        return events[0]
    if not events:
        return pa.nulls(0, pa.binary())
    # Offsets of 32 bits reach 2 GiB; past that the arrays are joined with 64 bits and cut again afterwards.
    if any(pa.types.is_large_binary(part.type) for part in events) or sum(part.nbytes for part in events) >= 1 << 31:
        events = [part.cast(pa.large_binary()) for part in events]
    return pa.concat_arrays(events)


def _positions_of_dead(length: int, dead: int, permutation: np.ndarray | None) -> np.ndarray:
    """Where the last `dead` rows of the concatenation have gone."""
    if permutation is None:
        return np.arange(length - dead, length)
    where = np.empty(length, np.int64)
    where[permutation] = np.arange(length)
    return where[length - dead :]


def _cut(columns: list[pa.Array], schema: pa.Schema, position: int) -> list[pa.RecordBatch]:
    """Make batches of a size that Spark digests well: a fan-out may have made one batch into a very large one."""
    length, nbytes = len(columns[position]), columns[position].nbytes
    if length == 0:
        return []
    parts = max(-(-length // _MAX_OUTPUT_ROWS), -(-nbytes // _MAX_OUTPUT_BYTES))
    rows_per_part = -(-length // parts)
    event_type = schema.field(position).type
    batches = []
    for start in range(0, length, rows_per_part):
        cut = [column.slice(start, rows_per_part) for column in columns] if parts > 1 else list(columns)
        if cut[position].type != event_type:
            cut[position] = cut[position].cast(event_type)
        batches.append(pa.RecordBatch.from_arrays(cut, schema=schema))
    return batches
