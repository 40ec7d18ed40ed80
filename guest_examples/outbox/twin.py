"""The native twin of `outbox`: a row of an outbox table becomes the domain event that it holds."""

from collections.abc import Callable, Mapping
from typing import Any

from abi import Event, EventFailure, Operation
from guest_examples.configuration import Reader
from guest_examples.fields import Images
from guest_examples.jsonpath import decode_string, parse, value_text
from guest_examples.pattern import matches

COLUMNS = {
    "id": "id",
    "aggregate_type": "aggregatetype",
    "aggregate_id": "aggregateid",
    "event_type": "type",
    "payload": "payload",
}


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the names of table and columns and give the transform."""
    reader = Reader.open(config, ("table", *COLUMNS, "to"))
    table = reader.string("table", "outbox")
    columns = {role: reader.string(role, default) for role, default in COLUMNS.items()}
    to = reader.string("to", "*")

    def transform(event: Event) -> Event | None:
        is_outbox = matches(table, event.table) or (
            event.HasField("schema") and matches(table, f"{event.schema}.{event.table}")
        )
        if not is_outbox or event.op in (Operation.TRUNCATE, Operation.SCHEMA_CHANGE):
            return event
        if event.op == Operation.DELETE:
            return None  # clearing the outbox means nothing
        if event.op not in (Operation.INSERT, Operation.READ):
            raise EventFailure("an outbox row must be inserted, not changed")
        if not event.HasField("after"):
            raise EventFailure("the outbox row has no after image")
        row = _Row(event)
        texts = {role: row.text(column) for role, column in columns.items() if role != "payload"}
        payload = row.payload(columns["payload"])
        _become(event, texts, payload, to)
        return event

    return transform


class _Row:
    """The columns of the `after` image."""

    def __init__(self, event: Event) -> None:
        self._text, root = Images(event).scanned()["after"]
        self._columns = {child.key: child for child in root.children if child.key is not None}

    def text(self, column: str) -> str:
        node = self._columns.get(column)
        if node is None or node.kind == "null":
            raise EventFailure(f"the outbox row has no {column}")
        if node.kind not in ("string", "number"):
            raise EventFailure(f"{column} must be a string or a number")
        return value_text(self._text, node)

    def payload(self, column: str) -> bytes:
        node = self._columns.get(column)
        if node is None:
            raise EventFailure(f"the outbox row has no {column}")
        token = self._text[node.start : node.end]
        if node.kind != "string":
            return token
        document = decode_string(token).encode()
        parse(document, column)
        return document


def _become(event: Event, texts: dict[str, str], payload: bytes, to: str) -> None:
    event.op = Operation.INSERT
    event.ClearField("before")
    event.after = payload
    event.table = to.replace("*", texts["aggregate_type"])
    event.ClearField("primary_key")
    event.before_is_key_only = False
    event.attributes["outbox.aggregate_id"] = texts["aggregate_id"].encode()
    event.attributes["outbox.event_type"] = texts["event_type"].encode()
    event.attributes["outbox.id"] = texts["id"].encode()
