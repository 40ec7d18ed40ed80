"""How each member of a CDC Format 1.0 document is written from the canonical fields and the `cdc.` attributes."""

import re
import uuid

from abi.event_pb2 import Operation
from abi.formats import json_text, timestamps
from abi.formats.identity import key_value, stable_id
from abi.formats.json_format import (
    NULL,
    Text,
    constant,
    image,
    json_attribute,
    literal_attribute,
    text_attribute,
)
from abi.formats.layout import Document, Slot, View
from abi.formats.refusals import unencodable

NAME = "cdc"
TYPES = {"CREATE": Operation.INSERT, "UPDATE": Operation.UPDATE, "DELETE": Operation.DELETE}
TEXTS = (
    "event_id",
    "schema_name",
    "schema_version",
    "source.instance",
    "source.database_name",
    "source.host",
    "source.region",
    "source.session_id",
    "source.user",
    "entity.entity_id",
    "entity.entity_identifier",
    "entity.tenant_id",
    "operation.trigger",
)
"""Members that are attributes of plain text."""

# The specification has no snapshot read. A row that was read is a row that exists: CREATE is the one honest reading.
_WRITTEN = {
    Operation.INSERT: (b'"CREATE"', b'"entity:created"'),
    Operation.READ: (b'"CREATE"', b'"entity:created"'),
    Operation.UPDATE: (b'"UPDATE"', b'"entity:updated"'),
    Operation.DELETE: (b'"DELETE"', b'"entity:deleted"'),
}
_NO_CASCADE = b'{"updated":[],"deleted":[],"invalidations":[]}'
_INT64 = re.compile(r"-?(0|[1-9]\d{0,18})", re.ASCII)
_INTEGER = re.compile(rb"-?(0|[1-9]\d*)")


def _operation(view: View, which: int) -> bytes:
    written = _WRITTEN.get(view.event.op)
    if written is None:
        raise unencodable(
            NAME,
            f"operation {int(view.event.op)} has no CDC 1.0 type",
            path="op",
            hint="CDC 1.0 knows INSERT, UPDATE and DELETE (READ is written as CREATE); filter the others out first",
        )
    return written[which]


def _time(path: str, of_source: bool) -> Text:
    key = f"{NAME}.{path}"

    def text(view: View) -> bytes | None:
        milliseconds = view.event.source.timestamp if of_source else view.event.ts
        if of_source and not milliseconds:
            return None
        finer = view.attributes.get(key)
        if finer is not None:
            kept = finer.decode("utf-8", "replace")
            # The canonical field wins: a guest that moved it did not know of the finer text.
            if timestamps.milliseconds_of(kept) == milliseconds:
                return json_text.quote(kept)
        if milliseconds > timestamps.MAX_MILLISECONDS:
            raise unencodable(NAME, f"{milliseconds} ms lies after the year 9999", path=path)
        return json_text.quote(timestamps.text_of(milliseconds))

    return text


def _event_id(view: View) -> bytes:
    return _ID(view) or json_text.quote(f"evt_{uuid.UUID(bytes=stable_id(view.event))}")


def _entity_id(view: View) -> bytes:
    return _ENTITY_ID(view) or json_text.quote(key_value(view.event))


def _sequence_number(view: View) -> bytes:
    offset = view.event.source.offset
    return offset.encode() if _INT64.fullmatch(offset) and -(2**63) <= int(offset) < 2**63 else b"0"


def _database(view: View) -> bytes:
    return json_text.quote(view.event.source.source_name)


def _transaction_id(view: View) -> bytes | None:
    if view.event.HasField("transaction"):
        return b'"%d"' % view.event.transaction.tx_id
    return _TRANSACTION_ID(view)


def _schema(view: View) -> bytes | None:
    return json_text.quote(view.event.schema) if view.event.HasField("schema") else None


def _after(view: View) -> bytes | None:
    # A hard delete says that nothing is left; a missing image elsewhere is just not there.
    return _AFTER(view) or (NULL if view.event.op == Operation.DELETE else None)


_ID = text_attribute(NAME, "event_id")
_ENTITY_ID = text_attribute(NAME, "entity.entity_id")
_TRANSACTION_ID = text_attribute(NAME, "source.transaction_id")
_AFTER = image(NAME, "after", "operation.after", None, opening=b"{")


def _text(path: str, otherwise: bytes | None = None) -> Slot:
    return Slot(path, text_attribute(NAME, path, otherwise))


DOCUMENT = Document(
    NAME,
    [
        Slot("version", constant(b'"1.0"')),
        Slot("event_id", _event_id),
        Slot("event_type", lambda view: _operation(view, 1)),
        Slot("timestamp", _time("timestamp", of_source=False)),
        Slot("sequence_number", _sequence_number),
        _text("schema_name", b'""'),
        _text("schema_version", b'""'),
        Slot("source.database", _database),
        _text("source.instance"),
        _text("source.database_name"),
        _text("source.host"),
        _text("source.region"),
        Slot("source.transaction_id", _transaction_id),
        _text("source.session_id"),
        _text("source.user"),
        Slot("source.schema", _schema),
        Slot("entity.entity_type", lambda view: json_text.quote(view.event.table)),
        Slot("entity.entity_id", _entity_id),
        _text("entity.entity_identifier"),
        _text("entity.tenant_id"),
        Slot("entity.version", literal_attribute(NAME, "entity.version", _INTEGER.fullmatch, "an integer")),
        Slot(
            "entity.is_soft_deleted",
            literal_attribute(NAME, "entity.is_soft_deleted", {b"true", b"false"}.__contains__, "true or false"),
        ),
        Slot("operation.type", lambda view: _operation(view, 0)),
        _text("operation.trigger"),
        Slot("operation.timestamp", _time("operation.timestamp", of_source=True)),
        Slot("operation.before", image(NAME, "before", "operation.before", None, opening=b"{")),
        Slot("operation.after", _after),
        Slot("operation.changed_fields", json_attribute(NAME, "operation.changed_fields", opening=b"[")),
        Slot("operation.changed_field_values", json_attribute(NAME, "operation.changed_field_values", opening=b"{")),
        Slot("cascade", json_attribute(NAME, "cascade", _NO_CASCADE, opening=b"{")),
        Slot("metadata", json_attribute(NAME, "metadata", b"{}", opening=b"{")),
    ],
)
