"""Read and edit JSON text in place: the plain-Python counterpart of the SDKs' JSON part, and its oracle.

A document is scanned into a tree of spans; edits replace spans. Whatever is not edited keeps its bytes: numbers their
text, objects their order, white space its place. The rules are in `sdk/SEMANTICS.md`. Knows nothing of events but
the error it raises.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from abi import EventFailure

MAX_DEPTH = 128
"""Containers that may be open at once."""

_SPACE = re.compile(rb"[ \t\n\r]*")
_STRING = re.compile(rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LITERALS = {b"t": (b"true", "boolean"), b"f": (b"false", "boolean"), b"n": (b"null", "null")}
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class _NotJson(Exception):
    """Carries the byte offset of the first thing that is not JSON."""


class _TooDeep(Exception):
    """A container was opened inside `MAX_DEPTH` others."""


@dataclass(slots=True)
class Node:
    """One value of a document: where it stands, and what it holds.

    `slot_start` and `slot_end` bound the child's whole place in its container, from behind the separator before it up
    to the separator after it: its key and the white space around it included.
    """

    kind: str  # object, array, string, number, boolean, null
    start: int
    end: int = 0
    key: str | None = None
    key_start: int = 0
    key_end: int = 0
    slot_start: int = 0
    slot_end: int = 0
    children: list["Node"] = field(default_factory=list)

    @property
    def is_container(self) -> bool:
        """Whether the value is an object or an array."""
        return self.kind in ("object", "array")


def parse(text: bytes, name: str) -> Node:
    """Scan a whole document.

    Args:
        text: the document.
        name: what the document is called in the failure, for example `after`.

    Raises:
        EventFailure: the text is not strict JSON, or is nested too deep.
    """
    try:
        node, position = _value(text, _skip(text, 0), 0)
        position = _skip(text, position)
        if position != len(text):
            raise _NotJson(position)
    except _NotJson as exc:
        raise EventFailure(f"{name} is not valid JSON at byte {exc.args[0]}") from None
    except _TooDeep:
        raise EventFailure(f"{name} is nested deeper than {MAX_DEPTH} levels") from None
    return node


def _skip(text: bytes, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _value(text: bytes, start: int, depth: int) -> tuple[Node, int]:
    first = text[start : start + 1]
    if first in (b"{", b"["):
        if depth == MAX_DEPTH:
            raise _TooDeep
        return _container(text, start, depth)
    if first == b'"':
        end = _string_end(text, start)
        return Node("string", start, end), end
    if first in _LITERALS:
        literal, kind = _LITERALS[first]
        if not text.startswith(literal, start):
            raise _NotJson(start)
        return Node(kind, start, start + len(literal)), start + len(literal)
    if first == b"-" or first.isdigit():
        end = _number_end(text, start)
        return Node("number", start, end), end
    raise _NotJson(start)


def _container(text: bytes, start: int, depth: int) -> tuple[Node, int]:
    is_object = text[start] == ord("{")
    closing = b"}" if is_object else b"]"
    node = Node("object" if is_object else "array", start)
    slot_start = start + 1
    position = _skip(text, slot_start)
    if text[position : position + 1] == closing:
        node.end = position + 1
        return node, node.end
    while True:
        key: str | None = None
        key_start = key_end = 0
        if is_object:
            key_start, key_end = position, _string_end(text, position)
            key = decode_string(text[key_start:key_end])
            position = _skip(text, key_end)
            if text[position : position + 1] != b":":
                raise _NotJson(position)
            position = _skip(text, position + 1)
        child, position = _value(text, position, depth + 1)
        position = _skip(text, position)
        child.key, child.key_start, child.key_end = key, key_start, key_end
        child.slot_start, child.slot_end = slot_start, position
        node.children.append(child)
        separator = text[position : position + 1]
        if separator == closing:
            node.end = position + 1
            return node, node.end
        if separator != b",":
            raise _NotJson(position)
        slot_start = position + 1
        position = _skip(text, slot_start)


def _string_end(text: bytes, start: int) -> int:
    """Trouble anywhere in a string is reported at its opening quote."""
    match = _STRING.match(text, start)
    if match is None:
        raise _NotJson(start)
    token = match.group()
    try:
        # A lone surrogate escape decodes to something that is not Unicode text: it cannot be encoded again.
        if b"\\u" in token or not token.isascii():
            decode_string(token).encode()
    except UnicodeError:
        raise _NotJson(start) from None
    return match.end()


def _number_end(text: bytes, start: int) -> int:
    match = _NUMBER.match(text, start)
    if match is None:
        raise _NotJson(start)
    fraction, exponent = match.groups()
    following = text[match.end() : match.end() + 1]
    if exponent is None and (following in (b"e", b"E") or (following == b"." and fraction is None)):
        raise _NotJson(start)
    return match.end()


def decode_string(token: bytes) -> str:
    """The text of a JSON string, given with its quotes."""
    text = json.loads(token)
    assert isinstance(text, str)
    return text


def encode_string(text: str) -> bytes:
    r"""Write a JSON string: only `"`, `\` and control characters are escaped.

    >>> encode_string('a"b\n\x01é')
    b'"a\\"b\\n\\u0001\xc3\xa9"'
    """
    escaped = "".join(_SHORT_ESCAPES.get(char) or (f"\\u{ord(char):04x}" if char < " " else char) for char in text)
    return b'"' + escaped.encode() + b'"'


def value_text(text: bytes, node: Node) -> str:
    """What is hashed, cut and compared: the decoded text of a string, the JSON text of anything else."""
    token = text[node.start : node.end]
    return decode_string(token) if node.kind == "string" else token.decode()


Segment = str | None
"""One step of a path: a key, or `None` for every child."""


def select(node: Node, path: Sequence[Segment]) -> Iterator[Node]:
    """Every value that a path leads to, in document order; keys match decoded, array elements match `None` only."""
    if not path:
        yield node
        return
    for child in node.children:
        if path[0] is None or child.key == path[0]:
            yield from select(child, path[1:])


def splice(text: bytes, edits: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Replace spans, given in document order and without overlap.

    >>> splice(b'{"a": 1}', [(6, 7, b"2")])
    b'{"a": 2}'
    """
    pieces: list[bytes] = []
    position = 0
    for start, end, replacement in edits:
        pieces += (text[position:start], replacement)
        position = end
    return b"".join(pieces) + text[position:]


def keep_children(text: bytes, node: Node, kept: Sequence[bytes]) -> bytes:
    """The text of a container that keeps only some children, given as the text of their slots."""
    return text[node.start : node.start + 1] + b",".join(kept) + text[node.end - 1 : node.end]
