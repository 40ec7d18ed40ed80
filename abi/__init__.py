"""The contract between host and guest: the event, its formats, the symbols, the packed answer.

Knows neither wasmtime nor Spark. The normative text is `SPEC.md` in this folder.

    >>> from abi import Event, Operation
    >>> event = Event(op=Operation.INSERT, table="users", after=b'{"id": 1}')
    >>> Event.FromString(event.SerializeToString()).table
    'users'
"""

from abi.errors import AbiError, ConfigRefused, DecodeError, EncodeError, EventFailure, TransformError
from abi.event_pb2 import Event, Operation, SnapshotMetadata, SourceMetadata, TransactionMetadata
from abi.names import ABI_VERSION
from abi.packing import ResultKind, pack_result, unpack_result

__all__ = [
    "ABI_VERSION",
    "AbiError",
    "ConfigRefused",
    "DecodeError",
    "EncodeError",
    "Event",
    "EventFailure",
    "Operation",
    "ResultKind",
    "SnapshotMetadata",
    "SourceMetadata",
    "TransactionMetadata",
    "TransformError",
    "pack_result",
    "unpack_result",
]
