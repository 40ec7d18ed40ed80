"""OpenCDC records in protobuf.

A record that a protobuf serialiser wrote comes back byte for byte, whatever the order of its map entries. One that no
serialiser writes (numbers longer than needed, a field twice, unknown fields deep inside) is refused: to read it and
then to write it differently would be a silent change.
"""

from typing import NoReturn

import msgspec
from google.protobuf.message import DecodeError as ProtobufDecodeError

from abi.event_pb2 import Event
from abi.formats import opencdc_parts as parts
from abi.formats import wire
from abi.formats.json_format import NULL
from abi.formats.layout import View, view_of
from abi.formats.opencdc_parts import NAME
from abi.formats.opencdc_pb2 import Record
from abi.formats.refusals import undecodable, unencodable
from abi.formats.struct_wire import Bits, json_to_struct, struct_to_json
from abi.formats.wire import length_delimited

UNKNOWN = "opencdc.unknown"
"""Fields of the record that we do not know, as they stood on the wire."""
NO_PAYLOAD = "opencdc.payload"
"""Set to `absent` when a record has no payload message at all."""

_NUMBERS = {1: "create", 2: "update", 3: "delete", 4: "snapshot"}
_OPERATION_NUMBERS = {name: number for number, name in _NUMBERS.items()}
_STRINGS = msgspec.json.Decoder(dict[str, str])
_BITS = msgspec.json.Decoder(dict[str, str])


def nonfinite(part: str) -> str:
    """Name the attribute with the bits of numbers that JSON cannot write: a JSON object, pointer to hexadecimal."""
    return f"{NAME}.{part}.nonfinite"


def read_record(data: bytes) -> Event:
    """Read a record into canonical fields and attributes.

    Raises:
        DecodeError: the bytes are no record, or one that could not be written back as it stands.
    """
    try:
        record = Record.FromString(data)
    except ProtobufDecodeError as exc:
        _refuse(data, str(exc))
    operation = _NUMBERS.get(record.operation)
    if operation is None:
        hint = "allowed are 1 (create), 2 (update), 3 (delete), 4 (snapshot)"
        raise undecodable(NAME, f"unknown operation {int(record.operation)}", path="operation", hint=hint)
    event = Event(op=parts.OPERATIONS[operation], envelope_version=1)
    event.attributes[parts.WIRE] = b"protobuf"
    event.source.SetInParent()
    parts.take_position(event, record.position)
    try:
        _take_fields(event, data)
    except wire.WireError as exc:
        raise undecodable(NAME, str(exc), offset=exc.offset) from None
    if write_record(view_of(event)) != data:
        raise undecodable(
            NAME,
            "the record is not written the way a protobuf serialiser writes it",
            hint="write it with a protobuf library; fields that are unknown inside key or payload are not carried",
        )
    return event


def _take_fields(event: Event, data: bytes) -> None:
    metadata: dict[str, str] = {}
    unknown: list[bytes] = []
    has_payload = False
    for record in wire.records(data):
        if record.number == 3:
            fields = {inner.number: inner for inner in wire.records(data, record.start, record.end)}
            if 1 not in fields or 2 not in fields:
                raise wire.WireError("not an entry of the metadata", record.begin)
            name, value = (data[fields[number].start : fields[number].end].decode() for number in (1, 2))
            metadata[name] = value
        elif record.number == 4:
            _take_key(event, data, record)
        elif record.number == 5:
            has_payload = True
            for change in wire.records(data, record.start, record.end):
                if change.number in (1, 2):
                    _take_image(event, data, change, "before" if change.number == 1 else "after")
        elif record.number > 5:
            unknown.append(data[record.begin : record.end])
    parts.take_metadata(event, metadata)
    event.attributes[parts.METADATA] = msgspec.json.encode(metadata)
    if unknown:
        event.attributes[UNKNOWN] = b"".join(unknown)
    if not has_payload:
        event.attributes[NO_PAYLOAD] = b"absent"


def _data(event: Event, data: bytes, record: wire.Record, part: str) -> tuple[bytes | None, bytes | None]:
    """Read a Data message: its raw bytes or its structured data as JSON text; neither if it is empty."""
    raw = text = None
    for inner in wire.records(data, record.start, record.end):
        if inner.number == 1:
            raw, text = data[inner.start : inner.end], None
        elif inner.number == 2:
            bits: Bits = {}
            raw, text = None, struct_to_json(data, inner.start, inner.end, bits)
            if bits:
                event.attributes[nonfinite(part)] = msgspec.json.encode(bits)
    return raw, text


def _take_key(event: Event, data: bytes, record: wire.Record) -> None:
    raw, text = _data(event, data, record, "key")
    if text is not None:
        event.primary_key.extend(msgspec.json.decode(text, type=dict[str, msgspec.Raw]))
        event.attributes[parts.KEY] = text
    else:
        event.attributes[parts.KEY] = NULL if raw is None else parts.base64_text(raw)


def _take_image(event: Event, data: bytes, record: wire.Record, field: str) -> None:
    raw, text = _data(event, data, record, f"payload.{field}")
    if text is not None:
        setattr(event, field, text)
    elif raw is not None:
        parts.take_raw(event, field, raw)
    else:
        event.attributes[parts.marker(field)] = b"empty"


def _refuse(data: bytes, reason: str) -> NoReturn:
    offset = None
    try:
        for record in wire.records(data):
            if record.number in (4, 5) and record.wire_type == wire.BYTES:
                list(wire.records(data, record.start, record.end))
    except wire.WireError as exc:
        reason, offset = str(exc), exc.offset
    raise undecodable(NAME, reason, offset=offset)


def write_record(view: View) -> bytes:
    """Write an event as a record.

    Raises:
        EncodeError: the event has an operation or a value that a record cannot carry.
    """
    position = parts.position_of(view)
    out = [length_delimited(1, position)] if position else []
    out.append(b"\x10%c" % _OPERATION_NUMBERS[parts.operation_of(view)])
    for name, value in _STRINGS.decode(parts.metadata_text(view)).items():
        out.append(length_delimited(3, length_delimited(1, name.encode()) + length_delimited(2, value.encode())))
    key = parts.key_text(view)
    if key is not None:
        out.append(length_delimited(4, _write_data(view, "key", key)))
    change = b"".join(_write_image(view, number, field) for number, field in ((1, "before"), (2, "after")))
    if change or view.attributes.get(NO_PAYLOAD) != b"absent":
        out.append(length_delimited(5, change))
    out.append(view.attributes.get(UNKNOWN, b""))
    return b"".join(out)


def _write_image(view: View, number: int, field: str) -> bytes:
    if not view.event.HasField(field):
        return length_delimited(number, b"") if view.attributes.get(parts.marker(field)) == b"empty" else b""
    text = parts.image_text(view, field)
    return length_delimited(number, _write_data(view, f"payload.{field}", text))


def _write_data(view: View, part: str, text: bytes) -> bytes:
    if text == NULL:
        return b""
    if text.startswith(b'"'):
        return length_delimited(1, parts.unbase64(text) or b"")
    try:
        kept = view.attributes.get(nonfinite(part))
        bits = _BITS.decode(kept) if kept else {}
        return length_delimited(2, json_to_struct(text, bits))
    except (msgspec.DecodeError, ValueError, RecursionError) as exc:
        raise unencodable(NAME, f"cannot be structured data: {exc}", path=part) from None
