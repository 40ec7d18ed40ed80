"""The protobuf wire format, as far as we read it ourselves: tags, varints, and the records of one message.

The `protobuf` package gives the verdict on whole messages. This module is for what it does not tell: where the first
bad byte is, and in which order the entries of a map came.
"""

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
MAX_GROUP_DEPTH = 100


class WireError(Exception):
    """The bytes are not a message; `offset` is where reading stopped."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class Record(NamedTuple):
    """One field on the wire: its number and type, the payload `start:end`, and where its tag begins."""

    number: int
    wire_type: int
    begin: int
    start: int
    end: int


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Read an unsigned varint; return its value and the position behind it.

    Raises:
        WireError: it is truncated or longer than ten bytes.
    """
    value = shift = 0
    for offset in range(position, min(end, position + 10)):
        byte = data[offset]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset + 1
        shift += 7
    reason = "truncated number" if position + 10 > end else "number longer than ten bytes"
    raise WireError(reason, min(end, position + 10))


def write_varint(value: int) -> bytes:
    """Write an unsigned varint in its shortest form."""
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def length_delimited(number: int, payload: bytes) -> bytes:
    """Write a field of wire type 2."""
    return write_varint(number << 3 | BYTES) + write_varint(len(payload)) + payload


def records(data: bytes, start: int = 0, end: int | None = None, *, depth: int = 0) -> Iterator[Record]:
    """Walk the fields of the message `data[start:end]`.

    Raises:
        WireError: a tag, a length or a payload does not fit.
    """
    position = start
    stop = len(data) if end is None else end
    while position < stop:
        begin = position
        tag, position = read_varint(data, position, stop)
        number, wire_type = tag >> 3, tag & 7
        if number == 0 or number >= 1 << 29:
            raise WireError(f"field number {number}", begin)
        payload = position
        if wire_type == VARINT:
            _, position = read_varint(data, position, stop)
        elif wire_type == BYTES:
            length, payload = read_varint(data, position, stop)
            position = payload + length
        elif wire_type in (FIXED64, FIXED32):
            position += 8 if wire_type == FIXED64 else 4
        elif wire_type == GROUP and depth < MAX_GROUP_DEPTH:
            position = _group_end(data, position, stop, number, depth + 1)
        elif wire_type == END_GROUP and depth:
            yield Record(number, wire_type, begin, position, position)
            return
        else:
            raise WireError(f"wire type {wire_type}", begin)
        if position > stop:
            raise WireError(f"field {number} is longer than the bytes left", payload)
        yield Record(number, wire_type, begin, payload, position)


def _group_end(data: bytes, start: int, stop: int, number: int, depth: int) -> int:
    inside = list(records(data, start, stop, depth=depth))
    last = inside[-1] if inside else None
    if last is None or last.wire_type != END_GROUP or last.number != number:
        raise WireError(f"group {number} has no end", start)
    return last.end
