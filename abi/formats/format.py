"""What every format can do: one event both ways, a batch both ways, and its schema where one exists."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from abi.errors import AbiError
from abi.event_pb2 import Event
from abi.formats.protobuf_bytes import parse_event, serialise_event

if TYPE_CHECKING:
    import pyarrow as pa


class RowFailure(NamedTuple):
    """One row of a batch that could not be converted; the other rows are not touched by it."""

    row: int
    code: str
    message: str


class Format(ABC):
    """One way to write change events. Instances hold no state and may be shared between threads."""

    name: ClassVar[str]

    @property
    def is_text(self) -> bool:
        """Whether documents can be text, so that they may live in a column of text."""
        return True

    @abstractmethod
    def decode(self, data: bytes) -> Event:
        """Read one event.

        Raises:
            DecodeError: with `path` and `offset` of what is wrong, as far as they are known.
        """

    @abstractmethod
    def encode(self, event: Event) -> bytes:
        """Write one event.

        Raises:
            EncodeError: the format has no place for something that must not be dropped.
        """

    def schema(self) -> dict[str, Any] | None:
        """Return the JSON Schema or Avro schema of the documents, or None where the format has neither."""
        return None

    def decode_batch(self, documents: "pa.Array | pa.ChunkedArray") -> tuple["pa.BinaryArray", list[RowFailure]]:
        """Turn an Arrow array of documents into one of canonical protobuf events.

        Null stays null. A row that cannot be read is null in the answer and has a `RowFailure`.
        """
        return self._convert(documents, lambda data: serialise_event(self.decode(data)))

    def encode_batch(self, events: "pa.Array | pa.ChunkedArray") -> tuple["pa.BinaryArray", list[RowFailure]]:
        """Turn an Arrow array of canonical protobuf events into one of documents; nulls and failures as above."""
        return self._convert(events, lambda data: self.encode(parse_event(data)))

    def __repr__(self) -> str:
        return f"<format {self.name}>"

    def _convert(
        self, rows: "pa.Array | pa.ChunkedArray", convert: Callable[[bytes], bytes]
    ) -> tuple["pa.BinaryArray", list[RowFailure]]:
        out: list[bytes | None] = []
        failures: list[RowFailure] = []
        for row, data in enumerate(_as_binary(rows).to_pylist()):
            try:
                out.append(None if data is None else convert(data))
            except AbiError as exc:
                out.append(None)
                failures.append(RowFailure(row, exc.code, str(exc)))
        return _binary_array(out), failures


def _as_binary(values: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    import pyarrow as pa

    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = values.cast(pa.large_binary() if pa.types.is_large_string(values.type) else pa.binary())
    return values


def _binary_array(out: list[bytes | None]) -> "pa.BinaryArray":
    import pyarrow as pa

    # Past 2 GiB 32-bit offsets do not reach; the same rule as the host's.
    small = sum(len(data) for data in out if data is not None) < 2**31 - 1
    return pa.array(out, type=pa.binary() if small else pa.large_binary())
