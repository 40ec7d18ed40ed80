"""The native twin of `route`: rewrite `table` by exact name, then by prefix, then by default."""

from collections.abc import Callable, Mapping
from typing import Any

from abi import Event
from guest_examples.configuration import Reader
from guest_examples.fields import Images, parse_field


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the routes and give the transform."""
    reader = Reader.open(config, ("field", "routes", "default"))
    field = parse_field(reader.required("field") if reader.has("field") else "event:table", "field")
    routes = []
    for entry, location in reader.entries("routes"):
        route = Reader.open(entry, ("match", "to"), location)
        routes.append((route.string("match"), route.string("to")))
    default = reader.string("default") if reader.has("default") else None

    def transform(event: Event) -> Event:
        texts = [value.text for value in field.values(event, Images(event)) if value.kind == "string"]
        target = _target(texts[-1], routes) if texts and _is_text(texts[-1]) else None
        if target is None:
            target = default
        if target is not None:
            event.table = target
        return event

    return transform


def _is_text(text: str) -> bool:
    """Whether the text is Unicode; an attribute's bytes may not be, and then they cannot become a table's name."""
    return not any("\udc80" <= char <= "\udcff" for char in text)


def _target(text: str, routes: list[tuple[str, str]]) -> str | None:
    for match, to in routes:
        if match == text and not match.endswith("*"):
            return to
    for match, to in routes:
        if match.endswith("*") and text.startswith(match[:-1]):
            return to.replace("*", text[len(match) - 1 :])
    return None
