"""The format `json`: the canonical Event as rustcdc's serde writes it.

Row images are JSON values in the document, not strings; operations are in snake case; what is absent is `null`. Our
attributes, which serde ignores, stand in a last member `attributes` (values in base64) when there are any.
"""

import base64
import binascii
from typing import Any

import msgspec

from abi.event_pb2 import Event, Operation, SnapshotMetadata, SourceMetadata, TransactionMetadata
from abi.formats import json_text
from abi.formats.json_format import MAX_UINT32, NULL, JsonFormat, image, raw_null, unsigned
from abi.formats.json_schema import schema_of
from abi.formats.layout import Document, Slot, View
from abi.formats.refusals import shown, undecodable, unencodable

NAME = "json"
OPERATIONS: dict[str, Operation] = {
    "insert": Operation.INSERT,
    "update": Operation.UPDATE,
    "delete": Operation.DELETE,
    "read": Operation.READ,
    "schema_change": Operation.SCHEMA_CHANGE,
    "truncate": Operation.TRUNCATE,
}
_OPERATION_TEXTS = {number: json_text.quote(name) for name, number in OPERATIONS.items()}


class _Source(msgspec.Struct):
    source_name: str
    offset: str
    timestamp: int


class _Snapshot(msgspec.Struct):
    snapshot_id: str
    chunk_index: int
    is_last_chunk: bool


class _Transaction(msgspec.Struct):
    tx_id: int
    event_index: int
    total_events: int | None = None


class _Event(msgspec.Struct):
    op: str
    source: _Source
    ts: int
    table: str
    envelope_version: int
    before: msgspec.Raw = msgspec.field(default_factory=raw_null)
    after: msgspec.Raw = msgspec.field(default_factory=raw_null)
    schema: str | None = None
    primary_key: list[str] | None = None
    snapshot: _Snapshot | None = None
    transaction: _Transaction | None = None
    before_is_key_only: bool = False
    unavailable_columns: list[str] = []  # msgspec gives every document a list of its own
    before_unavailable_columns: list[str] = []
    attributes: dict[str, str] = {}


_DECODER = msgspec.json.Decoder(_Event)


def _operation_text(view: View) -> bytes:
    text = _OPERATION_TEXTS.get(view.event.op)
    if text is None:
        raise unencodable(NAME, f"operation {int(view.event.op)} has no name", path="op", hint="set op to 1..6")
    return text


def _source_text(view: View) -> bytes:
    source = view.event.source
    return b'{"source_name":%b,"offset":%b,"timestamp":%d}' % (
        json_text.quote(source.source_name),
        json_text.quote(source.offset),
        source.timestamp,
    )


def _schema_text(view: View) -> bytes:
    return json_text.quote(view.event.schema) if view.event.HasField("schema") else NULL


def _primary_key_text(view: View) -> bytes:
    return msgspec.json.encode(list(view.event.primary_key)) if view.event.primary_key else NULL


def _snapshot_text(view: View) -> bytes:
    if not view.event.HasField("snapshot"):
        return NULL
    snapshot = view.event.snapshot
    return b'{"snapshot_id":%b,"chunk_index":%d,"is_last_chunk":%b}' % (
        json_text.quote(snapshot.snapshot_id),
        snapshot.chunk_index,
        b"true" if snapshot.is_last_chunk else b"false",
    )


def _transaction_text(view: View) -> bytes:
    if not view.event.HasField("transaction"):
        return NULL
    transaction = view.event.transaction
    total = b"%d" % transaction.total_events if transaction.total_events else NULL
    return b'{"tx_id":%d,"total_events":%b,"event_index":%d}' % (transaction.tx_id, total, transaction.event_index)


def _unavailable_text(view: View) -> bytes | None:
    return msgspec.json.encode(list(view.event.unavailable_columns)) if view.event.unavailable_columns else None


