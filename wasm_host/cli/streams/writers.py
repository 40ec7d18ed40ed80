"""Write documents in chunks, each container in its own way."""

import io
from abc import ABC, abstractmethod
from typing import BinaryIO

import fastavro
import fastavro.write
import pyarrow as pa
import pyarrow.parquet as pq

from abi import formats
from wasm_host.cli.streams.framing import Framing


class Writer(ABC):
    """Takes documents; `close` ends the container, not the stream below it."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    @abstractmethod
    def write(self, documents: pa.Array, columns: pa.Table | None) -> None:
        """Append documents; `columns` has a row for each of them, or is None."""

    def close(self) -> None:
        """Write what ends the container; here, nothing."""
        return


class DelimitedWriter(Writer):
    """Messages behind their lengths. Tombstones have no place there and are left out."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._framing = Framing()

    def write(self, documents: pa.Array, columns: pa.Table | None) -> None:  # noqa: ARG002 - nowhere to put them
        """Append messages."""
        self.stream.write(self._framing.join(documents.drop_null() if documents.null_count else documents))


class NdjsonWriter(Writer):
    """One JSON document a line; a tombstone is `null`."""

    def write(self, documents: pa.Array, columns: pa.Table | None) -> None:  # noqa: ARG002 - nowhere to put them
        """Append lines."""
        lines = [_one_line(document) for document in documents.to_pylist()]
        if lines:
            self.stream.write(b"\n".join(lines) + b"\n")


def _one_line(document: bytes | None) -> bytes:
    if document is None:
        return b"null"
    # A raw line break can only stand between tokens: inside a JSON string it has to be escaped.
    return document.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in document or b"\r" in document else document


class AvroWriter(Writer):
    """An Avro object container file."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._schema = fastavro.parse_schema(formats.AvroFormat().schema())
        self._writer = fastavro.write.Writer(stream, self._schema, codec="deflate")

    def write(self, documents: pa.Array, columns: pa.Table | None) -> None:  # noqa: ARG002 - nowhere to put them
        """Append records."""
        for document in documents.drop_null().to_pylist():
            self._writer.write(fastavro.schemaless_reader(io.BytesIO(document), self._schema, None))

    def close(self) -> None:
        """Write the last block."""
        self._writer.flush()


class ParquetWriter(Writer):
    """A Parquet file: the events in a column, beside the columns that came with them."""

    def __init__(self, stream: BinaryIO, column: str, columns: pa.Schema | None) -> None:
        super().__init__(stream)
        self._column = column
        fields = list(columns) if columns is not None else [pa.field(column, pa.binary())]
        self._schema = pa.schema([field.with_type(pa.binary()) if field.name == column else field for field in fields])
        self._writer = pq.ParquetWriter(stream, self._schema)

    def write(self, documents: pa.Array, columns: pa.Table | None) -> None:
        """Append rows."""
        events = documents.cast(pa.binary())
        if columns is None:
            table = pa.table({self._column: events}, schema=self._schema)
        else:
            at = columns.schema.get_field_index(self._column)
            table = columns.set_column(at, self._schema.field(at), events).cast(self._schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()


def open_writer(container: str, stream: BinaryIO, *, column: str, columns: pa.Schema | None) -> Writer:
    """The writer of a container."""
    if container == "parquet":
        return ParquetWriter(stream, column, columns)
    if container == "avro":
        return AvroWriter(stream)
    return (NdjsonWriter if container == "ndjson" else DelimitedWriter)(stream)
