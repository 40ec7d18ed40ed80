"""Dotted paths into row images, as the masking rules of the examples write them: `contact.email`, `emails.*`."""

import json
from collections.abc import Iterator
from typing import Any

from wasm_host.errors import ConfigError

Path = tuple[str | None, ...]
"""Segments; None stands for every child."""


class Pairs(list[tuple[str, Any]]):
    """An object's members in order, duplicates included: every occurrence of a key counts."""


def parse_path(text: str) -> Path:
    r"""Split a path; `\.`, `\*` and `\\` stand for the characters themselves.

    Raises:
        ConfigError: it has an empty segment or a stray backslash.

    >>> parse_path(r"contact.*.e\.mail")
    ('contact', None, 'e.mail')
    """
    segments: list[str | None] = []
    segment, is_plain = "", True
    characters = iter(f"{text}.")
    for char in characters:
        if char == "\\":
            escaped = next(characters, "")
            if escaped not in (".", "*", "\\"):
                raise ConfigError(f"path {text!r} has a stray backslash", hint=r"write \. \* or \\")
            segment, is_plain = segment + escaped, False
        elif char != ".":
            segment += char
        elif not segment:
            raise ConfigError(f"path {text!r} has an empty segment", hint="write names with single dots between")
        else:
            segments.append(None if segment == "*" and is_plain else segment)
            segment, is_plain = "", True
    return tuple(segments)


def parse_json(text: bytes) -> Any:
    """JSON with duplicate keys and the text of numbers kept.

    Raises:
        ValueError: it is none.
    """
    return json.loads(text, object_pairs_hook=Pairs, parse_int=str, parse_float=str)


def values_at(value: Any, path: Path) -> Iterator[Any]:
    """Every value that a path leads to."""
    if not path:
        yield value
    elif isinstance(value, Pairs):
        for key, below in value:
            if path[0] in (None, key):
                yield from values_at(below, path[1:])
    elif isinstance(value, list) and path[0] is None:
        for below in value:
            yield from values_at(below, path[1:])


def scalars_below(value: Any) -> Iterator[str]:
    """The texts of all strings and numbers in a value."""
    if isinstance(value, Pairs):
        for _, below in value:
            yield from scalars_below(below)
    elif isinstance(value, list):
        for below in value:
            yield from scalars_below(below)
    elif isinstance(value, str):
        yield value
