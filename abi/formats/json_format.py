"""What the JSON formats share: read with types, write from slots, and a layout where the text is not standard."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import msgspec

from abi.event_pb2 import Event
from abi.formats import json_text
from abi.formats.format import Format
from abi.formats.layout import Document, View, view_of
from abi.formats.refusals import shown, undecodable, unencodable

Text = Callable[[View], bytes | None]

MAX_UINT64 = 2**64 - 1
MAX_UINT32 = 2**32 - 1
NULL = b"null"


class JsonFormat(Format):
    """A format whose documents are JSON objects."""

    @abstractmethod
    def _read(self, data: bytes) -> Event:
        """Read a document into canonical fields and attributes, without its layout."""

    document: ClassVar[Document]
    """The shape of the format's documents."""
    layout_key: ClassVar[str]

    def _document(self, _view: View) -> Document:
        """Choose the shape of document that an event is written as, where a format has several."""
        return self.document

    def __init_subclass__(cls) -> None:
        cls.layout_key = f"{cls.name}.layout"

    def decode(self, data: bytes) -> Event:
        """Read one event; see `Format.decode`."""
        event = self._read(data)
        view = view_of(event)
        document = self._document(view)
        if document.standard(view) != data:
            event.attributes[self.layout_key] = document.cut(data, view)
        return event

    def encode(self, event: Event) -> bytes:
        """Write one event; see `Format.encode`."""
        view = view_of(event)
        document = self._document(view)
        layout = view.attributes.get(self.layout_key)
        return document.standard(view) if layout is None else document.fill(layout, view)


def raw_null() -> msgspec.Raw:
    """Make the raw value of a member that is absent (a factory, since a schema cannot print a raw default)."""
    return msgspec.Raw(NULL)


def image(name: str, field: str, path: str, otherwise: bytes | None, *, opening: bytes = b"") -> Text:
    """Make the text of a row image; `otherwise` is written when the event has none; `opening` as in `checked`."""

    def text(view: View) -> bytes | None:
        if not view.event.HasField(field):
            return otherwise
        return json_text.checked(name, path, getattr(view.event, field), opening=opening)

    return text


def text_attribute(name: str, path: str, otherwise: bytes | None = None) -> Text:
    """Make the text of a string that is kept as plain UTF-8 in the attribute `<name>.<path>`."""
    key = f"{name}.{path}"

    def text(view: View) -> bytes | None:
        value = view.attributes.get(key)
        if value is None:
            return otherwise
        try:
            return json_text.quote(value.decode("utf-8"))
        except UnicodeDecodeError as exc:
            raise unencodable(name, f"attribute '{key}' is not UTF-8 (byte {exc.start})", path=path) from None

    return text


def json_attribute(name: str, path: str, otherwise: bytes | None = None, *, opening: bytes = b"") -> Text:
    """Make the text of a value that is kept as JSON text in the attribute `<name>.<path>`; see `checked`."""
    key = f"{name}.{path}"

    def text(view: View) -> bytes | None:
        value = view.attributes.get(key)
        return otherwise if value is None else json_text.checked(name, path, value, opening=opening)

    return text


def literal_attribute(name: str, path: str, allowed: Callable[[bytes], object], what: str) -> Text:
    """Make the text of a number or boolean whose attribute holds the JSON token itself."""
    key = f"{name}.{path}"

    def text(view: View) -> bytes | None:
        value = view.attributes.get(key)
        if value is not None and not allowed(value):
            raise unencodable(name, f"attribute '{key}' is {shown(value)}, allowed is {what}", path=path)
        return value

    return text


def constant(value: bytes) -> Text:
    """Make a text that is always the same."""
    return lambda _view: value


def unsigned(name: str, data: bytes, path: str, value: int, maximum: int = MAX_UINT64) -> int:
    """Return an integer that fits its canonical field.

    Raises:
        DecodeError: it does not.
    """
    if not 0 <= value <= maximum:
        offset = json_text.locate(data, f"$.{path}")
        raise undecodable(name, f"{shown(str(value))} is outside 0..{maximum}", path=f"$.{path}", offset=offset)
    return value
