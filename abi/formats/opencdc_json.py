"""OpenCDC records in JSON."""

from typing import Any

import msgspec

from abi.event_pb2 import Event
from abi.formats import json_text
from abi.formats import opencdc_parts as parts
from abi.formats.json_format import NULL, raw_null
from abi.formats.json_schema import schema_of
from abi.formats.layout import Document, Slot, View
from abi.formats.opencdc_parts import NAME
from abi.formats.refusals import shown, undecodable


class _Payload(msgspec.Struct):
    before: msgspec.Raw = msgspec.field(default_factory=raw_null)
    after: msgspec.Raw = msgspec.field(default_factory=raw_null)


class _Record(msgspec.Struct):
    operation: str
    position: msgspec.Raw = msgspec.field(default_factory=raw_null)
    metadata: msgspec.Raw = msgspec.field(default_factory=raw_null)
    key: msgspec.Raw = msgspec.field(default_factory=raw_null)
    payload: _Payload | None = None


_DECODER = msgspec.json.Decoder(_Record)
_METADATA = msgspec.json.Decoder(dict[str, str])


def read_record(data: bytes) -> Event:
    """Read a record into canonical fields and attributes, without its layout.

    Raises:
        DecodeError: with the path and offset of what is wrong.
    """
    read = json_text.read(NAME, _DECODER, data)
    op = parts.OPERATIONS.get(read.operation)
    if op is None:
        hint = f"allowed are {', '.join(parts.OPERATIONS)}"
        raise _refusal(data, "operation", f"unknown operation {shown(read.operation)}", hint)
    event = Event(op=op, envelope_version=1)
    event.source.SetInParent()
    if (position := bytes(read.position)) != NULL:
        parts.take_position(event, _bytes(data, "position", position))
    if (metadata := bytes(read.metadata)) != NULL:
        parts.take_metadata(event, _metadata(data, metadata))
        event.attributes[parts.METADATA] = metadata
    if (key := bytes(read.key)) != NULL:
        if key.startswith(b"{"):
            event.primary_key.extend(member.name for member in json_text.members(NAME, key))
        else:
            _bytes(data, "key", key)
        event.attributes[parts.KEY] = key
    payload = read.payload or _Payload()
    for field, raw in (("before", payload.before), ("after", payload.after)):
        text = bytes(raw)
        if text.startswith(b"{"):
            setattr(event, field, text)
        elif text != NULL:
            parts.take_raw(event, field, _bytes(data, f"payload.{field}", text), text)
    return event


def _bytes(data: bytes, path: str, text: bytes) -> bytes:
    value = parts.unbase64(text) if text.startswith(b'"') else None
    if value is None:
        seen = shown(text[:20].decode("utf-8", "replace"))
        allowed = "a string of base64" if path == "position" else "an object or a string of base64"
        raise _refusal(data, path, f"expected {allowed}, got {seen}")
    return value


def _metadata(data: bytes, text: bytes) -> dict[str, str]:
    try:
        return _METADATA.decode(text)
    except msgspec.ValidationError:
        raise _refusal(data, "metadata", "expected an object of strings") from None


def _refusal(data: bytes, path: str, reason: str, hint: str | None = None) -> Exception:
    where = f"$.{path}"
    return undecodable(NAME, reason, path=where, offset=json_text.locate(data, where), hint=hint)


def _position_text(view: View) -> bytes:
    position = parts.position_of(view)
    return parts.base64_text(position) if position else NULL


DOCUMENT = Document(
    NAME,
    [
        Slot("position", _position_text),
        Slot("operation", lambda view: json_text.quote(parts.operation_of(view))),
        Slot("metadata", parts.metadata_text),
        Slot("key", lambda view: parts.key_text(view) or NULL),
        Slot("payload.before", lambda view: parts.image_text(view, "before")),
        Slot("payload.after", lambda view: parts.image_text(view, "after")),
    ],
)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of records in JSON."""
    return schema_of(_Record, "OpenCDC record")
