"""The format `cdc`: CDC Format 1.0 (JSON).

Canonical fields take what they can hold; every other member of the specification is an attribute `cdc.<path>`; members
that the specification does not know stay in the layout. See "Attributes" in SPEC.md.
"""

from typing import Any

import msgspec

from abi.event_pb2 import Event, Operation, SourceMetadata, TransactionMetadata
from abi.formats import json_text, timestamps
from abi.formats.cdc_slots import DOCUMENT, NAME, TEXTS, TYPES
from abi.formats.json_format import MAX_UINT64, NULL, JsonFormat, raw_null
from abi.formats.json_schema import schema_of
from abi.formats.refusals import shown, undecodable

VERSION = "1.0"
EVENT_TYPES = ("entity:created", "entity:updated", "entity:deleted")
_MAX_INT64 = 2**63 - 1


class _Source(msgspec.Struct):
    database: str | None = None
    instance: str | None = None
    database_name: str | None = None
    host: str | None = None
    region: str | None = None
    transaction_id: str | None = None
    session_id: str | None = None
    user: str | None = None
    schema: str | None = None


class _Entity(msgspec.Struct):
    entity_type: str
    entity_id: str
    entity_identifier: str | None = None
    tenant_id: str | None = None
    version: int | None = None
    is_soft_deleted: bool | None = None


class _Operation(msgspec.Struct):
    type: str
    trigger: str | None = None
    timestamp: str | None = None
    before: msgspec.Raw = msgspec.field(default_factory=raw_null)
    after: msgspec.Raw = msgspec.field(default_factory=raw_null)
    changed_fields: msgspec.Raw = msgspec.field(default_factory=raw_null)
    changed_field_values: msgspec.Raw = msgspec.field(default_factory=raw_null)


class _CdcEvent(msgspec.Struct):
    version: str
    event_id: str
    event_type: str
    timestamp: str
    sequence_number: int
    schema_name: str
    schema_version: str
    source: _Source
    entity: _Entity
    operation: _Operation
    cascade: msgspec.Raw
    metadata: msgspec.Raw


_DECODER = msgspec.json.Decoder(_CdcEvent)


class CdcFormat(JsonFormat):
    """CDC Format 1.0."""

    name = NAME
    document = DOCUMENT

    def _read(self, data: bytes) -> Event:
        read = json_text.read(NAME, _DECODER, data)
        _check_enums(read, data)
        source, operation = read.source, read.operation
        event = Event(
            op=TYPES[operation.type],
            table=read.entity.entity_type,
            schema=source.schema,
            envelope_version=1,
        )
        images = (("before", operation.before), ("after", operation.after))
        for field, raw in images:
            value = bytes(raw)
            if value != NULL:
                _check_shape(data, value, f"operation.{field}", b"{")
                setattr(event, field, value)
        attributes = _texts(read)
        event.ts = _time(data, attributes, "timestamp", read.timestamp)
        timestamp = 0
        if operation.timestamp is not None:
            timestamp = _time(data, attributes, "operation.timestamp", operation.timestamp)
        event.source.CopyFrom(
            SourceMetadata(source_name=source.database or "", offset=str(_sequence(data, read)), timestamp=timestamp)
        )
        _take_transaction(event, attributes, source.transaction_id)
        _take_json(data, attributes, read)
        for key, text in attributes.items():
            event.attributes[key] = text
        return event

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the documents."""
        return schema_of(_CdcEvent, "CDC Format 1.0")


def _check_enums(read: _CdcEvent, data: bytes) -> None:
    for path, value, allowed in (
        ("version", read.version, (VERSION,)),
        ("event_type", read.event_type, EVENT_TYPES),
        ("operation.type", read.operation.type, tuple(TYPES)),
    ):
        if value not in allowed:
            raise undecodable(
                NAME,
                f"unknown {path} {shown(value)}",
                path=f"$.{path}",
                offset=json_text.locate(data, f"$.{path}"),
                hint=f"allowed: {', '.join(allowed)}",
            )


def _sequence(data: bytes, read: _CdcEvent) -> int:
    number = read.sequence_number
    if not -_MAX_INT64 - 1 <= number <= _MAX_INT64:
        path = "$.sequence_number"
        raise undecodable(
            NAME, f"{shown(str(number))} is no 64-bit integer", path=path, offset=json_text.locate(data, path)
        )
    return number


def _texts(read: _CdcEvent) -> dict[str, bytes]:
    """Collect the members that are kept as plain text."""
    parts = {"": read, "source": read.source, "entity": read.entity, "operation": read.operation}
    found: dict[str, bytes] = {}
    for path in TEXTS:
        parent, _, name = path.rpartition(".")
        value = getattr(parts[parent], name)
        if value is not None:
            found[f"{NAME}.{path}"] = str(value).encode()
    if read.entity.version is not None:
        found[f"{NAME}.entity.version"] = b"%d" % read.entity.version
    if read.entity.is_soft_deleted is not None:
        found[f"{NAME}.entity.is_soft_deleted"] = b"true" if read.entity.is_soft_deleted else b"false"
    return found


def _time(data: bytes, attributes: dict[str, bytes], path: str, text: str) -> int:
    milliseconds = timestamps.milliseconds_of(text)
    if milliseconds is None:
        raise undecodable(
            NAME,
            f"{shown(text)} is no time",
            path=f"$.{path}",
            offset=json_text.locate(data, f"$.{path}"),
            hint="write RFC 3339 with a zone, from 1970 on: 2026-01-11T15:35:00.123456Z",
        )
    if timestamps.text_of(milliseconds) != text:
        attributes[f"{NAME}.{path}"] = text.encode()
    return milliseconds


def _take_transaction(event: Event, attributes: dict[str, bytes], text: str | None) -> None:
    if text is None:
        return
    # Only the text that the number is written back as; "007" must not come back as "7".
    is_number = text.isascii() and text.isdigit() and len(text) <= 20
    if is_number and int(text) <= MAX_UINT64 and str(int(text)) == text:
        event.transaction.CopyFrom(TransactionMetadata(tx_id=int(text)))
    else:
        attributes[f"{NAME}.source.transaction_id"] = text.encode()


def _take_json(data: bytes, attributes: dict[str, bytes], read: _CdcEvent) -> None:
    for path, raw, opening in (
        ("operation.changed_fields", read.operation.changed_fields, b"["),
        ("operation.changed_field_values", read.operation.changed_field_values, b"{"),
        ("cascade", read.cascade, b"{"),
        ("metadata", read.metadata, b"{"),
    ):
        value = bytes(raw)
        if value != NULL:
            _check_shape(data, value, path, opening)
            attributes[f"{NAME}.{path}"] = value


def _check_shape(data: bytes, value: bytes, path: str, opening: bytes) -> None:
    if not value.startswith(opening):
        kind = "an object" if opening == b"{" else "an array"
        raise undecodable(
            NAME,
            f"expected {kind}, got {shown(value[:20].decode('utf-8', 'replace'))}",
            path=f"$.{path}",
            offset=json_text.locate(data, f"$.{path}"),
        )


assert set(TYPES.values()) == {Operation.INSERT, Operation.UPDATE, Operation.DELETE}
