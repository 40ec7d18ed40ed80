"""Which format some bytes are in, told from the bytes alone."""

import msgspec

from abi.errors import DecodeError
from abi.event_pb2 import Event
from abi.formats import json_text, wire
from abi.formats.avro import AvroFormat
from abi.formats.canonical_json import OPERATIONS
from abi.formats.opencdc_parts import OPERATIONS as OPENCDC_OPERATIONS
from abi.formats.opencdc_pb2 import Record
from abi.formats.refusals import undecodable

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STRING = msgspec.json.Decoder(str)
_ANY = "any"


def detect(data: bytes) -> str:
    """Return the name of the format that `data` is in.

    It looks at the shape, not at every value: what it names may still fail to decode.

    Raises:
        DecodeError: it looks like none of the formats.

    >>> detect(b'{"before":null,"after":{"id":1},"source":{"connector":"mysql"},"op":"c","ts_ms":1}')
    'debezium'
    """
    text = data.strip(b" \t\r\n")
    if text == b"null":
        return "debezium"  # a tombstone; no other format has a document without content
    if text.startswith(b"{") and text.endswith(b"}"):
        try:
            name = _of_object(json_text.read(_ANY, _MEMBERS, data))
        except DecodeError:
            name = None
        if name is not None:
            return name
    name = _of_binary(data)
    if name is None:
        raise undecodable(
            "change",
            f"{len(data)} bytes look like none of protobuf, avro, json, cdc, opencdc, debezium",
            offset=0,
            hint="name the format, and see what its decoder says",
        )
    return name


def _of_object(members: dict[str, msgspec.Raw]) -> str | None:
    names = members.keys()
    if {"event_id", "event_type", "operation"} <= names:
        return "cdc"
    if _string(members.get("operation")) in OPENCDC_OPERATIONS:
        return "opencdc"
    operation = _string(members.get("op"))
    if operation in OPERATIONS and {"table", "source"} <= names:
        return "json"
    if operation is not None and len(operation) == 1 and names & {"before", "after", "source"}:
        return "debezium"
    is_schema_change = names & {"ddl", "tableChanges"}
    return "debezium" if is_schema_change or {"schema", "payload"} <= names else None


def _string(raw: msgspec.Raw | None) -> str | None:
    if raw is None or not bytes(raw).startswith(b'"'):
        return None
    return _STRING.decode(raw)


def _of_binary(data: bytes) -> str | None:
    if data.startswith(b"\xc3\x01"):
        return "avro"
    # The two protobuf messages differ in the wire types of their fields; Avro's first byte is no protobuf tag.
    for name, message in (("protobuf", Event), ("opencdc", Record)):
        if data and _has_fields_of(data, message):
            return name
    try:
        AvroFormat().decode(data)
    except DecodeError:
        return None
    return "avro"


def _has_fields_of(data: bytes, message: type[Event] | type[Record]) -> bool:
    fields = message.DESCRIPTOR.fields_by_number
    known = 0
    try:
        for record in wire.records(data):
            field = fields.get(record.number)
            if field is None:  # a newer writer may know fields that we do not
                continue
            known += 1
            is_varint = field.cpp_type in _VARINT_TYPES
            if record.wire_type != (wire.VARINT if is_varint else wire.BYTES):
                return False
    except wire.WireError:
        return False
    return known > 0


_VARINT_TYPES = frozenset(
    field.cpp_type
    for name in ("op", "ts", "envelope_version", "before_is_key_only")
    for field in [Event.DESCRIPTOR.fields_by_name[name]]
)
