"""Events written with another version of the schema, resolved to ours by fastavro under Avro's rules."""

import io
from collections.abc import Mapping
from typing import Any

from abi.event_pb2 import Event, SnapshotMetadata, SourceMetadata, TransactionMetadata
from abi.formats.avro_schema import event_schema
from abi.formats.refusals import shown, undecodable

NAME = "avro"
_LONG, _INT = (1 << 64) - 1, (1 << 32) - 1


class WriterSchemas:
    """The schemas, other than ours, that events may have been written with."""

    def __init__(self, schemas: Mapping[int | bytes, dict[str, Any]]) -> None:
        self._schemas = dict(schemas)

    def __contains__(self, key: int | bytes) -> bool:
        return key in self._schemas

    def read(self, key: int | bytes, data: bytes, position: int) -> Event:
        """Read the datum that starts at `position`.

        Raises:
            DecodeError: the bytes do not fit the writer's schema, or that schema cannot be resolved to ours.
        """
        import fastavro

        stream = io.BytesIO(data)
        stream.seek(position)
        try:
            datum = fastavro.schemaless_reader(stream, self._schemas[key], event_schema())
        except Exception as exc:  # noqa: BLE001 # fastavro raises what the bytes provoke: EOFError, IndexError, ValueError
            kind = type(exc).__name__
            raise undecodable(
                NAME, f"{kind} under the writer's schema: {shown(str(exc))}", offset=stream.tell()
            ) from None
        if stream.tell() != len(data):
            raise undecodable(NAME, f"{len(data) - stream.tell()} bytes follow the event", offset=stream.tell())
        assert isinstance(datum, dict)  # the reader's schema is a record
        return _event(datum)


def _event(datum: dict[str, Any]) -> Event:
    source, snapshot, transaction = datum["source"], datum["snapshot"], datum["transaction"]
    return Event(
        before=datum["before"],
        after=datum["after"],
        op=datum["op"],
        source=SourceMetadata(
            source_name=source["source_name"], offset=source["offset"], timestamp=source["timestamp"] & _LONG
        ),
        ts=datum["ts"] & _LONG,
        schema=datum["schema"],
        table=datum["table"],
        primary_key=datum["primary_key"],
        snapshot=SnapshotMetadata(
            snapshot_id=snapshot["snapshot_id"],
            chunk_index=snapshot["chunk_index"] & _INT,
            is_last_chunk=snapshot["is_last_chunk"],
        )
        if snapshot
        else None,
        transaction=TransactionMetadata(
            tx_id=transaction["tx_id"] & _LONG,
            total_events=transaction["total_events"] & _INT,
            event_index=transaction["event_index"] & _INT,
        )
        if transaction
        else None,
        envelope_version=datum["envelope_version"] & _INT,
        before_is_key_only=datum["before_is_key_only"],
    )
