"""The format `protobuf`: the canonical Event itself.

A batch passes through unchanged, byte for byte. A single event goes through an `Event` object, which knows no order
of map entries or of unknown fields; where the bytes are not in the sorted order that we write, the order is kept in the
attribute `protobuf.layout`.
"""

from typing import TYPE_CHECKING

from abi.event_pb2 import Event
from abi.formats import wire
from abi.formats.format import Format, RowFailure
from abi.formats.protobuf_bytes import parse_event, serialise_event

if TYPE_CHECKING:
    import pyarrow as pa

LAYOUT = "protobuf.layout"
_ATTRIBUTES = Event.DESCRIPTOR.fields_by_name["attributes"].number


class ProtobufFormat(Format):
    """The canonical Event in protobuf."""

    name = "protobuf"

    @property
    def is_text(self) -> bool:
        """Protobuf is binary."""
        return False

    def decode(self, data: bytes) -> Event:
        """Read one event; see `Format.decode`."""
        event = parse_event(data)
        if serialise_event(event) != data:
            order = b"".join(wire.write_varint(len(key)) + key for key in map(_identity, _split(data)))
            event.attributes[LAYOUT] = order
        return event

    def encode(self, event: Event) -> bytes:
        """Write one event; see `Format.encode`."""
        if LAYOUT not in event.attributes:
            return serialise_event(event)
        plain = Event()
        plain.CopyFrom(event)
        order = plain.attributes.pop(LAYOUT)
        return _in_order(_split(serialise_event(plain)), order)

    def decode_batch(self, documents: "pa.Array | pa.ChunkedArray") -> tuple["pa.BinaryArray", list[RowFailure]]:
        """Check every row, and hand back the same bytes; see `Format.decode_batch`."""
        return self._pass_through(documents)

    def encode_batch(self, events: "pa.Array | pa.ChunkedArray") -> tuple["pa.BinaryArray", list[RowFailure]]:
        """Check every row, and hand back the same bytes; see `Format.encode_batch`."""
        return self._pass_through(events)

    def _pass_through(self, rows: "pa.Array | pa.ChunkedArray") -> tuple["pa.BinaryArray", list[RowFailure]]:
        return self._convert(rows, _checked)


def _checked(data: bytes) -> bytes:
    parse_event(data)
    return data


def _split(data: bytes) -> list[bytes]:
    return [data[record.begin : record.end] for record in wire.records(data)]


def _identity(record: bytes) -> bytes:
    """Name a top-level field of an event so that it is found again after its value has changed."""
    tag, start = wire.read_varint(record, 0, len(record))
    if tag != _ATTRIBUTES << 3 | wire.BYTES:
        return wire.write_varint(tag)
    _, start = wire.read_varint(record, start, len(record))
    keys = [record[entry.start : entry.end] for entry in wire.records(record, start) if entry.number == 1]
    return wire.write_varint(tag) + b"".join(keys[-1:])


def _in_order(parts: list[bytes], order: bytes) -> bytes:
    """Sort fields as `order` lists them; fields that it does not list come last, in their own order."""
    ranks: dict[bytes, list[int]] = {}
    position = rank = 0
    try:
        while position < len(order):
            length, position = wire.read_varint(order, position, len(order))
            ranks.setdefault(order[position : position + length], []).append(rank)
            position, rank = position + length, rank + 1
    except wire.WireError:
        ranks = {}  # a guest has damaged the order; nothing but the order is lost
    taken: dict[bytes, int] = {}
    ranked: list[tuple[int, bytes]] = []
    for part in parts:
        key = _identity(part)
        seats, used = ranks.get(key, []), taken.get(key, 0)
        ranked.append((seats[used] if used < len(seats) else rank, part))
        taken[key] = used + 1
    return b"".join(part for _, part in sorted(ranked, key=lambda item: item[0]))
