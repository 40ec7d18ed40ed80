from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Operation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATION_UNSPECIFIED: _ClassVar[Operation]
    INSERT: _ClassVar[Operation]
    UPDATE: _ClassVar[Operation]
    DELETE: _ClassVar[Operation]
    READ: _ClassVar[Operation]
    SCHEMA_CHANGE: _ClassVar[Operation]
    TRUNCATE: _ClassVar[Operation]
OPERATION_UNSPECIFIED: Operation
INSERT: Operation
UPDATE: Operation
DELETE: Operation
READ: Operation
SCHEMA_CHANGE: Operation
TRUNCATE: Operation

class SourceMetadata(_message.Message):
    __slots__ = ("source_name", "offset", "timestamp")
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    source_name: str
    offset: str
    timestamp: int
    def __init__(self, source_name: _Optional[str] = ..., offset: _Optional[str] = ..., timestamp: _Optional[int] = ...) -> None: ...

class SnapshotMetadata(_message.Message):
    __slots__ = ("snapshot_id", "chunk_index", "is_last_chunk")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_INDEX_FIELD_NUMBER: _ClassVar[int]
    IS_LAST_CHUNK_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    chunk_index: int
    is_last_chunk: bool
    def __init__(self, snapshot_id: _Optional[str] = ..., chunk_index: _Optional[int] = ..., is_last_chunk: _Optional[bool] = ...) -> None: ...

class TransactionMetadata(_message.Message):
    __slots__ = ("tx_id", "total_events", "event_index")
    TX_ID_FIELD_NUMBER: _ClassVar[int]
    TOTAL_EVENTS_FIELD_NUMBER: _ClassVar[int]
    EVENT_INDEX_FIELD_NUMBER: _ClassVar[int]
    tx_id: int
    total_events: int
    event_index: int
    def __init__(self, tx_id: _Optional[int] = ..., total_events: _Optional[int] = ..., event_index: _Optional[int] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("before", "after", "op", "source", "ts", "schema", "table", "primary_key", "snapshot", "transaction", "envelope_version", "before_is_key_only", "unavailable_columns", "before_unavailable_columns", "attributes")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    PRIMARY_KEY_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_VERSION_FIELD_NUMBER: _ClassVar[int]
    BEFORE_IS_KEY_ONLY_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_COLUMNS_FIELD_NUMBER: _ClassVar[int]
    BEFORE_UNAVAILABLE_COLUMNS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    before: bytes
    after: bytes
    op: Operation
    source: SourceMetadata
    ts: int
    schema: str
    table: str
    primary_key: _containers.RepeatedScalarFieldContainer[str]
    snapshot: SnapshotMetadata
    transaction: TransactionMetadata
    envelope_version: int
    before_is_key_only: bool
    unavailable_columns: _containers.RepeatedScalarFieldContainer[str]
    before_unavailable_columns: _containers.RepeatedScalarFieldContainer[str]
    attributes: _containers.ScalarMap[str, bytes]
    def __init__(self, before: _Optional[bytes] = ..., after: _Optional[bytes] = ..., op: _Optional[_Union[Operation, str]] = ..., source: _Optional[_Union[SourceMetadata, _Mapping]] = ..., ts: _Optional[int] = ..., schema: _Optional[str] = ..., table: _Optional[str] = ..., primary_key: _Optional[_Iterable[str]] = ..., snapshot: _Optional[_Union[SnapshotMetadata, _Mapping]] = ..., transaction: _Optional[_Union[TransactionMetadata, _Mapping]] = ..., envelope_version: _Optional[int] = ..., before_is_key_only: _Optional[bool] = ..., unavailable_columns: _Optional[_Iterable[str]] = ..., before_unavailable_columns: _Optional[_Iterable[str]] = ..., attributes: _Optional[_Mapping[str, bytes]] = ...) -> None: ...
