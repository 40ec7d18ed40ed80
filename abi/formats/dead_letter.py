"""A failed event as an OpenCDC record for a dead-letter queue."""

from abi.errors import AbiError
from abi.event_pb2 import Event, Operation
from abi.formats import json_text
from abi.formats import opencdc_parts as parts
from abi.formats.layout import view_of
from abi.formats.opencdc import OpenCdcFormat, Wire
from abi.formats.protobuf_bytes import parse_event, serialise_event

NACK_ERROR = "conduit.dlq.nack.error"
NACK_NODE_ID = "conduit.dlq.nack.node.id"


def dead_letter_opencdc(event: bytes | Event, *, error: str, node_id: str, wire: Wire = "json") -> bytes:
    """Write a failed event as an OpenCDC record that says why and where it failed.

    An event that a record can carry keeps its key, payload and metadata. One that it cannot (an operation without an
    OpenCDC name, bytes that are no event at all) travels whole, as raw data in `payload.after` of a `create` record.

    Args:
        event: the canonical event, as an object or as protobuf bytes.
        error: why it failed; a control character in it is escaped by the record's own encoding.
        node_id: what refused it, for example the module's name and digest.
        wire: `json` or `protobuf`.
    """
    try:
        record = Event()
        record.CopyFrom(parse_event(event) if isinstance(event, bytes) else event)
        return _write(record, error, node_id, wire)
    except AbiError:
        data = event if isinstance(event, bytes) else serialise_event(event)
        carrier = Event(op=Operation.INSERT, envelope_version=1)
        parts.take_raw(carrier, "after", data)
        return _write(carrier, error, node_id, wire)


def _write(record: Event, error: str, node_id: str, wire: Wire) -> bytes:
    kept = parts.metadata_text(view_of(record))
    said: dict[str, bytes | None] = {NACK_ERROR: json_text.quote(error), NACK_NODE_ID: json_text.quote(node_id)}
    record.attributes[parts.METADATA] = json_text.patch(parts.NAME, kept, said)
    return OpenCdcFormat(wire).encode(record)
