"""The canonical Event as bytes: one deterministic way to write it, one error for what is not one."""

from google.protobuf.message import DecodeError as ProtobufDecodeError

from abi.event_pb2 import Event
from abi.formats import wire
from abi.formats.refusals import undecodable

_NESTED = {4: (1, 2), 9: (1,), 10: (), 1000: (1,)}
"""Message fields of Event, and which of their fields are strings."""
_STRINGS = (6, 7, 8, 13, 14)


def serialise_event(event: Event) -> bytes:
    """Write an event with its map entries sorted, so that equal events have equal bytes."""
    return event.SerializeToString(deterministic=True)


def parse_event(data: bytes) -> Event:
    """Read an event.

    Raises:
        DecodeError: the bytes are not a message of this type, with the offset of the first bad byte.
    """
    try:
        return Event.FromString(data)
    except ProtobufDecodeError as exc:
        path, reason, offset = _find_fault(data)
        raise undecodable("protobuf", reason or str(exc), path=path, offset=offset) from None


def _find_fault(data: bytes) -> tuple[str | None, str | None, int | None]:
    names = {field.number: field.name for field in Event.DESCRIPTOR.fields}
    path: str | None = None
    try:
        for record in wire.records(data):
            path = names.get(record.number, f"field {record.number}")
            if record.wire_type != wire.BYTES:
                continue
            if record.number in _STRINGS:
                _check_utf8(data, record)
            elif record.number in _NESTED:
                for inner in wire.records(data, record.start, record.end):
                    if inner.number in _NESTED[record.number] and inner.wire_type == wire.BYTES:
                        _check_utf8(data, inner)
    except wire.WireError as exc:
        return path, str(exc), exc.offset
    return None, None, None


def _check_utf8(data: bytes, record: wire.Record) -> None:
    try:
        data[record.start : record.end].decode("utf-8")
    except UnicodeDecodeError as exc:
        raise wire.WireError(f"invalid UTF-8, {exc.reason}", record.start + exc.start) from None
