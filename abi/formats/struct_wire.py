"""`google.protobuf.Struct` on the wire, to JSON text and back, in the order of its fields.

The `protobuf` package reads maps without their order, and JSON has no NaN; a record must come back byte for byte. So
fields keep their order as members of the JSON object, and numbers that JSON cannot write become strings whose exact
bits are returned beside the text, by JSON pointer.
"""

import math
import struct
from typing import Any

import msgspec

from abi.formats import json_text, wire
from abi.formats.wire import WireError, length_delimited

_NULL, _NUMBER, _STRING, _BOOL, _STRUCT, _LIST = range(1, 7)
_MAX_EXACT_INTEGER = 2**53
_ANY = msgspec.json.Decoder()
_MAX_DEPTH = json_text.MAX_DEPTH

Bits = dict[str, str]
"""JSON pointer of a number that JSON cannot write → its 64 bits in hexadecimal, most significant first."""


def struct_to_json(data: bytes, start: int, end: int, bits: Bits, pointer: str = "", depth: int = 0) -> bytes:
    """Write the Struct `data[start:end]` as a JSON object; numbers without JSON text are added to `bits`.

    Raises:
        WireError: the bytes are no Struct.
    """
    if depth > _MAX_DEPTH:
        raise WireError(f"nested deeper than {_MAX_DEPTH}", start)
    members: list[bytes] = []
    for entry in wire.records(data, start, end):
        fields = {record.number: record for record in wire.records(data, entry.start, entry.end)}
        if entry.number != 1 or 1 not in fields or 2 not in fields:
            raise WireError("not an entry of a Struct", entry.begin)
        name = _text(data, fields[1])
        inner = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        value = _value(data, fields[2], bits, inner, depth + 1)
        members.append(json_text.quote(name) + b":" + value)
    return b"{%b}" % b",".join(members)


def _value(data: bytes, record: wire.Record, bits: Bits, pointer: str, depth: int) -> bytes:
    kinds = list(wire.records(data, record.start, record.end))
    if len(kinds) != 1:
        raise WireError("a value without exactly one kind", record.start)
    kind = kinds[0]
    if kind.number == _NULL:
        return b"null"
    if kind.number == _NUMBER and kind.wire_type == wire.FIXED64:
        return _number(data[kind.start : kind.end], bits, pointer)
    if kind.number == _STRING:
        return json_text.quote(_text(data, kind))
    if kind.number == _BOOL:
        return b"true" if data[kind.start] else b"false"
    if kind.number == _STRUCT:
        return struct_to_json(data, kind.start, kind.end, bits, pointer, depth)
    if kind.number == _LIST and depth <= _MAX_DEPTH:
        items = wire.records(data, kind.start, kind.end)
        texts = [_value(data, item, bits, f"{pointer}/{index}", depth + 1) for index, item in enumerate(items)]
        return b"[%b]" % b",".join(texts)
    raise WireError("a value of unknown kind", kind.begin)


def _text(data: bytes, record: wire.Record) -> str:
    try:
        return data[record.start : record.end].decode("utf-8")
    except UnicodeDecodeError as exc:
        raise WireError(f"invalid UTF-8, {exc.reason}", record.start + exc.start) from None


def _number(raw: bytes, bits: Bits, pointer: str) -> bytes:
    number = struct.unpack("<d", raw)[0]
    if not math.isfinite(number):
        bits[pointer] = raw[::-1].hex()
        return _nonfinite_text(number)
    if number.is_integer() and abs(number) < _MAX_EXACT_INTEGER and (number or raw[7] == 0):
        return b"%d" % int(number)
    return repr(number).encode()


def _nonfinite_text(number: float) -> bytes:
    if math.isnan(number):
        return b'"NaN"'
    return b'"Infinity"' if number > 0 else b'"-Infinity"'


def json_to_struct(text: bytes, bits: Bits) -> bytes:
    """Write a JSON object as a Struct, its members in their order.

    Raises:
        ValueError: the text is no JSON object, or a number is beyond a 64-bit float.
    """
    value = _ANY.decode(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return _struct(value, bits, "")


def _struct(value: dict[str, Any], bits: Bits, pointer: str) -> bytes:
    out: list[bytes] = []
    for name, item in value.items():
        # Pointers are only followed where some number needs one.
        inner = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}" if bits else ""
        entry = length_delimited(1, name.encode()) + length_delimited(2, _to_value(item, bits, inner))
        out.append(length_delimited(1, entry))
    return b"".join(out)


def _to_value(value: Any, bits: Bits, pointer: str) -> bytes:
    if isinstance(value, str):
        kept = _kept_bits(value, bits.get(pointer)) if bits else None
        return length_delimited(_STRING, value.encode()) if kept is None else b"\x11" + kept
    if value is None:
        return b"\x08\x00"
    if isinstance(value, bool):
        return b"\x20\x01" if value else b"\x20\x00"
    if isinstance(value, int | float):
        try:
            return b"\x11" + struct.pack("<d", value)
        except (OverflowError, struct.error):
            raise ValueError("a number beyond a 64-bit float") from None
    if isinstance(value, dict):
        return length_delimited(_STRUCT, _struct(value, bits, pointer))
    items = (_to_value(item, bits, f"{pointer}/{index}") for index, item in enumerate(value))
    return length_delimited(_LIST, b"".join(length_delimited(1, item) for item in items))


def _kept_bits(text: str, hexadecimal: str | None) -> bytes | None:
    """Return the bits of a number that stands as a string, if the string still says what they say."""
    if hexadecimal is None or len(hexadecimal) != 16:
        return None
    try:
        raw = bytes.fromhex(hexadecimal)[::-1]
    except ValueError:
        return None
    number = struct.unpack("<d", raw)[0]
    return raw if not math.isfinite(number) and _nonfinite_text(number) == json_text.quote(text) else None
