"""JSON as text: where its members stand, what may be cut out of it and put back, and what is wrong with it.

Row images and other sub-documents are never parsed into Python values and written again: they stay the bytes they were.
`msgspec` skips over them (its `Raw`) and checks their grammar on the way; offsets come from walking the member names.
"""

import re
from typing import NamedTuple, NoReturn, TypeVar

import msgspec

from abi.errors import DecodeError
from abi.formats.refusals import shown, undecodable, unencodable

MAX_DEPTH = 128
"""Deepest nesting that is read, the same as serde_json's; a fixed number, so that the verdict never depends on the
Python stack."""

T = TypeVar("T")

_RAW = msgspec.json.Decoder(msgspec.Raw)
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STRING = msgspec.json.Decoder(str)
_HEADER = re.compile(rb'[ \t\r\n]*[{,][ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*')
_END = re.compile(rb"[ \t\r\n]*}[ \t\r\n]*\Z")
_EMPTY = re.compile(rb"[ \t\r\n]*{[ \t\r\n]*}[ \t\r\n]*\Z")
_DEPTH_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_AT_BYTE = re.compile(r"^(?:JSON is malformed: )?(.*?)(?: \(byte (\d+)\))?$")
_AT_PATH = re.compile(r"^(.*?)(?: - at `(.*)`)?$")


class Member(NamedTuple):
    """One member of an object: its name, and the bytes `start:end` of its value."""

    name: str
    start: int
    end: int


def check_text(name: str, data: bytes) -> None:
    """Refuse bytes that are not UTF-8 or nest deeper than `MAX_DEPTH`.

    Raises:
        DecodeError: with the offset of the first bad byte.
    """
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as exc:
            raise undecodable(name, f"invalid UTF-8, {exc.reason}", offset=exc.start) from None
    # Counting brackets is enough for nearly every document; only those with many are walked.
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH:
        _check_depth(name, data)


def _check_depth(name: str, data: bytes) -> None:
    depth = 0
    for token in _DEPTH_TOKENS.finditer(data):
        mark = data[token.start()]
        if mark in b"{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise undecodable(name, f"nested deeper than {MAX_DEPTH}", offset=token.start())
        elif mark in b"]}":
            depth -= 1


def read(name: str, decoder: "msgspec.json.Decoder[T]", data: bytes) -> T:
    """Decode `data` with a typed decoder.

    Raises:
        DecodeError: with the path and offset of what is wrong.
    """
    check_text(name, data)
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as exc:
        _refuse_type(name, data, str(exc))
    except msgspec.DecodeError as exc:
        match = _AT_BYTE.match(str(exc))
        reason, offset = match.groups() if match else (str(exc), None)
        raise undecodable(name, reason, offset=int(offset) if offset else len(data)) from None
    except RecursionError:
        raise undecodable(name, "nested too deep for the stack left", hint="decode from a shallower call") from None


def _refuse_type(name: str, data: bytes, message: str) -> NoReturn:
    match = _AT_PATH.match(message)
    reason, path = match.groups() if match else (message, None)
    reason = reason.replace("`", "'")
    raise undecodable(name, reason[:1].lower() + reason[1:], path=path or "$", offset=locate(data, path or "$"))


def locate(data: bytes, path: str) -> int:
    """Return the offset of the value at a dotted path such as `$.source.ts`, or of its nearest ancestor that exists."""
    start, end = _span(data)
    for part in path.removeprefix("$").split(".")[1:]:
        part = part.split("[", 1)[0]
        try:
            found = [member for member in members("json", data, start, end) if member.name == part]
        except DecodeError:
            return start
        if not found:
            return start
        _, start, end = found[-1]
    return start


def _span(data: bytes) -> tuple[int, int]:
    stripped = data.lstrip(b" \t\r\n")
    start = len(data) - len(stripped)
    return start, start + len(stripped.rstrip(b" \t\r\n"))