def _before_unavailable_text(view: View) -> bytes | None:
    columns = view.event.before_unavailable_columns
    return msgspec.json.encode(list(columns)) if columns else None


def _attributes_text(view: View) -> bytes | None:
    kept = {key: base64.b64encode(view.attributes[key]) for key in sorted(view.attributes) if key != "json.layout"}
    if not kept:
        return None
    return b"{%b}" % b",".join(b'%b:"%b"' % (json_text.quote(key), value) for key, value in kept.items())


_DOCUMENT = Document(
    NAME,
    [
        Slot("before", image(NAME, "before", "before", NULL)),
        Slot("after", image(NAME, "after", "after", NULL)),
        Slot("op", _operation_text),
        Slot("source", _source_text),
        Slot("ts", lambda view: b"%d" % view.event.ts),
        Slot("schema", _schema_text),
        Slot("table", lambda view: json_text.quote(view.event.table)),
        Slot("primary_key", _primary_key_text),
        Slot("snapshot", _snapshot_text),
        Slot("transaction", _transaction_text),
        Slot("envelope_version", lambda view: b"%d" % view.event.envelope_version),
        Slot("before_is_key_only", lambda view: b"true" if view.event.before_is_key_only else b"false"),
        Slot("unavailable_columns", _unavailable_text),
        Slot("before_unavailable_columns", _before_unavailable_text),
        Slot("attributes", _attributes_text),
    ],
)


class CanonicalJsonFormat(JsonFormat):
    """The canonical Event in JSON."""

    name = NAME
    document = _DOCUMENT

    def _read(self, data: bytes) -> Event:
        read = json_text.read(NAME, _DECODER, data)
        op = OPERATIONS.get(read.op)
        if op is None:
            raise undecodable(
                NAME,
                f"unknown operation {shown(read.op)}",
                path="$.op",
                offset=json_text.locate(data, "$.op"),
                hint=f"allowed are {', '.join(OPERATIONS)}",
            )
        before, after = bytes(read.before), bytes(read.after)
        return Event(
            before=None if before == NULL else before,
            after=None if after == NULL else after,
            op=op,
            source=SourceMetadata(
                source_name=read.source.source_name,
                offset=read.source.offset,
                timestamp=unsigned(NAME, data, "source.timestamp", read.source.timestamp),
            ),
            ts=unsigned(NAME, data, "ts", read.ts),
            schema=read.schema,
            table=read.table,
            primary_key=read.primary_key,
            snapshot=_snapshot(data, read.snapshot),
            transaction=_transaction(data, read.transaction),
            envelope_version=unsigned(NAME, data, "envelope_version", read.envelope_version, MAX_UINT32),
            before_is_key_only=read.before_is_key_only,
            unavailable_columns=read.unavailable_columns,
            before_unavailable_columns=read.before_unavailable_columns,
            attributes={key: _unbase64(key, value) for key, value in read.attributes.items()},
        )

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the documents."""
        return schema_of(_Event, "The canonical change event as rustcdc's serde writes it")


def _snapshot(data: bytes, read: _Snapshot | None) -> SnapshotMetadata | None:
    if read is None:
        return None
    chunk_index = unsigned(NAME, data, "snapshot.chunk_index", read.chunk_index, MAX_UINT32)
    return SnapshotMetadata(snapshot_id=read.snapshot_id, chunk_index=chunk_index, is_last_chunk=read.is_last_chunk)


def _transaction(data: bytes, read: _Transaction | None) -> TransactionMetadata | None:
    if read is None:
        return None
    return TransactionMetadata(
        tx_id=unsigned(NAME, data, "transaction.tx_id", read.tx_id),
        total_events=unsigned(NAME, data, "transaction.total_events", read.total_events or 0, MAX_UINT32),
        event_index=unsigned(NAME, data, "transaction.event_index", read.event_index, MAX_UINT32),
    )


def _unbase64(key: str, value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise undecodable(NAME, f"attribute {shown(key)} is not base64", path="$.attributes") from None
