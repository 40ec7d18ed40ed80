"""Read a transform's configuration and refuse what it does not understand, in the words every guest uses.

Checks run in a fixed order: unknown keys first, in the order given, then the keys a transform asks for, in the order
in which it asks. So the same bad configuration gives the same text in every language. See `sdk/SEMANTICS.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from abi import ConfigRefused
from guest_examples.jsonpath import Segment

MAX_PATH_BYTES = 100
MAX_LIST_ENTRIES = 64


def refuse(location: str, problem: str) -> NoReturn:
    """Raise the refusal of one place in the configuration."""
    raise ConfigRefused(f"configuration: {location} {problem}" if location else f"configuration: {problem}")


@dataclass(frozen=True, slots=True)
class Reader:
    """One map of the configuration; `location` is how messages name it, empty for the whole."""

    values: Mapping[str, Any]
    location: str

    @classmethod
    def open(cls, values: object, allowed: Sequence[str], location: str = "") -> "Reader":
        """Take a map and refuse keys that are not in `allowed`."""
        if not isinstance(values, Mapping):
            refuse(location, "must be a map")
        reader = cls(values, location)
        for key in values:
            if not isinstance(key, str):
                refuse(location, "has a key that is not a string")
            if key not in allowed:
                raise ConfigRefused(f"configuration: unknown key {reader.place(key)}")
        return reader

    def place(self, key: str) -> str:
        """How messages name a key of this map."""
        return f"{self.location}.{key}" if self.location else key

    def has(self, key: str) -> bool:
        """Whether the key is given; an explicit nil counts as given."""
        return key in self.values

    def required(self, key: str) -> Any:
        """A value of any type."""
        if key not in self.values:
            refuse(self.place(key), "is missing")
        return self.values[key]

    def string(self, key: str, default: str | None = None) -> str:
        """Text that is not empty; required unless there is a default."""
        if default is not None and not self.has(key):
            return default
        return check_string(self.required(key), self.place(key))

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of a few words."""
        if default is not None and not self.has(key):
            return default
        return check_choice(self.required(key), choices, self.place(key))

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number within bounds."""
        if default is not None and not self.has(key):
            return default
        value = self.required(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            refuse(self.place(key), f"must be an integer from {low} to {high}")
        return value

    def entries(self, key: str) -> list[tuple[Any, str]]:
        """A list of 1 to 64 entries, each with its location."""
        return check_list(self.required(key), self.place(key))

    def strings(self, key: str) -> list[str]:
        """A list of strings that are not empty; an absent key is an empty list."""
        if not self.has(key):
            return []
        return [check_string(value, place) for value, place in self.entries(key)]

    def path(self, key: str, *, wildcards: bool = True) -> tuple[Segment, ...]:
        """A dotted path."""
        place = self.place(key)
        path = parse_path(self.required(key), place)
        if not wildcards and None in path:
            refuse(place, "must not have a wildcard")
        return path


def check_string(value: object, location: str) -> str:
    """Text that is not empty."""
    if not isinstance(value, str):
        refuse(location, "must be a string")
    if not value:
        refuse(location, "must not be empty")
    return value


def check_name(value: object, location: str) -> str:
    """Text of at most 100 bytes without control characters: paths, and names that become keys."""
    text = check_string(value, location)
    if len(text.encode()) > MAX_PATH_BYTES:
        refuse(location, f"must have at most {MAX_PATH_BYTES} bytes")
    if any(char < " " for char in text):
        refuse(location, "has a control character")
    return text


def check_choice(value: object, choices: Sequence[str], location: str) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        refuse(location, f"must be one of {', '.join(choices)}")
    return value


def check_list(value: object, location: str) -> list[tuple[Any, str]]:
    """A list of 1 to 64 entries, each with its location."""
    if not isinstance(value, list | tuple):
        refuse(location, "must be a list")
    if not 1 <= len(value) <= MAX_LIST_ENTRIES:
        refuse(location, f"must have from 1 to {MAX_LIST_ENTRIES} entries")
    return [(entry, f"{location}[{index}]") for index, entry in enumerate(value)]


def parse_path(value: object, location: str) -> tuple[Segment, ...]:
    r"""Split a dotted path; `\.`, `\*` and `\\` stand for the characters themselves.

    >>> parse_path(r"a.*.b\.c", "path")
    ('a', None, 'b.c')
    """
    text = check_name(value, location)
    segments: list[Segment] = []
    segment, is_plain, position = "", True, 0
    while position <= len(text):
        char = text[position : position + 1]
        if char not in ("", "."):
            if char == "\\":
                is_plain, position = False, position + 1
                char = text[position : position + 1]
                if char not in (".", "*", "\\"):
                    refuse(location, 'has a backslash before something else than ".", "*" or "\\"')
            segment += char
        elif not segment:
            refuse(location, "has an empty segment")
        else:
            segments.append(None if segment == "*" and is_plain else segment)
            segment, is_plain = "", True
        position += 1
    return tuple(segments)
