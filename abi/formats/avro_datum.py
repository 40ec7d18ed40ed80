"""One Event as an Avro datum: the schema is fixed, so it is read and written by hand, with the offset of every fault.

Avro's integers are signed and the event's are not. They carry the same bits (two's complement), so that all 64 of a
transaction id come back.
"""

from abi.event_pb2 import Event, SnapshotMetadata, SourceMetadata, TransactionMetadata
from abi.formats.refusals import shown, undecodable, unencodable

NAME = "avro"
_LONG, _INT = (1 << 64) - 1, (1 << 32) - 1
_OPERATIONS = 6
_MAX_ITEMS = 1_000_000
"""More names in a primary key than any table has: an array's count must not decide how much memory we take."""


class DatumReader:
    """Reads Avro values from bytes, knowing where it is and on the way to what."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data = data
        self.position = position
        self.path = ""

    def refuse(self, reason: str, offset: int | None = None) -> Exception:
        """Make the error for the value under way."""
        at = self.position if offset is None else offset
        return undecodable(NAME, reason, path=self.path or None, offset=at)

    def number(self) -> int:
        """Read a zigzag varint of at most 64 bits."""
        data, start = self.data, self.position
        value = shift = 0
        for offset in range(start, min(len(data), start + 10)):
            byte = data[offset]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value > _LONG:
                    raise self.refuse("number beyond 64 bits", start)
                self.position = offset + 1
                return (value >> 1) ^ -(value & 1)
            shift += 7
        raise self.refuse("truncated number" if start + 10 > len(data) else "number beyond 64 bits", start)

    def long(self, path: str) -> int:
        """Read a long as the unsigned number of the same bits."""
        self.path = path
        return self.number() & _LONG

    def int(self, path: str) -> int:
        """Read an int as the unsigned number of the same bits."""
        self.path = path
        start = self.position
        value = self.number()
        if not -(1 << 31) <= value < 1 << 31:
            raise self.refuse(f"{value} is beyond 32 bits", start)
        return value & _INT

    def branch(self, path: str) -> bool:
        """Read the branch of a union with null: whether there is a value."""
        self.path = path
        start = self.position
        index = self.number()
        if index not in (0, 1):
            raise self.refuse(f"branch {index} of a union of two", start)
        return index == 1

    def bytes(self, path: str) -> bytes:
        """Read a length and so many bytes."""
        self.path = path
        start = self.position
        length = self.number()
        end = self.position + length
        if length < 0 or end > len(self.data):
            raise self.refuse(f"length {length}, but {len(self.data) - self.position} bytes are left", start)
        value, self.position = self.data[self.position : end], end
        return value

    def text(self, path: str) -> str:
        """Read a string."""
        value = self.bytes(path)
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as exc:
            offset = self.position - len(value) + exc.start
            raise self.refuse(f"invalid UTF-8, {exc.reason}", offset) from None

    def boolean(self, path: str) -> bool:
        """Read a boolean."""
        self.path = path
        byte = self.data[self.position : self.position + 1]
        if byte not in (b"\x00", b"\x01"):
            raise self.refuse(f"expected the byte 0 or 1, got {shown(byte)}" if byte else "truncated")
        self.position += 1
        return byte == b"\x01"

    def texts(self, path: str) -> list[str]:
        """Read an array of strings, block by block."""
        found: list[str] = []
        while True:
            self.path = path
            start = self.position
            count = self.number()
            if count == 0:
                return found
            if count < 0:  # a block that says its size in bytes too
                self.number()
            if len(found) + abs(count) > min(_MAX_ITEMS, len(self.data)):
                raise self.refuse(f"{abs(count)} items do not fit the bytes left", start)
            found.extend(self.text(path) for _ in range(abs(count)))


def read_datum(data: bytes, position: int) -> tuple[Event, int]:
    """Read a datum that fills `data` from `position`; return the event, and where what follows the images begins.

    Raises:
        DecodeError: with path and offset.
    """
    reader = DatumReader(data, position)
    before = reader.bytes("before") if reader.branch("before") else None
    after = reader.bytes("after") if reader.branch("after") else None
    tail = reader.position
    reader.path = "op"
    op = reader.number()
    if not 0 <= op < _OPERATIONS:
        raise reader.refuse(f"unknown operation {op}, allowed are 0..{_OPERATIONS - 1}", tail)
    event = Event(before=before, after=after, op=op + 1)  # type: ignore[arg-type] # an int is an enum value here
    event.source.CopyFrom(
        SourceMetadata(
            source_name=reader.text("source.source_name"),
            offset=reader.text("source.offset"),
            timestamp=reader.long("source.timestamp"),
        )
    )
    event.ts = reader.long("ts")
    if reader.branch("schema"):
        event.schema = reader.text("schema")
    event.table = reader.text("table")
    event.primary_key.extend(reader.texts("primary_key"))
    _read_optional_records(reader, event)
    event.envelope_version = reader.int("envelope_version")
    event.before_is_key_only = reader.boolean("before_is_key_only")
    if reader.position != len(data):
        reader.path = ""
        raise reader.refuse(f"{len(data) - reader.position} bytes follow the event")
    return event, tail


def _read_optional_records(reader: DatumReader, event: Event) -> None:
    if reader.branch("snapshot"):
        event.snapshot.CopyFrom(
            SnapshotMetadata(
                snapshot_id=reader.text("snapshot.snapshot_id"),
                chunk_index=reader.int("snapshot.chunk_index"),
                is_last_chunk=reader.boolean("snapshot.is_last_chunk"),
            )
        )
    if reader.branch("transaction"):
        event.transaction.CopyFrom(
            TransactionMetadata(
                tx_id=reader.long("transaction.tx_id"),
                total_events=reader.int("transaction.total_events"),
                event_index=reader.int("transaction.event_index"),
            )
        )


def write_datum(event: Event) -> tuple[bytes, bytes]:
    """Write an event; return the row images and what follows them.

    Raises:
        EncodeError: the operation is none of Avro's symbols.
    """
    if not 1 <= event.op <= _OPERATIONS:
        raise unencodable(NAME, f"operation {int(event.op)} has no symbol", path="op", hint="set op to 1..6")
    images = b"".join(
        b"\x02" + _bytes(getattr(event, field)) if event.HasField(field) else b"\x00" for field in ("before", "after")
    )
    source = event.source
    out = [
        b"%c" % ((event.op - 1) << 1),
        _bytes(source.source_name.encode()),
        _bytes(source.offset.encode()),
        _number(source.timestamp, 64),
        _number(event.ts, 64),
        b"\x02" + _bytes(event.schema.encode()) if event.HasField("schema") else b"\x00",
        _bytes(event.table.encode()),
    ]
    if event.primary_key:
        out.append(_number(len(event.primary_key), 64))
        out.extend(_bytes(name.encode()) for name in event.primary_key)
    out.append(b"\x00")
    if event.HasField("snapshot"):
        out += [b"\x02", _bytes(event.snapshot.snapshot_id.encode()), _number(event.snapshot.chunk_index, 32)]
        out.append(b"\x01" if event.snapshot.is_last_chunk else b"\x00")
    else:
        out.append(b"\x00")
    if event.HasField("transaction"):
        transaction = event.transaction
        out += [b"\x02", _number(transaction.tx_id, 64)]
        out += [_number(transaction.total_events, 32), _number(transaction.event_index, 32)]
    else:
        out.append(b"\x00")
    out += [_number(event.envelope_version, 32), b"\x01" if event.before_is_key_only else b"\x00"]
    return images, b"".join(out)


def _bytes(value: bytes) -> bytes:
    return _number(len(value), 64) + value


def _number(value: int, bits: int) -> bytes:
    """Write an unsigned number as the signed one of the same bits, zigzag, in its shortest form."""
    signed = value - (1 << bits) if value >> (bits - 1) else value
    rest = (signed << 1) ^ (signed >> 63)
    if rest < 0x80:
        return b"%c" % rest
    out = bytearray()
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)
