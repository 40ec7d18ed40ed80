"""The native twin of `rename_fields`: rename, copy, set and remove members of the row images."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from abi import Event, EventFailure
from guest_examples.comparison import Scalar, parse_scalar
from guest_examples.configuration import Reader, check_name, refuse
from guest_examples.fields import Images
from guest_examples.jsonpath import Node, Segment, encode_string, keep_children, parse, select, splice

OPERATIONS = ("rename", "copy", "set", "remove")
STALE_ATTRIBUTES = ("cdc.operation.changed_field_values", "debezium.tombstone")
COLUMN_LISTS = ("primary_key", "unavailable_columns", "before_unavailable_columns")

Edit = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Step:
    """One change; `parent` leads to the objects, `key` is the member in them."""

    op: str
    parent: tuple[Segment, ...]
    key: str
    to: str = ""
    value: bytes = b""


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the steps and give the transform."""
    reader = Reader.open(config, ("steps",))
    steps = [
        _step(Reader.open(entry, ("op", "field", "to", "value"), place)) for entry, place in reader.entries("steps")
    ]

    def transform(event: Event) -> Event:
        Images(event).scanned()
        for step in steps:
            for image in ("before", "after"):
                if event.HasField(image):
                    setattr(event, image, _apply(step, getattr(event, image), image, event))
            if step.op == "rename" and not step.parent:
                _rename_columns(event, step)
        for key in STALE_ATTRIBUTES:
            event.attributes.pop(key, None)
        return event

    return transform


def _step(reader: Reader) -> Step:
    op = reader.choice("op", OPERATIONS)
    if reader.has("to") and op not in ("rename", "copy"):
        refuse(reader.place("to"), "is only for rename and copy")
    if reader.has("value") and op != "set":
        refuse(reader.place("value"), "is only for set")
    *parent, key = reader.path("field", wildcards=False)
    assert key is not None
    if op in ("rename", "copy"):
        return Step(op, tuple(parent), key, to=check_name(reader.required("to"), reader.place("to")))
    if op == "set":
        scalar = parse_scalar(reader.required("value"), reader.place("value"))
        return Step(op, tuple(parent), key, value=_json_of(scalar))
    return Step(op, tuple(parent), key)


def _json_of(scalar: Scalar) -> bytes:
    return encode_string(scalar.text) if scalar.kind == "string" else scalar.text.encode()


def _apply(step: Step, text: bytes, image: str, event: Event) -> bytes:
    root = parse(text, image)
    edits: list[Edit] = []
    for node in select(root, step.parent):
        if node.kind == "object":
            edits += _edits(step, text, node, image, event)
    return splice(text, edits)


def _edits(step: Step, text: bytes, node: Node, image: str, event: Event) -> Iterator[Edit]:
    members = [child for child in node.children if child.key == step.key]
    if step.op == "set":
        yield from ((member.start, member.end, step.value) for member in members)
        if not members:
            yield _insertion(node, step.key, step.value)
    elif members and step.op == "remove":
        if not step.parent and step.key in event.primary_key:
            raise EventFailure(f"{step.key} is a key column and cannot be removed")
        slots = [text[child.slot_start : child.slot_end] for child in node.children if child.key != step.key]
        yield node.start, node.end, keep_children(text, node, slots)
    elif members and step.to != step.key:
        if any(child.key == step.to for child in node.children):
            raise EventFailure(f"{image} already has {step.to}")
        if step.op == "rename":
            yield from ((member.key_start, member.key_end, encode_string(step.to)) for member in members)
        else:
            yield _insertion(node, step.to, text[members[-1].start : members[-1].end])


def _insertion(node: Node, key: str, value: bytes) -> Edit:
    member = encode_string(key) + b":" + value
    if node.children:
        return node.children[-1].end, node.children[-1].end, b"," + member
    return node.start + 1, node.end - 1, member


def _rename_columns(event: Event, step: Step) -> None:
    for name in COLUMN_LISTS:
        columns = getattr(event, name)
        for index, column in enumerate(columns):
            if column == step.key:
                columns[index] = step.to
