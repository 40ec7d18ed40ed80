"""The parts of an OpenCDC record that JSON and protobuf share: position, operation, metadata, key, row images.

Both wires meet in JSON text, because that is what the canonical row images are: structured data is a JSON object; raw
data is a JSON string with its base64, as the JSON form of a record writes it.
"""

import base64
import binascii

import msgspec

from abi.errors import DecodeError
from abi.event_pb2 import Event, Operation
from abi.formats import json_text
from abi.formats.identity import key_columns
from abi.formats.json_format import MAX_UINT64, NULL
from abi.formats.layout import View
from abi.formats.refusals import unencodable

NAME = "opencdc"
OPERATIONS = {
    "create": Operation.INSERT,
    "update": Operation.UPDATE,
    "delete": Operation.DELETE,
    "snapshot": Operation.READ,
}
OPERATION_NAMES = {number: name for name, number in OPERATIONS.items()}

POSITION, METADATA, KEY, WIRE = "opencdc.position", "opencdc.metadata", "opencdc.key", "opencdc.wire"
COLLECTION, CREATED_AT, READ_AT, VERSION = (
    "opencdc.collection",
    "opencdc.createdAt",
    "opencdc.readAt",
    "opencdc.version",
)
CONNECTOR, PLUGIN = "conduit.source.connector.id", "conduit.source.plugin.name"
_NS_PER_MS = 1_000_000
_STRINGS = msgspec.json.Decoder(dict[str, str])
_STRING = msgspec.json.Decoder(str)


def marker(field: str) -> str:
    """Name the attribute that says how a row image was written: `raw`, `base64` or `empty`; absent is structured."""
    return f"{NAME}.payload.{field}"


def unbase64(text: bytes) -> bytes | None:
    """Return the bytes of a JSON string of base64, or None if it is not one."""
    try:
        return base64.b64decode(_STRING.decode(text), validate=True)
    except (msgspec.DecodeError, binascii.Error, ValueError):
        return None


def base64_text(data: bytes) -> bytes:
    """Write bytes as a JSON string of base64."""
    return b'"%b"' % base64.b64encode(data)


def is_object(data: bytes) -> bool:
    """Tell whether raw data is a JSON object that guests can work on as a row image."""
    if not data.lstrip(b" \t\r\n").startswith(b"{"):
        return False
    try:
        json_text.read(NAME, _OBJECT, data)
    except DecodeError:
        return False
    return True


_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def take_raw(event: Event, field: str, data: bytes, as_text: bytes | None = None) -> None:
    """Set a row image from raw data; `as_text` is the JSON string it stood as, where that matters."""
    text = base64_text(data)
    if is_object(data) and as_text in (None, text):
        setattr(event, field, data)
        event.attributes[marker(field)] = b"raw"
    else:
        setattr(event, field, as_text or text)
        event.attributes[marker(field)] = b"base64"


def take_position(event: Event, position: bytes) -> None:
    """Set the source's offset: the position as text, or its base64 when it is not text."""
    try:
        event.source.offset = position.decode("utf-8")
    except UnicodeDecodeError:
        event.source.offset = base64.b64encode(position).decode()
        event.attributes[POSITION] = position


def position_of(view: View) -> bytes:
    """Return the position; an offset that a guest has changed wins over the attribute."""
    kept, offset = view.attributes.get(POSITION), view.event.source.offset
    if kept is not None and base64.b64encode(kept).decode() == offset:
        return kept
    return offset.encode()


def operation_of(view: View) -> str:
    """Return the record's operation.

    Raises:
        EncodeError: OpenCDC has none for it.
    """
    name = OPERATION_NAMES.get(view.event.op)
    if name is None:
        raise unencodable(
            NAME,
            f"operation {int(view.event.op)} has no OpenCDC operation",
            path="op",
            hint="OpenCDC knows create, update, delete and snapshot; filter the others out first",
        )
    return name


def take_metadata(event: Event, metadata: dict[str, str]) -> None:
    """Set the canonical fields that standard metadata speaks of."""
    table, source_name, timestamp, ts = _derived(metadata)
    event.table, event.source.source_name = table, source_name
    event.source.timestamp, event.ts = timestamp, ts


