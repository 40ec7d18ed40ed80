"""The format `avro`: the canonical Event as a plain Avro datum, in single-object encoding, or in Confluent's framing.

    plain           datum
    single-object   C3 01, fingerprint of the schema (8 bytes, little-endian), datum
    confluent       00, schema id in the registry (4 bytes, big-endian), datum

The framing and its id are attributes, so an event leaves as it came. The schema has no place for attributes themselves,
nor for unavailable columns: they are dropped.
"""

from collections.abc import Mapping
from typing import Any, Literal

from abi.errors import DecodeError
from abi.event_pb2 import Event
from abi.formats.avro_datum import NAME, read_datum, write_datum
from abi.formats.avro_evolution import WriterSchemas
from abi.formats.avro_schema import event_fingerprint, event_schema
from abi.formats.format import Format
from abi.formats.refusals import shown, undecodable, unencodable

Framing = Literal["plain", "single-object", "confluent"]
FRAMINGS: tuple[Framing, ...] = ("plain", "single-object", "confluent")

FRAMING, SCHEMA_ID, LAYOUT = "avro.framing", "avro.schema_id", "avro.layout"
_SINGLE_OBJECT = b"\xc3\x01"
_MAX_SCHEMA_ID = 2**32 - 1


class AvroFormat(Format):
    """The canonical Event in Avro.

    Args:
        framing: read and write only this framing. By default all are told apart when reading, and an event is written
            in the framing that it came in, or plain when it came in another format.
        schema_id: the registry's id for events that carry none; needed to write `confluent` from other formats.
        writer_schemas: other schemas that events may have been written with, by registry id (int) or by fingerprint (8
            bytes). Their events are resolved to the canonical schema, as Avro's rules say, and written with that one.
    """

    name = NAME

    def __init__(
        self,
        framing: Framing | None = None,
        *,
        schema_id: int | None = None,
        writer_schemas: Mapping[int | bytes, dict[str, Any]] | None = None,
    ) -> None:
        self._framing = framing
        self._schema_id = schema_id
        self._writers = WriterSchemas(writer_schemas or {})

    @property
    def is_text(self) -> bool:
        """Avro is binary."""
        return False

    def schema(self) -> dict[str, Any]:
        """Return the Avro schema."""
        return event_schema()

    def decode(self, data: bytes) -> Event:
        """Read one event; see `Format.decode`."""
        if self._framing is not None:
            return self._decode_as(self._framing, data)
        if data.startswith(_SINGLE_OBJECT):
            return self._decode_as("single-object", data)
        if not data.startswith(b"\x00"):
            return self._decode_as("plain", data)
        return self._tell_apart(data)

    def _tell_apart(self, data: bytes) -> Event:
        """Read bytes that start with 0, which is Confluent's magic byte and also a plain datum without `before`."""
        found: list[Event] = []
        refusals: list[DecodeError] = []
        for framing in ("plain", "confluent"):
            try:
                found.append(self._decode_as("plain" if framing == "plain" else "confluent", data))
            except DecodeError as exc:
                refusals.append(exc)
        if len(found) == 2:
            raise undecodable(
                NAME,
                "the bytes are an event both as a plain datum and in Confluent's framing",
                offset=0,
                hint="name the framing: AvroFormat('plain') or AvroFormat('confluent')",
            )
        if found:
            return found[0]
        # Of two failed readings, the one that came further is the more likely meant.
        raise max(refusals, key=lambda exc: exc.offset or 0)

    def _decode_as(self, framing: Framing, data: bytes) -> Event:
        if framing == "plain":
            return _read(data, 0)
        if framing == "single-object":
            if data[:2] != _SINGLE_OBJECT or len(data) < 10:
                raise undecodable(
                    NAME, f"expected the marker C3 01 and 8 bytes, got {shown(data[:10].hex())}", offset=0
                )
            event = self._read_written_by(data, 10, data[2:10])
        else:
            if data[:1] != b"\x00" or len(data) < 5:
                raise undecodable(NAME, f"expected the byte 00 and 4 bytes, got {shown(data[:5].hex())}", offset=0)
            number = int.from_bytes(data[1:5], "big")
            event = self._read_written_by(data, 5, number)
            if number not in self._writers:  # what was resolved is written with our schema, which has another id
                event.attributes[SCHEMA_ID] = b"%d" % number
        event.attributes[FRAMING] = framing.encode()
        return event

    def _read_written_by(self, data: bytes, position: int, schema: int | bytes) -> Event:
        if schema in self._writers:
            return self._writers.read(schema, data, position)
        if isinstance(schema, bytes) and schema != event_fingerprint():
            raise undecodable(
                NAME,
                f"written with an unknown schema, fingerprint {schema.hex()}, ours is {event_fingerprint().hex()}",
                offset=2,
                hint="give the schema as writer_schemas={bytes.fromhex(...): schema}",
            )
        return _read(data, position)

    def encode(self, event: Event) -> bytes:
        """Write one event; see `Format.encode`."""
        framing = self._framing or event.attributes.get(FRAMING, b"plain").decode("utf-8", "replace")
        images, tail = write_datum(event)
        if LAYOUT in event.attributes:
            tail = _restore(event.attributes[LAYOUT], tail)
        if framing == "plain":
            return images + tail
        if framing == "single-object":
            return b"".join((_SINGLE_OBJECT, event_fingerprint(), images, tail))
        if framing == "confluent":
            return b"".join((b"\x00", self._id_of(event).to_bytes(4, "big"), images, tail))
        raise unencodable(NAME, f"unknown framing {shown(framing)}", hint=f"allowed are {', '.join(FRAMINGS)}")

    def _id_of(self, event: Event) -> int:
        text = event.attributes.get(SCHEMA_ID)
        if text is None and self._schema_id is not None:
            return self._schema_id
        if text is None or not text.isdigit() or len(text) > 10 or int(text) > _MAX_SCHEMA_ID:
            raise unencodable(
                NAME,
                f"Confluent's framing needs a schema id, the event has {shown(text)}",
                path=SCHEMA_ID,
                hint="give one: AvroFormat('confluent', schema_id=...)",
            )
        return int(text)


def _read(data: bytes, position: int) -> Event:
    event, tail = read_datum(data, position)
    images, written = write_datum(event)
    if data[position:tail] != images:
        raise undecodable(NAME, "a length is written with more bytes than it needs", path="before", offset=position)
    if data[tail:] != written:  # arrays in several blocks: keep how it stood, with what we would have written
        event.attributes[LAYOUT] = len(written).to_bytes(4, "big") + written + data[tail:]
    return event


def _restore(layout: bytes, written: bytes) -> bytes:
    """Return the tail as it stood, if the event still says the same; else what is written now."""
    length = int.from_bytes(layout[:4], "big")
    return layout[4 + length :] if layout[4 : 4 + length] == written and len(layout) > 4 + length else written
