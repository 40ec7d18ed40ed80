"""The native twin of `filter_rows`: keep the events that a subscription asks for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from abi import Event, Operation
from guest_examples.changes import changed_columns
from guest_examples.configuration import Reader, check_choice
from guest_examples.fields import Images, parse_field
from guest_examples.filter_rows.condition import parse_condition
from guest_examples.pattern import matches_any

KEYS = (
    "operations",
    "exclude_operations",
    "entities",
    "exclude_entities",
    "tenants",
    "tenant_field",
    "triggers",
    "changed_fields",
    "where",
)
OPERATIONS = ("INSERT", "CREATE", "UPDATE", "DELETE", "READ", "SCHEMA_CHANGE", "TRUNCATE")
TENANT_FIELD = "attribute:cdc.entity.tenant_id"
TRIGGER = "cdc.operation.trigger"


@dataclass(frozen=True, slots=True)
class _Subscription:
    operations: frozenset[int]
    exclude_operations: frozenset[int]
    entities: list[str]
    exclude_entities: list[str]


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the filters and give the transform; filters that are not given let everything through."""
    reader = Reader.open(config, KEYS)
    subscription = _Subscription(
        _operations(reader, "operations"),
        _operations(reader, "exclude_operations"),
        reader.strings("entities"),
        reader.strings("exclude_entities"),
    )
    tenants = reader.strings("tenants")
    tenant_field = parse_field(reader.string("tenant_field", TENANT_FIELD), "tenant_field")
    triggers = reader.strings("triggers")
    changed_fields = reader.strings("changed_fields")
    where = parse_condition(reader.required("where"), "where") if reader.has("where") else None

    def transform(event: Event) -> Event | None:
        if not _is_subscribed(event, subscription):
            return None
        if event.op in (Operation.TRUNCATE, Operation.SCHEMA_CHANGE):
            return event  # there is no row to look at, and losing one of these would corrupt a copy of the table
        images = Images(event)
        if tenants and not any(
            value.kind == "string" and value.text in tenants for value in tenant_field.values(event, images)
        ):
            return None
        if triggers and not (
            TRIGGER in event.attributes
            and matches_any(triggers, event.attributes[TRIGGER].decode(errors="surrogateescape"))
        ):
            return None
        if changed_fields and not changed_columns(event, images, changed_fields):
            return None
        if where is not None:
            if where.reads_images:
                images.scanned()
            if not where.holds(event, images):
                return None
        return event

    return transform


def _operations(reader: Reader, key: str) -> frozenset[int]:
    if not reader.has(key):
        return frozenset()
    names = [check_choice(value, OPERATIONS, place) for value, place in reader.entries(key)]
    return frozenset(Operation.Value("INSERT" if name == "CREATE" else name) for name in names)


def _is_subscribed(event: Event, subscription: _Subscription) -> bool:
    if event.op in subscription.exclude_operations:
        return False
    if (
        subscription.operations
        and event.op not in subscription.operations
        and event.op not in (Operation.TRUNCATE, Operation.SCHEMA_CHANGE)
    ):
        return False
    if subscription.entities and not _is_entity(event, subscription.entities):
        return False
    return not _is_entity(event, subscription.exclude_entities)


def _is_entity(event: Event, patterns: list[str]) -> bool:
    return matches_any(patterns, event.table) or (
        event.HasField("schema") and matches_any(patterns, f"{event.schema}.{event.table}")
    )