def members(name: str, data: bytes, start: int = 0, end: int | None = None) -> list[Member]:
    """List the members of the object `data[start:end]` in their order, with absolute offsets.

    Raises:
        DecodeError: it is no object, or a name stands in it twice (which value counts would be a guess).
    """
    text = data if start == 0 and end is None else data[start:end]
    try:
        values = _MEMBERS.decode(text)
    except msgspec.DecodeError:
        raise undecodable(name, f"expected an object, got {shown(text[:20])}", offset=start) from None
    found: list[Member] = []
    position = 0
    for key, value in values.items():
        header = _HEADER.match(text, position)
        if header is None or _STRING.decode(header[1]) != key:
            raise undecodable(name, "a member name stands twice in one object", offset=start + position)
        position = header.end() + len(bytes(value))
        found.append(Member(key, start + header.end(), start + position))
    if not (_END if found else _EMPTY).match(text, position):
        raise undecodable(name, "a member name stands twice in one object", offset=start + position)
    return found


def quote(text: str) -> bytes:
    """Write a string the way serde does: quotes, and escapes only where JSON asks for them."""
    return msgspec.json.encode(text)


def checked(name: str, path: str, text: bytes, *, opening: bytes = b"") -> bytes:
    """Return a sub-document that is about to be spliced into a larger one.

    Args:
        name: The format.
        path: Where it goes.
        text: The sub-document.
        opening: `{` or `[` where the format has an object or an array there, or null; else anything goes.

    Raises:
        EncodeError: it is not exactly one JSON value (spliced in, it could forge its neighbours), or of another kind.
    """
    try:
        check_text(name, text)
        value = _RAW.decode(text)
    except (msgspec.DecodeError, DecodeError, RecursionError) as exc:
        reason = exc.message if isinstance(exc, DecodeError) else str(exc)
        raise unencodable(name, f"not one JSON value ({shown(reason)})", path=path) from None
    document = bytes(value)
    if opening and document[:1] != opening and document != b"null":
        kind = "an object" if opening == b"{" else "an array"
        raise unencodable(name, f"expected {kind}, got {shown(document[:20])}", path=path)
    return document


def patch(name: str, text: bytes, changes: dict[str, bytes | None]) -> bytes:
    """Set members of an object (`None` removes one), leaving every other byte as it is.

    Raises:
        EncodeError: a name stands in the object twice.

    >>> patch("json", b'{"a": 1, "b": 2}', {"b": b"3", "c": b"4"})
    b'{"a": 1, "b": 3,"c":4}'
    """
    for key, value in changes.items():
        listed = _members_to_write(name, text)
        index = next((i for i, member in enumerate(listed) if member.name == key), None)
        if index is None:
            text = text if value is None else _append(text, bool(listed), key, value)
        elif value is not None:
            text = text[: listed[index].start] + value + text[listed[index].end :]
        else:
            text = _remove(text, listed, index)
    return text


def _members_to_write(name: str, text: bytes) -> list[Member]:
    try:
        return members(name, text)
    except DecodeError as exc:
        raise unencodable(name, f"an object cannot be changed ({shown(exc.message)})") from None


def _append(text: bytes, has_members: bool, key: str, value: bytes) -> bytes:
    close = text.rindex(b"}")
    body = text[:close].rstrip(b" \t\r\n")
    return body + (b"," if has_members else b"") + quote(key) + b":" + value + text[len(body) :]


def _remove(text: bytes, listed: list[Member], index: int) -> bytes:
    if index > 0:  # from the end of the member before, so that the comma goes too
        return text[: listed[index - 1].end] + text[listed[index].end :]
    first = text.index(b"{") + 1
    if len(listed) == 1:
        return text[:first] + text[listed[0].end :]
    after = text.index(b",", listed[0].end) + 1
    return text[:first] + text[after:]


def insert(name: str, text: bytes, path: tuple[str, ...], value: bytes) -> bytes:
    """Set the member at a path of names, making the objects on the way."""
    if len(path) == 1:
        return patch(name, text, {path[0]: value})
    inner = next((text[m.start : m.end] for m in _members_to_write(name, text) if m.name == path[0]), b"{}")
    if not inner.startswith(b"{"):
        inner = b"{}"
    return patch(name, text, {path[0]: insert(name, inner, path[1:], value)})


def checked_whole(name: str, path: str, text: bytes) -> bytes:
    """Return a document that is written as it is, white space around it included.

    Raises:
        EncodeError: it is not exactly one JSON value.
    """
    checked(name, path, text)
    return text
