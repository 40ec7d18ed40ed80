"""The canonical event as columns: one for each field, row images as JSON text.

Spark and many Arrow readers have no unsigned integers: 64-bit ones are the signed ones of the same bits, 32-bit ones
are 64-bit here. A message that is absent (source, snapshot, transaction) is null in all of its columns.
"""

from enum import Enum, unique
from typing import NamedTuple

from abi.event_pb2 import Event, Operation


@unique
class Kind(Enum):
    """How a field stands on the wire and in a column."""

    IMAGE = "string, optional bytes"
    OPTIONAL_TEXT = "string, optional"
    TEXT = "string"
    UINT64 = "int64 of the same bits"
    UINT32 = "int64"
    BOOL = "bool"
    OPERATION = "string, name of the operation"
    TEXTS = "list of string"
    MAP = "map of string to binary"


class Column(NamedTuple):
    """One column: its name, the field in the event (and in which message), and its kind."""

    name: str
    number: int
    kind: Kind
    message: int = 0


SOURCE, SNAPSHOT, TRANSACTION = 4, 9, 10
MESSAGES = (SOURCE, SNAPSHOT, TRANSACTION)

COLUMNS: tuple[Column, ...] = (
    Column("before", 1, Kind.IMAGE),
    Column("after", 2, Kind.IMAGE),
    Column("op", 3, Kind.OPERATION),
    Column("source_name", 1, Kind.TEXT, SOURCE),
    Column("source_offset", 2, Kind.TEXT, SOURCE),
    Column("source_timestamp", 3, Kind.UINT64, SOURCE),
    Column("ts", 5, Kind.UINT64),
    Column("schema", 6, Kind.OPTIONAL_TEXT),
    Column("table", 7, Kind.TEXT),
    Column("primary_key", 8, Kind.TEXTS),
    Column("snapshot_id", 1, Kind.TEXT, SNAPSHOT),
    Column("snapshot_chunk_index", 2, Kind.UINT32, SNAPSHOT),
    Column("snapshot_is_last_chunk", 3, Kind.BOOL, SNAPSHOT),
    Column("tx_id", 1, Kind.UINT64, TRANSACTION),
    Column("tx_total_events", 2, Kind.UINT32, TRANSACTION),
    Column("tx_event_index", 3, Kind.UINT32, TRANSACTION),
    Column("envelope_version", 11, Kind.UINT32),
    Column("before_is_key_only", 12, Kind.BOOL),
    Column("unavailable_columns", 13, Kind.TEXTS),
    Column("before_unavailable_columns", 14, Kind.TEXTS),
    Column("attributes", 1000, Kind.MAP),
)
NAMES = tuple(column.name for column in COLUMNS)
OPERATIONS: tuple[str, ...] = tuple(Operation.keys())
"""Names of the operations; a name's position is its number."""

assert all(Operation.Value(name) == number for number, name in enumerate(OPERATIONS))
assert {column.message or column.number for column in COLUMNS} == set(Event.DESCRIPTOR.fields_by_number)
