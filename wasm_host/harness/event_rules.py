"""Rules between an event and what became of it. Each gives the problem in a line, or None."""

import json
from collections import Counter
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from abi import Event, Operation


def lost_unknown_fields(event: bytes, output: bytes) -> str | None:
    """Unknown fields must be in the output as they were in the input, unless the guest makes a new event."""
    before, after = Event.FromString(event), Event.FromString(output)
    if _is_new_event(before, after):
        return None
    missing = Counter(_unknown(before)) - Counter(_unknown(after))
    if not missing:
        return None
    return f"unknown field {next(iter(missing))[0]} of the event is not in the output as it was"


def lost_key(event: bytes, output: bytes) -> str | None:
    """Who could find the row before must be able to find it after."""
    before, after = Event.FromString(event), Event.FromString(output)
    row = _row(before)
    if not before.primary_key or row is None or not all(name in row for name in before.primary_key):
        return None
    if not after.primary_key:
        return "primary_key is gone" if not _is_new_event(before, after) else None
    changed = _row(after)
    missing = [name for name in after.primary_key if changed is None or name not in changed]
    return f"column {missing[0][:80]!r} of the primary key is no longer in the row" if missing else None


def _is_new_event(before: Event, after: Event) -> bool:
    return (before.table, before.op) != (after.table, after.op)


def _unknown(fields: Any) -> list[tuple[int, int, Any]]:
    """Number, wire type and content of each unknown field; what the stubs of protobuf do not know can be iterated."""
    found: Any = fields if isinstance(fields, UnknownFieldSet) else UnknownFieldSet(fields)
    return [(field.field_number, field.wire_type, _plain(field.data)) for field in found]


def _plain(data: Any) -> Any:
    return tuple(_unknown(data)) if isinstance(data, UnknownFieldSet) else data


def _row(event: Event) -> dict[str, Any] | None:
    """The image that has the row's columns: `before` of a delete, `after` of everything else."""
    name = "before" if event.op == Operation.DELETE else "after"
    if not event.HasField(name):
        return None
    try:
        row = json.loads(getattr(event, name))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
