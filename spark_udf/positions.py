"""What identifies an event and where it stands, read from whole Arrow arrays of events.

Runs on executors. Knows the notations of positions that sources use; knows nothing of DataFrames.
"""

import hashlib
import re

import pyarrow as pa
import pyarrow.compute as pc

from abi import Event
from abi.formats import events_to_columns
from abi.formats.identity import key_value

EVENT_ID = "cdc.event_id"
ENTITY_ID = "cdc.entity.entity_id"

IDENTITY = pa.struct([pa.field("key", pa.string()), pa.field("ts", pa.timestamp("us", "UTC"))])
PLACE = pa.struct(
    [
        pa.field("group", pa.string()),
        pa.field("source", pa.string()),
        pa.field("position", pa.string()),
        pa.field("event_index", pa.int64()),
    ]
)

_DIGITS = re.compile(r"\d+", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,19}", re.ASCII)
_LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", re.ASCII)
_SQL_SERVER_LSN = re.compile(r"[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8}:[0-9A-Fa-f]{4}", re.ASCII)
_MAX_DIGITS = 20
# Beyond the year 9999 Spark has no timestamp; such an event is as late as can be.
_LAST_MS = 253_402_300_799_999


def identities(events: pa.Array, by: str) -> pa.Array:
    """Return each event's identity (null where it has none) and its time.

    Args:
        events: Canonical events.
        by: "event_id", "position", or "auto": the event id where there is one, else the position.
    """
    columns, _ = events_to_columns(events)
    names = ["source_name", "source_offset", "tx_id", "tx_event_index", "schema", "table", "op", "before", "after"]
    rows = zip(*(columns.column(name).to_pylist() for name in names), strict=True)
    attributes = columns.column("attributes").to_pylist()
    keys = [_identity(dict(found or ()), row, by) for found, row in zip(attributes, rows, strict=True)]
    milliseconds = pc.min_element_wise(pc.max_element_wise(columns.column("ts"), 0), _LAST_MS, skip_nulls=False)
    moments = pc.multiply(milliseconds, 1000).cast(pa.timestamp("us", "UTC"))
    return pa.StructArray.from_arrays([pa.array(keys, pa.string()), moments], fields=list(IDENTITY))


def _identity(attributes: dict[str, bytes], row: tuple[object, ...], by: str) -> str | None:
    event_id = attributes.get(EVENT_ID) if by != "position" else None
    if event_id is not None:
        return "id:" + event_id.decode("utf-8", "replace")
    offset = row[1]
    if by == "event_id" or not offset:
        return None
    framed = "".join(f"{len(str(part))}:{part};" for part in row)
    return "at:" + hashlib.blake2b(framed.encode("utf-8", "replace"), digest_size=16).hexdigest()


def places(events: pa.Array, within: str) -> pa.Array:
    """Return the group that each event is ordered in, and its place: source, sortable position, index.

    Args:
        events: Canonical events.
        within: "entity", "table" or "source".
    """
    columns, failures = events_to_columns(events)
    failed = {failure.row for failure in failures}
    names = ["source_name", "schema", "table", "source_offset", "tx_event_index"]
    sources, schemas, tables, offsets, indices = (columns.column(name).to_pylist() for name in names)
    groups: list[str | None] = []
    for row, data in enumerate(events.to_pylist()):
        if data is None or row in failed:
            groups.append(None)
        elif within == "source":
            groups.append(sources[row] or "")
        else:
            whole = f"{sources[row] or ''}\x1f{schemas[row] or ''}\x1f{tables[row]}"
            groups.append(whole if within == "table" else f"{whole}\x1f{_entity(data)}")
    positions = [None if offset is None else sortable(offset) for offset in offsets]
    arrays = [
        pa.array(groups, pa.string()),
        pa.array(sources, pa.string()),
        pa.array(positions, pa.string()),
        pa.array(indices, pa.int64()),
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(PLACE))


def _entity(data: bytes) -> str:
    event = Event.FromString(data)
    kept = event.attributes.get(ENTITY_ID)
    return key_value(event) if kept is None else kept.decode("utf-8", "replace")


def sortable(offset: str) -> str:
    """Write a position so that plain text order is the order of positions.

    Whole numbers, PostgreSQL's `0/16B6A70`, SQL Server's `00000025:00000d98:00a2`, and names with numbers such as
    MySQL's `binlog.000003:154` are known; in anything else the runs of digits are compared as numbers.

    >>> sorted(["10", "9", "-1"], key=sortable)
    ['-1', '9', '10']
    >>> sorted(["1/0", "0/FF", "0/16B6A70"], key=sortable)
    ['0/FF', '0/16B6A70', '1/0']
    >>> sorted(["binlog.000010:4", "binlog.000009:120", "binlog.000009:20"], key=sortable)
    ['binlog.000009:20', 'binlog.000009:120', 'binlog.000010:4']
    """
    if _INTEGER.fullmatch(offset):
        return f"{int(offset) + 2**63:020d}"
    if lsn := _LSN.fullmatch(offset):
        return f"{lsn[1].upper():0>8}/{lsn[2].upper():0>8}"
    if _SQL_SERVER_LSN.fullmatch(offset):
        return offset.lower()
    return _DIGITS.sub(lambda digits: digits[0].zfill(_MAX_DIGITS), offset)
