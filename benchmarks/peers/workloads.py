"""The work that all hosts are given: five transforms on events of four sizes."""

from dataclasses import dataclass
from typing import Any

from abi import Event, Operation

SIZES_BYTES = (100, 470, 4_000, 64_000)
TRANSFORMS = ("pass-through", "redaction", "hmac", "filter", "explode")
HMAC_KEY = "0123456789abcdef0123456789abcdef"
FIELDS = ("email", "name")
CASCADE = (
    b'{"updated":[{"entity_type":"Org","entity_id":"880e","reason":"gone"}],'
    b'"deleted":[{"entity_type":"Post","entity_id":"990e","reason":"gone"}]}'
)

_EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "pass-through": ("pass_through", {}),
    "redaction": ("mask_pii", {"rules": [{"path": path, "action": "redact"} for path in FIELDS]}),
    "hmac": ("mask_pii", {"rules": [{"path": "email", "action": "hmac"}], "hmac_key": HMAC_KEY}),
    "filter": ("filter_rows", {"where": {"field": "status", "op": "=", "value": "active"}}),
    "explode": ("explode_cascade", {}),
}


@dataclass(frozen=True)
class Workload:
    """One transform on one size of event.

    Attributes:
        transform: Its name among TRANSFORMS.
        size_bytes: What was asked for; 100 B events are rather 105 or, with a cascade, 240.
        example: The guest.
        config: Its configuration.
        events: The input.
        expected: How many events come out.
    """

    transform: str
    size_bytes: int
    example: str
    config: dict[str, Any]
    events: list[bytes]
    expected: int


def make_workload(transform: str, size_bytes: int, count: int) -> Workload:
    """Make the input, and say what is right."""
    example, config = _EXAMPLES[transform]
    events = [_event(number, size_bytes, has_cascade=transform == "explode") for number in range(count)]
    # Every second event is active; each cascade names two others.
    expected = {"filter": (count + 1) // 2, "explode": 3 * count}.get(transform, count)
    return Workload(transform, size_bytes, example, config, events, expected)


def _event(number: int, size_bytes: int, *, has_cascade: bool) -> bytes:
    status = b"closed" if number % 2 else b"active"
    row = b'{"id":%d,"email":"u%d@example.com","name":"Alice","status":"%b"}' % (number, number, status)
    event = Event(op=Operation.INSERT, table="users", after=row, ts=1768145700123)
    if has_cascade:
        event.attributes["cdc.cascade"] = CASCADE
    if size_bytes >= 400:
        event.op, event.before, event.schema = Operation.UPDATE, row, "public"
        event.source.source_name, event.source.offset, event.transaction.tx_id = "postgres", "0/16B3748", 1234567890
    missing = size_bytes - event.ByteSize() - len(b',"note":""') - 2
    if missing > 0:
        # Both images get their half, as in real updates.
        images = [image for image in ("before", "after") if event.HasField(image)]
        for image in images:
            note = (b"lorem ipsum dolor " * (missing // 18 + 1))[: missing // len(images)]
            setattr(event, image, row[:-1] + b',"note":"' + note + b'"}')
    return event.SerializeToString()
