"""Two events, field by field: what a person wants to see when a case does not hold."""

import json
from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError

from abi import Event, Operation
from wasm_host.guest_text import clean_text
from wasm_host.harness.report import FieldDifference

_MAX_SHOWN_BYTES = 300
_MAX_DIFFERENCES = 20
_IMAGES = ("before", "after")


def show_event(data: bytes | None) -> str:
    """One event as a line of JSON-like text; bytes that are no event in hexadecimal."""
    fields = _fields(data)
    if isinstance(fields, str):
        return fields
    return json.dumps(fields, ensure_ascii=False)


def differences(expected: bytes | None, seen: bytes | None) -> tuple[FieldDifference, ...]:
    """Where two events differ; row images are compared member by member when both are JSON."""
    left, right = _fields(expected), _fields(seen)
    found = [*_walk("", left, right)]
    if not found and expected != seen:
        found = [FieldDifference("(bytes)", _hex(expected), _hex(seen))]
    return tuple(found[:_MAX_DIFFERENCES])


def _fields(data: bytes | None) -> Any:
    if data is None:
        return "null"
    try:
        event = Event.FromString(data)
    except DecodeError:
        return f"not an event: {_hex(data)}"
    fields: dict[str, Any] = {}
    for descriptor, value in event.ListFields():
        if descriptor.name in _IMAGES:
            fields[descriptor.name] = _image(value)
        elif descriptor.name == "attributes":
            fields["attributes"] = {key: _text(value[key]) for key in sorted(value)}
        elif descriptor.name == "op":
            fields["op"] = Operation.Name(value) if value in Operation.values() else value
        elif descriptor.message_type is not None:
            fields[descriptor.name] = json_format.MessageToDict(value, preserving_proto_field_name=True)
        else:
            fields[descriptor.name] = list(value) if descriptor.is_repeated else value
    unknown = _unknown_of(event)
    if unknown:
        fields["(unknown fields)"] = unknown
    return fields


def _unknown_of(event: Event) -> str | None:
    known = Event()
    known.CopyFrom(event)
    known.DiscardUnknownFields()
    all_bytes = event.SerializeToString(deterministic=True)
    known_bytes = known.SerializeToString(deterministic=True)
    if len(all_bytes) == len(known_bytes):
        return None
    return all_bytes[len(known_bytes) :].hex() if all_bytes.startswith(known_bytes) else f"{len(all_bytes)} bytes"


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object in order, duplicate keys included."""


def _image(value: bytes) -> Any:
    try:
        return json.loads(value, object_pairs_hook=_members, parse_float=str, parse_int=_number, parse_constant=str)
    except (ValueError, RecursionError):
        return _text(value)


def _number(text: str) -> int | str:
    return int(text) if len(text) < 19 else text


def _members(pairs: list[tuple[str, Any]]) -> Any:
    names = [name for name, _ in pairs]
    return dict(pairs) if len(set(names)) == len(names) else _Pairs(pairs)


def _text(value: bytes) -> str:
    return clean_text(value, max_bytes=_MAX_SHOWN_BYTES)


def _hex(value: bytes | None) -> str:
    if value is None:
        return "null"
    return value[:64].hex() + ("…" if len(value) > 64 else "")


def _walk(path: str, left: Any, right: Any) -> Iterator[FieldDifference]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            below = f"{path}.{key}" if path else str(key)
            if key not in left:
                yield FieldDifference(below, None, _show(right[key]))
            elif key not in right:
                yield FieldDifference(below, _show(left[key]), None)
            else:
                yield from _walk(below, left[key], right[key])
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from _walk(f"{path}[{index}]", one, other)
    elif left != right or type(left) is not type(right):
        yield FieldDifference(path or "(event)", _show(left), _show(right))


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN_BYTES else f"{text[:_MAX_SHOWN_BYTES]}…"