def _derived(metadata: dict[str, str]) -> tuple[str, str, int, int]:
    created = _milliseconds(metadata.get(CREATED_AT))
    read = _milliseconds(metadata.get(READ_AT))
    name = metadata.get(CONNECTOR, metadata.get(PLUGIN, ""))
    return metadata.get(COLLECTION, ""), name, created or 0, created or 0 if read is None else read


def _milliseconds(text: str | None) -> int | None:
    # Metadata is free text: what is not a number of nanoseconds stays there and gives no time.
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 26:
        return None
    milliseconds = int(text) // _NS_PER_MS
    return milliseconds if milliseconds <= MAX_UINT64 else None


def metadata_text(view: View) -> bytes:
    """Write the metadata as a JSON object: as it stood, with what has changed since patched in."""
    kept = view.attributes.get(METADATA)
    if kept is None:
        return _new_metadata(view.event)
    kept = json_text.checked(NAME, "metadata", kept)
    try:
        metadata = _STRINGS.decode(kept)
    except msgspec.ValidationError:
        raise unencodable(NAME, f"attribute '{METADATA}' is not an object of strings", path="metadata") from None
    changes = _metadata_changes(view.event, metadata)
    return json_text.patch(NAME, kept, changes) if changes else kept


def _metadata_changes(event: Event, metadata: dict[str, str]) -> dict[str, bytes | None]:
    table, source_name, timestamp, ts = _derived(metadata)
    changes: dict[str, bytes | None] = {}
    if event.table != table:
        changes[COLLECTION] = json_text.quote(event.table)
    if event.source.source_name != source_name:
        changes[CONNECTOR] = json_text.quote(event.source.source_name)
    moved = event.source.timestamp != timestamp
    if moved:
        changes[CREATED_AT] = b'"%d"' % (event.source.timestamp * _NS_PER_MS)
    # Without a readAt, `ts` is read from createdAt, so moving that one needs the other written down.
    if event.ts != ts or (moved and _milliseconds(metadata.get(READ_AT)) is None):
        changes[READ_AT] = b'"%d"' % (event.ts * _NS_PER_MS)
    return changes


def _new_metadata(event: Event) -> bytes:
    fields = {VERSION: "v1", COLLECTION: event.table, CONNECTOR: event.source.source_name}
    fields[CREATED_AT] = str(event.source.timestamp * _NS_PER_MS) if event.source.timestamp else ""
    fields[READ_AT] = str(event.ts * _NS_PER_MS) if event.ts or event.source.timestamp else ""
    return msgspec.json.encode({key: fields[key] for key in sorted(fields) if fields[key]})


def key_text(view: View) -> bytes | None:
    """Write the key: as it stood, or from the primary key's columns; None if there is none."""
    kept = view.attributes.get(KEY)
    if kept is None:
        return key_from_columns(view.event)
    kept = json_text.checked(NAME, "key", kept)
    if kept.startswith(b"{"):
        names = list(_OBJECT.decode(kept))
        if names != list(view.event.primary_key):
            return key_from_columns(view.event) or kept
    elif kept != NULL and unbase64(kept) is None:
        raise unencodable(NAME, f"attribute '{KEY}' is neither an object nor a string of base64", path="key")
    return kept


def key_from_columns(event: Event) -> bytes | None:
    """Write the primary key's columns as an object; None if the row images do not have them."""
    columns = key_columns(event)
    if not columns:
        return None
    return b"{%b}" % b",".join(json_text.quote(name) + b":" + value for name, value in columns.items())


def image_text(view: View, field: str) -> bytes:
    """Write a row image as it stands in the JSON form of a record: an object, a string of base64, or null."""
    if not view.event.HasField(field):
        return NULL
    data: bytes = getattr(view.event, field)
    how = view.attributes.get(marker(field))
    if how == b"raw":
        return base64_text(data)
    text = json_text.checked(NAME, f"payload.{field}", data)
    if how == b"base64" and text.startswith(b'"'):
        if unbase64(text) is None:
            raise unencodable(NAME, "not a string of base64", path=f"payload.{field}")
        return text
    # Structured data is an object; any other JSON value can only travel as raw data.
    return text if text.startswith(b"{") else base64_text(text)
