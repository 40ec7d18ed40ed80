"""The format `debezium`: Debezium's JSON change envelope, with or without its Kafka Connect schema, and tombstones.

The `source` object differs from connector to connector, so it is kept whole in the attribute `debezium.source`, and
the canonical fields are derived from it; a canonical field that a guest has changed is patched back into it. A schema
change (an envelope with `ddl` or `tableChanges` and no `op`) is the operation SCHEMA_CHANGE.
"""

from typing import Any

import msgspec

from abi.event_pb2 import Event, Operation
from abi.formats import debezium_source, json_text
from abi.formats.debezium_slots import BARE, OPERATIONS, TOMBSTONE, WRAPPED
from abi.formats.debezium_source import NAME
from abi.formats.json_format import NULL, JsonFormat, raw_null, unsigned
from abi.formats.json_schema import schema_of
from abi.formats.layout import Document, View
from abi.formats.refusals import shown, undecodable

UNAVAILABLE = b'"__debezium_unavailable_value"'
"""What Debezium writes for a column whose value the source did not send."""


class _Envelope(msgspec.Struct):
    before: msgspec.Raw = msgspec.field(default_factory=raw_null)
    after: msgspec.Raw = msgspec.field(default_factory=raw_null)
    source: msgspec.Raw = msgspec.field(default_factory=raw_null)
    transaction: msgspec.Raw = msgspec.field(default_factory=raw_null)
    op: str | None = None
    ts_ms: int | None = None
    ts_us: int | None = None
    ts_ns: int | None = None
    database_name: str | None = msgspec.field(default=None, name="databaseName")
    schema_name: str | None = msgspec.field(default=None, name="schemaName")
    ddl: str | None = None
    table_changes: msgspec.Raw = msgspec.field(default_factory=raw_null, name="tableChanges")


class _Wrapped(msgspec.Struct):
    schema: msgspec.Raw
    payload: _Envelope


_OUTER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_WRAPPED = msgspec.json.Decoder(_Wrapped)
_BARE = msgspec.json.Decoder(_Envelope)
_ROW = msgspec.json.Decoder(dict[str, msgspec.Raw])


class DebeziumFormat(JsonFormat):
    """Debezium's JSON envelope."""

    name = NAME

    def _read(self, data: bytes) -> Event:
        json_text.check_text(NAME, data)
        if data.strip(b" \t\r\n") == NULL:
            return _tombstone(data)
        bare = json_text.read(NAME, _BARE, data)
        if bare.op is not None:
            return _event(data, "", bare)
        outer = json_text.read(NAME, _OUTER, data)
        if "payload" not in outer:
            return _event(data, "", bare)
        if bytes(outer["payload"]) == NULL:
            return _tombstone(data)
        wrapped = json_text.read(NAME, _WRAPPED, data)
        event = _event(data, "payload.", wrapped.payload)
        event.attributes[f"{NAME}.schema"] = bytes(wrapped.schema)
        return event

    def decode(self, data: bytes) -> Event:
        """Read one event; see `Format.decode`."""
        event = super().decode(data) if data.strip(b" \t\r\n") != NULL else self._read(data)
        if TOMBSTONE in event.attributes:
            event.attributes.pop(self.layout_key, None)
        return event

    def encode(self, event: Event) -> bytes:
        """Write one event; see `Format.encode`."""
        if TOMBSTONE in event.attributes:
            return json_text.checked_whole(NAME, TOMBSTONE, event.attributes[TOMBSTONE])
        return super().encode(event)

    def _document(self, view: View) -> Document:
        return WRAPPED if f"{NAME}.schema" in view.attributes else BARE

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the documents without a Kafka Connect schema."""
        return schema_of(_Envelope, "Debezium change envelope")


def _tombstone(data: bytes) -> Event:
    # A tombstone deletes a key that stands outside of the document; it is kept whole.
    return Event(op=Operation.DELETE, envelope_version=1, attributes={TOMBSTONE: data})


def _event(data: bytes, prefix: str, read: _Envelope) -> Event:
    event = Event(op=_operation(data, prefix, read), envelope_version=1)
    for field, raw in (("before", read.before), ("after", read.after)):
        value = bytes(raw)
        if value != NULL:
            setattr(event, field, value)
            if UNAVAILABLE in value:
                columns = event.unavailable_columns if field == "after" else event.before_unavailable_columns
                columns.extend(_unavailable(value))
    if read.ts_ms is not None:
        event.ts = unsigned(NAME, data, f"{prefix}ts_ms", read.ts_ms)
    attributes = event.attributes
    for name, number in (("ts_us", read.ts_us), ("ts_ns", read.ts_ns)):
        if number is not None:
            attributes[f"{NAME}.{name}"] = b"%d" % number
    for name, text in (("databaseName", read.database_name), ("schemaName", read.schema_name), ("ddl", read.ddl)):
        if text is not None:
            attributes[f"{NAME}.{name}"] = text.encode()
    for name, raw in (
        ("source", read.source),
        ("transaction", read.transaction),
        ("tableChanges", read.table_changes),
    ):
        if bytes(raw) != NULL:
            attributes[f"{NAME}.{name}"] = bytes(raw)
    debezium_source.derive(event, data, prefix, bytes(read.source), bytes(read.transaction))
    return event


def _operation(data: bytes, prefix: str, read: _Envelope) -> Operation:
    if read.op is None and (read.ddl is not None or bytes(read.table_changes) != NULL):
        return Operation.SCHEMA_CHANGE
    op = OPERATIONS.get(read.op or "")
    if op is None:
        path = f"$.{prefix}op"
        raise undecodable(
            NAME,
            f"unknown operation {shown(read.op)}" if read.op is not None else "there is no operation",
            path=path,
            offset=json_text.locate(data, path),
            hint=f"allowed are {', '.join(OPERATIONS)}",
        )
    return op


def _unavailable(image: bytes) -> list[str]:
    if not image.startswith(b"{"):
        return []
    return [name for name, raw in _ROW.decode(image).items() if bytes(raw) == UNAVAILABLE]
