"""Read documents in chunks. Memory does not grow with the file; it grows with its largest event."""

import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click
import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from fastavro.read import SchemaResolutionError
from fastavro.schema import SchemaParseException

from abi import formats
from wasm_host.cli.misuse import refuse
from wasm_host.cli.streams.framing import Framing

_CHUNK_BYTES = 4 << 20
_PIECE_BYTES = 1 << 20
_CHUNK_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some documents in a row.

    Attributes:
        documents: Arrow binary; null for a tombstone.
        columns: The other columns of a Parquet file, row by row.
    """

    documents: pa.Array
    columns: pa.Table | None = None


class Reader(ABC):
    """A source of chunks; `bytes_read` tells how far it is."""

    bytes_read: int = 0

    def __init__(self, path: str, max_event_bytes: int) -> None:
        self.path = path
        self.max_event_bytes = max_event_bytes
        self.stream = cast(io.BufferedReader, sys.stdin.buffer) if path == "-" else _open(path)

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """All documents, in order."""

    def read_block(self, size_bytes: int) -> bytes:
        """The next bytes, fewer only at the end.

        In pieces, with Python between them: an interruption that arrives between two reads of a pipe would otherwise
        not be seen before the next byte.
        """
        pieces = []
        missing = size_bytes
        while missing > 0:
            piece = self.stream.read1(min(missing, _PIECE_BYTES))
            if not piece:
                break
            pieces.append(piece)
            missing -= len(piece)
        block = b"".join(pieces)
        self.bytes_read += len(block)
        return block

    def close(self) -> None:
        """Close the file; the standard input is left open."""
        if self.path != "-":
            self.stream.close()


def _open(path: str) -> io.BufferedReader:
    if Path(path).is_dir():
        refuse(f"{path} is a directory", "give a file")
    try:
        return Path(path).open("rb")
    except OSError as error:
        refuse(f"cannot read {path}: {error.strerror}", "give a readable file, or - for the standard input")


class DelimitedReader(Reader):
    """Messages behind their lengths."""

    def chunks(self) -> Iterator[Chunk]:
        """All messages."""
        framing = Framing()
        rest = b""
        wanted = _CHUNK_BYTES
        while True:
            block = self.read_block(wanted)
            buffer = rest + block
            start = self.bytes_read - len(buffer)
            try:
                arrays, used, needs = framing.split(buffer)
            except ValueError as error:
                refuse(f"{self.path}: {error} of the chunk at byte {start:,}", "is it a length-delimited stream?")
            for array in arrays:
                yield Chunk(array)
            rest = buffer[used:]
            if needs > self.max_event_bytes:
                refuse(
                    f"{self.path}: a message of {needs:,} bytes at byte {start + used:,}; max_memory_bytes is "
                    f"{self.max_event_bytes:,}",
                    "is it a length-delimited stream? Otherwise raise the limit with --limits",
                )
            if not block:
                if rest:
                    refuse(f"{self.path} ends in the middle of a message, at byte {start + used:,}", "fetch it again")
                return
            wanted = max(_CHUNK_BYTES, needs - len(rest))


class NdjsonReader(Reader):
    """One JSON document a line; empty lines are skipped."""

    def chunks(self) -> Iterator[Chunk]:
        """All lines."""
        rest = b""
        while True:
            block = self.read_block(_CHUNK_BYTES)
            lines = (rest + block).split(b"\n")
            rest = lines.pop() if block else b""
            if len(rest) > self.max_event_bytes:
                refuse(f"{self.path}: a line of more than {self.max_event_bytes:,} bytes", "raise max_memory_bytes")
            lines = [line for line in lines if line.strip()]
            if lines:
                yield Chunk(pa.array(lines, pa.binary()))
            if not block:
                return


class AvroReader(Reader):
    """An Avro object container file; records of another schema are resolved to the event's, as Avro's rules say."""

    def chunks(self) -> Iterator[Chunk]:
        """All records, as plain Avro datums."""
        schema = fastavro.parse_schema(formats.AvroFormat().schema())
        rows: list[bytes] = []
        try:
            for record in fastavro.reader(self.stream, reader_schema=schema):
                out = io.BytesIO()
                fastavro.schemaless_writer(out, schema, record)
                rows.append(out.getvalue())
                if len(rows) == _CHUNK_ROWS:
                    self.bytes_read = self.stream.tell() if self.stream.seekable() else 0
                    yield Chunk(pa.array(rows, pa.binary()))
                    rows = []
        except (ValueError, EOFError, KeyError, SchemaParseException, SchemaResolutionError) as error:
            reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            refuse(f"{self.path} is no Avro file of events: {reason}", "see the schema in docs/formats.md")
        if rows:
            yield Chunk(pa.array(rows, pa.binary()))


class ParquetReader(Reader):
    """A Parquet file with a column of events; the other columns travel along."""

    def __init__(self, path: str, max_event_bytes: int, column: str) -> None:
        if path == "-":
            refuse("Parquet cannot be read from a pipe", "give a file")
        super().__init__(path, max_event_bytes)
        self._column = column
        try:
            self._file = pq.ParquetFile(self.stream)
            self.schema = self._file.schema_arrow
            self._check_column()
        except (pa.ArrowInvalid, OSError) as error:
            self.close()
            refuse(f"{path} is no Parquet file: {str(error).splitlines()[0][:200]}", "give another --container")
        except click.UsageError:
            self.close()
            raise

    def _check_column(self) -> None:
        if self._column not in self.schema.names:
            names = ", ".join(self.schema.names)[:300]
            refuse(f"{self.path} has no column {self._column!r}", f"give --column with one of {names}")
        kind = self.schema.field(self._column).type
        if not _is_bytes(kind):
            refuse(f"column {self._column!r} of {self.path} is {kind}", "events are binary or text")

    def chunks(self) -> Iterator[Chunk]:
        """All rows."""
        for batch in self._file.iter_batches(batch_size=_CHUNK_ROWS):
            table = pa.Table.from_batches([batch])
            documents = table.column(self._column).cast(pa.large_binary()).combine_chunks()
            self.bytes_read = self.stream.tell()
            yield Chunk(documents, table)


def _is_bytes(kind: pa.DataType) -> bool:
    return any(
        check(kind)
        for check in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_string, pa.types.is_large_string)
    )


def open_reader(container: str, path: str, *, max_event_bytes: int, column: str) -> Reader:
    """The reader of a container."""
    if container == "parquet":
        return ParquetReader(path, max_event_bytes, column)
    if container == "avro":
        return AvroReader(path, max_event_bytes)
    return (NdjsonReader if container == "ndjson" else DelimitedReader)(path, max_event_bytes)
