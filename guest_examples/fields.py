"""Name one value of an event in a configuration, and read it: `event:table`, `attribute:key`, `after:contact.email`.

The grammar is in `sdk/SEMANTICS.md` ("Fields").
"""

from collections.abc import Iterator
from dataclasses import dataclass

from abi import Event
from guest_examples.configuration import check_string, parse_path, refuse
from guest_examples.jsonpath import Node, Segment, parse, select, value_text

MAX_ATTRIBUTE_BYTES = 100


@dataclass(frozen=True, slots=True)
class Value:
    """A value found in an event: its JSON kind, and its text (decoded for strings, JSON text for the rest)."""

    kind: str
    text: str


class Images:
    """Both row images of an event, scanned together at the first use, `before` first."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._scanned: dict[str, tuple[bytes, Node]] | None = None

    def scanned(self) -> dict[str, tuple[bytes, Node]]:
        """Text and tree of each image that is present."""
        if self._scanned is None:
            self._scanned = {
                name: (getattr(self._event, name), parse(getattr(self._event, name), name))
                for name in ("before", "after")
                if self._event.HasField(name)
            }
        return self._scanned

    def row(self) -> str:
        """The image that stands for the row: `after`, or `before` where there is no `after`."""
        return "after" if self._event.HasField("after") else "before"

    def select(self, image: str, path: tuple[Segment, ...]) -> Iterator[Value]:
        """Every value that the path leads to in one image."""
        if image in self.scanned():
            text, root = self.scanned()[image]
            for node in select(root, path):
                yield Value(node.kind, value_text(text, node))


@dataclass(frozen=True, slots=True)
class Field:
    """Where a value is taken from. `source` is event, attribute, before, after or row."""

    source: str
    name: str = ""
    path: tuple[Segment, ...] = ()

    @property
    def reads_images(self) -> bool:
        """Whether the value comes out of a row image."""
        return self.source in ("before", "after", "row")

    def values(self, event: Event, images: Images) -> Iterator[Value]:
        """Every value the field stands for; none when it is missing."""
        if self.source == "event":
            if self.name == "table" or event.HasField("schema"):
                yield Value("string", getattr(event, self.name))
        elif self.source == "attribute":
            if self.name in event.attributes:
                # Attributes are bytes. What is not UTF-8 equals no text.
                yield Value("string", event.attributes[self.name].decode(errors="surrogateescape"))
        else:
            yield from images.select(images.row() if self.source == "row" else self.source, self.path)


def parse_field(value: object, location: str) -> Field:
    """Read a field's name.

    >>> parse_field("after:contact.email", "field").path
    ('contact', 'email')
    """
    text = check_string(value, location)
    source, colon, rest = text.partition(":")
    if colon and source == "event":
        if rest not in ("schema", "table"):
            refuse(location, "must be event:schema or event:table")
        return Field("event", rest)
    if colon and source == "attribute":
        if not 1 <= len(rest.encode()) <= MAX_ATTRIBUTE_BYTES:
            refuse(location, f"must name an attribute of 1 to {MAX_ATTRIBUTE_BYTES} bytes")
        return Field("attribute", rest)
    if colon and source in ("before", "after", "row"):
        return Field(source, text, parse_path(rest, location))
    return Field("row", text, parse_path(text, location))
