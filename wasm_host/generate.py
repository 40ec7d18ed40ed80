"""Make canonical events by the hundred thousand, from a seed: for comparing transforms and for load.

The same seed gives the same events, on every machine and version of Python's `random`. The spread is that of
`wasm_host.strategies`, which shrinks but is far too slow for bulk: rows of any shape, numbers beyond 2^53, Unicode and
escapes, missing images, broken JSON, attributes of CDC documents, unknown and repeated protobuf fields. Most events are
ordinary; oddness is the exception, so that a transform's main path is covered as well.
"""

import random

from abi import Event, Operation
from wasm_host.generate_json import JsonMaker

TABLES = ("users", "orders", "outbox", "audit_log", "audit_access", "User", "Post", "täble")
SCHEMAS = ("public", "acme", "sales")
TENANTS = ("acme", "globex", "tenant-123")
TRIGGERS = ("api_create", "api_update", "admin_action", "batch_import", "cascade_delete")
_OPERATIONS = (
    *(Operation.INSERT, Operation.UPDATE, Operation.UPDATE, Operation.DELETE, Operation.READ) * 4,
    Operation.SCHEMA_CHANGE,
    Operation.TRUNCATE,
    Operation.OPERATION_UNSPECIFIED,
)


def generate_events(seed: int, count: int) -> list[bytes]:
    """Make events in protobuf form.

    Args:
        seed: any integer; the same one gives the same events.
        count: how many.

    >>> generate_events(7, 3) == generate_events(7, 3)
    True
    """
    maker = EventMaker(seed)
    return [maker.make() for _ in range(count)]


class EventMaker:
    """An endless, reproducible source of events."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._json = JsonMaker(self._random)

    def make(self) -> bytes:
        """The next event."""
        rng = self._random
        event = Event(op=rng.choice(_OPERATIONS), table=rng.choice(TABLES), ts=rng.randrange(1 << 44))
        self._fill_images(event)
        self._fill_envelope(event)
        if rng.random() < 0.3:
            self._fill_attributes(event)
        encoded = event.SerializeToString(deterministic=True)
        if rng.random() < 0.06:
            encoded = self._rearrange(encoded)
        return encoded

    def _fill_images(self, event: Event) -> None:
        rng = self._random
        is_outbox = event.table == "outbox"
        if event.op in (Operation.INSERT, Operation.UPDATE, Operation.READ) or rng.random() < 0.15:
            event.after = self._json.outbox_row() if is_outbox else self._json.row()
        if event.op in (Operation.UPDATE, Operation.DELETE) or rng.random() < 0.1:
            # An update usually leaves most columns as they were.
            if event.HasField("after") and rng.random() < 0.5:
                event.before = event.after if rng.random() < 0.3 else self._json.similar(event.after)
            else:
                event.before = self._json.row()

    def _fill_envelope(self, event: Event) -> None:
        rng = self._random
        if rng.random() < 0.6:
            event.schema = rng.choice(SCHEMAS) if rng.random() < 0.95 else ""
        if rng.random() < 0.7:
            event.primary_key.extend(rng.sample(("id", "tenant_id", "email"), rng.choice((1, 1, 1, 2))))
        if rng.random() < 0.8:
            event.source.source_name = "postgres"
            event.source.offset = f"0/{rng.randrange(1 << 32):X}"
            event.source.timestamp = event.ts
        if rng.random() < 0.1:
            event.snapshot.snapshot_id = "snap-1"
            event.snapshot.chunk_index = rng.randrange(9)
        if rng.random() < 0.4:
            event.transaction.tx_id = rng.randrange(1 << 64)
        event.envelope_version = rng.choice((0, 1, 1, 1))
        event.before_is_key_only = rng.random() < 0.1
        if rng.random() < 0.1:
            event.unavailable_columns.extend(rng.sample(("status", "email", "name", "note"), 2))
        if rng.random() < 0.05:
            event.before_unavailable_columns.append("note")

    def _fill_attributes(self, event: Event) -> None:
        rng = self._random
        attributes = event.attributes
        if rng.random() < 0.8:
            attributes["cdc.entity.tenant_id"] = rng.choice(TENANTS).encode()
        if rng.random() < 0.8:
            attributes["cdc.operation.trigger"] = rng.choice(TRIGGERS).encode()
        if rng.random() < 0.5:
            attributes["cdc.operation.changed_fields"] = self._json.names()
        if rng.random() < 0.5:
            attributes["cdc.event_id"] = f"evt_{rng.randrange(1 << 32):08x}".encode()
        if rng.random() < 0.5:
            attributes["cdc.cascade"] = self._json.cascade()
        if rng.random() < 0.2:
            attributes["cdc.operation.changed_field_values"] = b'{"email":{"before":"a","after":"b"}}'
        if rng.random() < 0.1:
            attributes["app.note"] = rng.randbytes(rng.randrange(6))

    def _rearrange(self, encoded: bytes) -> bytes:
        """What other writers may do: fields we do not know, fields twice, fields of another type."""
        rng = self._random
        unknown = rng.choice((b"\x78\x05", b"\x82\x7d\x03abc", b"\xfd\x01\x01\x02\x03\x04", b"\x79" + bytes(8)))
        choice = rng.randrange(5)
        if choice == 0:
            return unknown + encoded
        if choice == 1:
            return b"\x3a\x03old" + encoded + unknown  # `table` twice: the last one counts
        if choice == 2:
            return b"\x12\x02{}" + encoded  # `after` twice, unless the event has none
        if choice == 3:
            return b"\x0d\x01\x02\x03\x04" + encoded  # `before` with a wire type that is not the schema's
        return encoded + unknown
