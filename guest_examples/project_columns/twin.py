"""The native twin of `project_columns`: keep or remove values by path; key columns always stay."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from abi import Event
from guest_examples.configuration import Reader, parse_path, refuse
from guest_examples.jsonpath import Node, Segment, keep_children, parse

STALE_ATTRIBUTES = ("cdc.operation.changed_field_values", "debezium.tombstone")
"""Attributes that repeat row values, among them those that are removed here."""

Path = tuple[Segment, ...]


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the columns and give the transform."""
    reader = Reader.open(config, ("include", "exclude"))
    if reader.has("include") == reader.has("exclude"):
        refuse("", "must have either include or exclude")
    mode = "include" if reader.has("include") else "exclude"
    paths = [parse_path(value, location) for value, location in reader.entries(mode)]

    def transform(event: Event) -> Event:
        for image in ("before", "after"):
            if event.HasField(image):
                text = getattr(event, image)
                root = parse(text, image)
                if root.is_container:
                    body = _project(text, root, paths, mode, tuple(event.primary_key))
                    setattr(event, image, text[: root.start] + body + text[root.end :])
        for key in STALE_ATTRIBUTES:
            event.attributes.pop(key, None)
        return event

    return transform


def _project(text: bytes, node: Node, paths: Sequence[Path], mode: str, keys: tuple[str, ...]) -> bytes:
    """The text of a container with what stays in it. `paths` lead on from here; `keys` are kept whatever they say."""
    slots = []
    for child in node.children:
        deeper = [path[1:] for path in paths if path[0] in (None, child.key)]
        is_named = any(not path for path in deeper)
        slot = text[child.slot_start : child.slot_end]
        if child.key is not None and child.key in keys:
            slots.append(slot)
        elif is_named:
            if mode == "include":
                slots.append(slot)
        elif deeper and child.is_container:
            inner = _project(text, child, deeper, mode, ())
            slots.append(text[child.slot_start : child.start] + inner + text[child.end : child.slot_end])
        elif mode == "exclude":
            slots.append(slot)
    return keep_children(text, node, slots) if node.children else text[node.start : node.end]
