"""What identifies an event and its row when a format asks for an id and the event carries none."""

import hashlib

import msgspec

from abi.event_pb2 import Event

_COLUMNS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STRING = msgspec.json.Decoder(str)
# A name that is not UTF-8 gives an error of its own; raw values are not looked into before they are decoded.
_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def stable_id(event: Event) -> bytes:
    """Return 16 bytes that are the same each time the same change is converted, so that receivers can deduplicate."""
    source, transaction = event.source, event.transaction
    parts = (
        source.source_name,
        source.offset,
        str(transaction.tx_id),
        str(transaction.event_index),
        event.schema,
        event.table,
        str(int(event.op)),
        str(event.ts),
        key_value(event),
    )
    framed = b"".join(b"%d:%b" % (len(part.encode()), part.encode()) for part in parts)
    return hashlib.blake2b(framed, digest_size=16).digest()


def key_columns(event: Event) -> dict[str, bytes]:
    """Return the primary key's columns and their JSON texts, from `after` or else `before`; {} if unknown."""
    for image in (event.after, event.before):
        try:
            columns = _COLUMNS.decode(image)
        except _UNREADABLE:
            continue
        if event.primary_key and all(name in columns for name in event.primary_key):
            return {name: bytes(columns[name]) for name in event.primary_key}
    return {}


def key_value(event: Event) -> str:
    """Return the primary key as text: one column's plain value, several as a JSON array; empty if unknown."""
    values = list(key_columns(event).values())
    if not values:
        return ""
    if len(values) > 1:
        return "[" + ",".join(value.decode("utf-8", "replace") for value in values) + "]"
    if values[0].startswith(b'"'):
        try:
            return _STRING.decode(values[0])
        except _UNREADABLE:
            pass  # its text will do: it is the same each time
    return values[0].decode("utf-8", "replace")
