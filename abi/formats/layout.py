r"""Documents made of slots, and the layout that brings back a document's exact bytes.

A format lists the **slots** of its JSON document: members whose value is kept in a canonical field or an attribute,
each with a function that writes it. Writing all slots in their order, compactly, is the format's *standard form*. A
document in any other form (white space, other member order, unknown members, other escapes) gets a **layout**: its text
with the slots' values cut out. So the row images stand in an event only once, and a guest that masks them masks all.

A hole in a layout is `\x01 path \x03`, or, where the slot would write its value differently from how it stood,
`\x01 path \x02 what the slot writes \x02 how it stood \x03`: if the slot still writes the same, nobody changed the
value and its old text returns; else the new value is written. Raw control bytes cannot occur in JSON, so the marks are
unmistakable. A slot that writes something where the document had nothing is a hole behind the end of the document.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import msgspec

from abi.event_pb2 import Event
from abi.formats import json_text
from abi.formats.refusals import shown, unencodable

_HOLE = re.compile(rb"\x01([^\x01\x02\x03]*)(?:\x02([^\x01\x02\x03]*)\x02([^\x01\x02\x03]*))?\x03")
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class View(NamedTuple):
    """An event with its attributes as a plain dict (a protobuf map is slow to ask)."""

    event: Event
    attributes: dict[str, bytes]


def view_of(event: Event) -> View:
    """Make the view that slots read from."""
    return View(event, dict(event.attributes.items()))


@dataclass(frozen=True, slots=True)
class Slot:
    """One member that is kept elsewhere: where it stands, and its JSON text (`None`: leave the member out)."""

    path: str
    text: Callable[[View], bytes | None]


_Node: TypeAlias = "Slot | dict[str, _Node]"


class Document:
    """The slots of one format's document, in the order of its standard form."""

    def __init__(self, name: str, slots: Iterable[Slot]) -> None:
        self._name = name
        self._slots = {slot.path: slot for slot in slots}
        self._tree: dict[str, _Node] = {}
        for path, slot in self._slots.items():
            *parents, last = path.split(".")
            node = self._tree
            for parent in parents:
                child = node.setdefault(parent, {})
                assert isinstance(child, dict)
                node = child
            node[last] = slot

    def standard(self, view: View) -> bytes:
        """Write the event in the format's standard form."""
        return _write(self._tree, view)

    def cut(self, data: bytes, view: View) -> bytes:
        """Make the layout of a document from which `view` was read.

        Raises:
            DecodeError: a member name stands twice in an object that holds slots.
        """
        parts: list[bytes] = []
        seen: set[str] = set()
        end = self._cut(data, (0, len(data)), self._tree, parts, seen, view)
        parts.append(data[end:])
        for path, slot in self._slots.items():
            if path not in seen and (text := slot.text(view)) is not None:
                parts.append(b"\x01%b\x02%b\x02\x03" % (path.encode(), text))
        return b"".join(parts)

    def _cut(
        self, data: bytes, span: tuple[int, int], node: dict[str, _Node], parts: list[bytes], seen: set[str], view: View
    ) -> int:
        position = span[0]
        for name, start, end in json_text.members(self._name, data, *span):
            child = node.get(name)
            if child is None:
                continue
            parts.append(data[position:start])
            if isinstance(child, Slot):
                seen.add(child.path)
                parts.append(_hole(child, data[start:end], view))
                position = end
            elif data[start] == ord("{"):
                position = self._cut(data, (start, end), child, parts, seen, view)
            else:
                position = start
        parts.append(data[position : span[1]])
        return span[1]

    def fill(self, layout: bytes, view: View) -> bytes:
        """Write the event into a layout; what a guest has changed is written anew, the rest is as it was.

        Raises:
            EncodeError: the layout is damaged, or a value cannot be written.
        """
        pieces = _HOLE.split(layout)
        out = [pieces[0]]
        missing: list[tuple[str, bytes]] = []
        seen: set[str] = set()
        for path_bytes, guard, before, literal in zip(*[iter(pieces[1:])] * 4, strict=True):
            path = path_bytes.decode("utf-8", "replace")
            slot = self._slots.get(path)
            if slot is None:
                raise unencodable(self._name, f"its layout names no member of the format: {shown(path)}")
            seen.add(path)
            text = slot.text(view)
            if guard is not None and guard == (text or b""):
                out.append(before)
            elif before == b"" and guard is not None:
                missing += [(path, text)] if text is not None else []
            else:
                out.append(b"null" if text is None else text)
            out.append(literal)
        document = b"".join(out)
        unseen = ((path, slot.text(view)) for path, slot in self._slots.items() if path not in seen)
        missing += [(path, text) for path, text in unseen if text is not None]
        return self._complete(document, missing)

    def _complete(self, document: bytes, missing: list[tuple[str, bytes]]) -> bytes:
        try:
            if not document.isascii():  # msgspec looks at names only, not into what it leaves raw
                document.decode()
            _OBJECT.decode(document)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise unencodable(
                self._name,
                f"the attribute '{self._name}.layout' was changed and no longer makes a document",
                hint="copy the attribute untouched, or remove it to get the format's standard form",
            ) from None
        for path, text in missing:
            document = json_text.insert(self._name, document, tuple(path.split(".")), text)
        return document


def _hole(slot: Slot, stood: bytes, view: View) -> bytes:
    text = slot.text(view)
    if text == stood:
        return b"\x01%b\x03" % slot.path.encode()
    return b"\x01%b\x02%b\x02%b\x03" % (slot.path.encode(), text or b"", stood)


def _write(node: dict[str, _Node], view: View) -> bytes:
    parts: list[bytes] = []
    for name, child in node.items():
        text = child.text(view) if isinstance(child, Slot) else _write(child, view)
        if text is not None:
            parts.append(b'"%b":%b' % (name.encode(), text))
    return b"{%b}" % b",".join(parts)
