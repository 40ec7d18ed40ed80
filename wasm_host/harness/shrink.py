"""Make a failing event smaller while it still fails: what a person can read at a glance.

It starts from the event itself, whatever it came from (hypothesis, a sweep of odd events, somebody's case), drops
fields, members and characters, and keeps what still fails. Bounded by tries and by time, because a guest may be slow.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from abi import Event

_MAX_TRIES = 400
_MAX_SECONDS = 1.5
_IMAGES = ("before", "after")


def shrink_event(event: bytes, still_fails: Callable[[bytes], bool]) -> bytes:
    """The smallest event found that still fails; the event itself when nothing smaller does."""
    deadline = time.monotonic() + _MAX_SECONDS
    tries = 0
    smallest = event
    is_better = True
    while is_better:
        is_better = False
        for candidate in _smaller(smallest):
            if len(candidate) >= len(smallest):
                continue
            tries += 1
            if tries > _MAX_TRIES or time.monotonic() > deadline:
                return smallest
            if still_fails(candidate):
                smallest, is_better = candidate, True
                break
    return smallest


def _smaller(data: bytes) -> Iterator[bytes]:
    try:
        event = Event.FromString(data)
    except DecodeError:
        yield from _shorter(data)
        return
    yield event.SerializeToString(deterministic=True)
    yield from _without_unknown(event)
    for descriptor, value in event.ListFields():
        yield _cleared(event, descriptor.name)
        yield from _smaller_field(event, descriptor, value)


def _smaller_field(event: Event, descriptor: FieldDescriptor, value: Any) -> Iterator[bytes]:
    name = descriptor.name
    if name in _IMAGES:
        for image in _smaller_image(value):
            yield _replaced(event, name, image)
    elif name == "attributes":
        kept = dict(value)
        for key in sorted(kept):
            yield _replaced(event, name, {other: kept[other] for other in kept if other != key})
            for text in _smaller_image(kept[key]):
                yield _replaced(event, name, {**kept, key: text})
    elif descriptor.is_repeated:
        for index in range(len(value)):
            yield _replaced(event, name, [*value[:index], *value[index + 1 :]])
    elif isinstance(value, str):
        for shorter in (value[:1], value[: len(value) // 2], value[:-1]):
            yield _replaced(event, name, shorter)
    elif isinstance(value, int) and descriptor.enum_type is None:
        yield _replaced(event, name, 1)


def _cleared(event: Event, name: str) -> bytes:
    copy = Event()
    copy.CopyFrom(event)
    copy.ClearField(name)
    return copy.SerializeToString(deterministic=True)


def _replaced(event: Event, name: str, value: Any) -> bytes:
    copy = Event.FromString(_cleared(event, name))
    copy.MergeFrom(Event(**{name: value}))
    return copy.SerializeToString(deterministic=True)


def _without_unknown(event: Event) -> Iterator[bytes]:
    copy = Event()
    copy.CopyFrom(event)
    copy.DiscardUnknownFields()
    yield copy.SerializeToString(deterministic=True)


def _shorter(data: bytes) -> Iterator[bytes]:
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2


class _Pairs(list[tuple[str, Any]]):
    """An object's members: duplicates and order may be what matters."""


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


def _smaller_image(image: bytes) -> Iterator[bytes]:
    try:
        value = json.loads(
            image, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
        compact = _write(value).encode()
    except (ValueError, RecursionError):
        yield from _shorter(image)
        return
    yield b"{}"
    yield compact
    for candidate in _smaller_value(value):
        yield _write(candidate).encode()
    if len(compact) < 200:
        yield from _shorter(image)


def _smaller_value(value: Any) -> Iterator[Any]:
    if isinstance(value, _Pairs):
        for index, (key, below) in enumerate(value):
            yield _Pairs(value[:index] + value[index + 1 :])
            for smaller in _smaller_value(below):
                yield _Pairs([*value[:index], (key, smaller), *value[index + 1 :]])
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield value[:index] + value[index + 1 :]
            for smaller in _smaller_value(below):
                yield [*value[:index], smaller, *value[index + 1 :]]
    elif isinstance(value, _Number):
        yield _Number("0")
    elif isinstance(value, str) and value:
        yield ""
        yield value[: len(value) // 2]
        yield value[1:]


def _write(value: Any) -> str:
    if isinstance(value, _Pairs):
        return "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{_write(below)}" for key, below in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_write(below) for below in value) + "]"
    return str(value) if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
