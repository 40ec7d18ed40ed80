"""The native twin of `explode_cascade`: what a change did to other entities becomes events of their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from abi import Event, EventFailure, Operation
from guest_examples.configuration import Reader, check_name
from guest_examples.jsonpath import Node, encode_string, parse, splice, value_text

CASCADE = "cdc.cascade"
KINDS = {"updated": Operation.UPDATE, "deleted": Operation.DELETE}
TRIGGERS = {"updated": b"cascade_update", "deleted": b"cascade_delete"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entity that changed along with the event's own."""

    kind: str
    entity_type: str
    entity_id: str
    reason: str | None
    changes: bytes | None


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the name of the key column and give the transform."""
    reader = Reader.open(config, ("key",))
    key = check_name(reader.required("key"), "key") if reader.has("key") else "id"

    def transform(event: Event) -> Event | list[Event]:
        if CASCADE not in event.attributes:
            return event
        text = event.attributes[CASCADE]
        root = parse(text, CASCADE)
        if root.kind != "object":
            raise EventFailure(f"{CASCADE} must be an object")
        entries = [entry for kind in KINDS for entry in _entries(text, root, kind)]
        if not entries:
            return event
        cascaded = [_event_of(event, entry, number, key) for number, entry in enumerate(entries, 1)]
        emptied = [
            (child.start, child.end, b"[]")
            for child in root.children
            if child.key in KINDS and child.kind == "array" and child.children
        ]
        event.attributes[CASCADE] = splice(text, emptied)
        return [event, *cascaded]

    return transform


def _member(node: Node, key: str) -> Node | None:
    return next((child for child in reversed(node.children) if child.key == key), None)


def _entries(text: bytes, root: Node, kind: str) -> list[Entry]:
    array = _member(root, kind)
    if array is None or array.kind == "null":
        return []
    if array.kind != "array":
        raise EventFailure(f"{CASCADE}: {kind} must be an array")
    return [_entry(text, node, kind, index) for index, node in enumerate(array.children)]


def _entry(text: bytes, node: Node, kind: str, index: int) -> Entry:
    def string(key: str) -> str | None:
        member = _member(node, key) if node.kind == "object" else None
        return value_text(text, member) if member is not None and member.kind == "string" else None

    entity_type, entity_id = string("entity_type"), string("entity_id")
    if not entity_type or entity_id is None:
        raise EventFailure(f"{CASCADE}: {kind}[{index}] needs entity_type and entity_id")
    changes = _member(node, "changes")
    is_listed = kind == "updated" and changes is not None and changes.kind == "array"
    return Entry(
        kind,
        entity_type,
        entity_id,
        string("reason"),
        text[changes.start : changes.end] if changes is not None and is_listed else None,
    )


def _event_of(parent: Event, entry: Entry, number: int, key: str) -> Event:
    event = Event(
        before=b"{" + encode_string(key) + b":" + encode_string(entry.entity_id) + b"}",
        op=KINDS[entry.kind],
        ts=parent.ts,
        table=entry.entity_type,
        primary_key=[key],
        envelope_version=parent.envelope_version,
        before_is_key_only=True,
    )
    for name in ("source", "transaction"):
        if parent.HasField(name):
            getattr(event, name).CopyFrom(getattr(parent, name))
    if parent.HasField("schema"):
        event.schema = parent.schema
    if entry.reason is not None:
        event.attributes["cascade.reason"] = entry.reason.encode()
    event.attributes["cdc.entity.entity_id"] = entry.entity_id.encode()
    if "cdc.entity.tenant_id" in parent.attributes:
        event.attributes["cdc.entity.tenant_id"] = parent.attributes["cdc.entity.tenant_id"]
    if "cdc.event_id" in parent.attributes:
        event.attributes["cdc.event_id"] = parent.attributes["cdc.event_id"] + f"/{number}".encode()
    if entry.changes is not None:
        event.attributes["cdc.operation.changed_fields"] = entry.changes
    event.attributes["cdc.operation.trigger"] = TRIGGERS[entry.kind]
    return event
