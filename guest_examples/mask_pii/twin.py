"""The native twin of `mask_pii`: hide values of both row images by dotted path."""

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from abi import Event
from guest_examples.configuration import Reader, refuse
from guest_examples.jsonpath import Node, Segment, encode_string, parse, splice, value_text

ACTIONS = ("redact", "null", "truncate", "hash", "hmac", "keep_last", "keep")
DEFAULT_MARKER = "***"
MAX_CHARACTERS = 1_000_000
MIN_KEY_BYTES = 16

ATTRIBUTES_WITH_ROW_VALUES = (
    "cdc.entity.entity_identifier",
    "cdc.operation.changed_field_values",
    "debezium.tombstone",
    "opencdc.key",
)
"""Attributes that repeat values of the row; they are removed, because a path rule does not reach into them."""


@dataclass(frozen=True, slots=True)
class Action:
    """What happens to one value."""

    name: str
    marker: str = DEFAULT_MARKER
    characters: int = 0
    key: bytes = b""

    def apply(self, text: bytes, node: Node) -> bytes | None:
        """The new JSON text, or `None` to leave the value as it is. A null hides nothing and stays null."""
        if self.name == "keep" or node.kind == "null":
            return None
        if self.name == "null":
            return b"null"
        if self.name == "redact":
            return encode_string(self.marker)
        value = value_text(text, node)
        if self.name == "truncate":
            return encode_string(value[: self.characters]) if len(value) > self.characters else None
        if self.name == "keep_last":
            hidden = len(value) - self.characters
            # A value that is not longer than what may be seen is hidden as a whole.
            return encode_string("*" * hidden + value[hidden:] if hidden > 0 else "*" * len(value))
        if self.name == "hash":
            return encode_string(hashlib.sha256(value.encode()).hexdigest())
        return encode_string(hmac.new(self.key, value.encode(), hashlib.sha256).hexdigest())


@dataclass(frozen=True, slots=True)
class Rule:
    """An action and the path of the values it is for."""

    path: tuple[Segment, ...]
    action: Action


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the rules and give the transform."""
    reader = Reader.open(config, ("rules", "default", "hmac_key", "remove_attributes"))
    rules: list[Rule] = []
    if reader.has("rules"):
        for entry, location in reader.entries("rules"):
            rule = Reader.open(entry, ("path", "action", "marker", "n"), location)
            path = rule.path("path")
            if any(path == other.path for other in rules):
                refuse(rule.place("path"), "is given twice")
            rules.append(Rule(path, _action(rule, reader)))
    default = Action("keep")
    if reader.has("default"):
        default = _action(Reader.open(reader.required("default"), ("action", "marker", "n"), "default"), reader)
    if not rules and default.name == "keep":
        refuse("", "has neither rules nor a default")
    removed = (*ATTRIBUTES_WITH_ROW_VALUES, *reader.strings("remove_attributes"))

    def transform(event: Event) -> Event:
        for image in ("before", "after"):
            if event.HasField(image):
                text = getattr(event, image)
                root = parse(text, image)
                edits = list(_edits(text, root, [(rule, 0) for rule in rules], default))
                setattr(event, image, splice(text, edits))
        for key in removed:
            event.attributes.pop(key, None)
        return event

    return transform


def _action(reader: Reader, top: Reader) -> Action:
    name = reader.choice("action", ACTIONS)
    if reader.has("marker") and name != "redact":
        refuse(reader.place("marker"), "is only for redact")
    if reader.has("n") and name not in ("truncate", "keep_last"):
        refuse(reader.place("n"), "is only for truncate and keep_last")
    if name == "redact":
        return Action(name, marker=reader.string("marker", DEFAULT_MARKER))
    if name in ("truncate", "keep_last"):
        return Action(name, characters=reader.integer("n", 0, MAX_CHARACTERS))
    return Action(name, key=_key(top)) if name == "hmac" else Action(name)


def _key(reader: Reader) -> bytes:
    value = reader.required("hmac_key")
    if not isinstance(value, str | bytes):
        refuse("hmac_key", "must be a string or bytes")
    key = value.encode() if isinstance(value, str) else value
    if len(key) < MIN_KEY_BYTES:
        refuse("hmac_key", f"must have at least {MIN_KEY_BYTES} bytes")
    return key


def _edits(
    text: bytes, node: Node, active: list[tuple[Rule, int]], default: Action
) -> Iterator[tuple[int, int, bytes]]:
    """Edits of a value and all below it. `active` are the rules whose first segments led here, in their order."""
    named = next((rule for rule, matched in active if matched == len(rule.path)), None)
    action = default if named is None else named.action
    if node.is_container and (named is None or action.name == "keep"):
        # Below a value that is kept, the default no longer holds; rules that go deeper still do.
        for child in node.children:
            deeper = [
                (rule, matched + 1)
                for rule, matched in active
                if matched < len(rule.path) and rule.path[matched] in (None, child.key)
            ]
            yield from _edits(text, child, deeper, action)
        return
    replacement = action.apply(text, node)
    if replacement is not None:
        yield node.start, node.end, replacement
