"""From reader through guest to writer, a chunk at a time, with every event accounted for."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from abi import formats
from abi.formats import Format, RowFailure
from wasm_host.cli.errors import StoppedByFailure
from wasm_host.cli.streams.dead_letters import DeadLetters
from wasm_host.cli.streams.readers import Chunk, Reader
from wasm_host.cli.streams.writers import Writer
from wasm_host.guest import Guest


@dataclass(slots=True)
class Counts:
    """What went where."""

    events_in: int = 0
    events_out: int = 0
    dropped: int = 0
    failed: int = 0
    fuel: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Pump:
    """One run.

    Attributes:
        input_format: None for canonical protobuf, which needs no conversion.
        output_format: None likewise.
        dead_letters: None stops the run at the first failure, with no output: an event is never lost silently.
    """

    guest: Guest
    input_format: Format | None
    output_format: Format | None
    dead_letters: DeadLetters | None

    def run(self, reader: Reader, writer: Writer, on_progress: Callable[[int], None]) -> Counts:
        """Move everything.

        Raises:
            StoppedByFailure: see `dead_letters`.
            TransformError: the guest failed as a whole.
        """
        counts = Counts()
        started = time.perf_counter()
        for chunk in reader.chunks():
            self._move(chunk, writer, counts)
            on_progress(reader.bytes_read)
        counts.seconds = time.perf_counter() - started
        return counts

    def _move(self, chunk: Chunk, writer: Writer, counts: Counts) -> None:
        documents = chunk.documents
        first_row = counts.events_in
        counts.events_in += len(documents)
        events, rows = self._decode(documents, first_row, counts)
        result = self.guest.transform(events)
        for failure in result.failures:
            row = failure.row if rows is None else rows[failure.row].as_py()
            self._fail(
                first_row + row,
                failure.code,
                failure.message,
                documents[row].as_py(),
                events[failure.row].as_py(),
                counts,
            )
        out_rows = result.rows if rows is None else pc.take(rows, result.rows)
        outputs, out_rows = self._encode(result.events, out_rows, documents, first_row, counts)
        columns = None if chunk.columns is None else chunk.columns.take(out_rows)
        writer.write(outputs, columns)
        counts.events_out += len(outputs)
        counts.dropped += result.stats.events_dropped
        counts.fuel += result.stats.fuel
        counts.bytes_in += result.stats.bytes_in
        counts.bytes_out += outputs.nbytes if len(outputs) else 0

    def _decode(self, documents: pa.Array, first_row: int, counts: Counts) -> tuple[pa.Array, pa.Array | None]:
        """Canonical events, and the row of each where some could not be read."""
        if self.input_format is None:
            return documents, None
        events, failures = self.input_format.decode_batch(documents)
        if not failures:
            return events, None
        for failure in failures:
            row = failure.row
            self._fail(first_row + row, failure.code, failure.message, documents[row].as_py(), None, counts)
        rows = _all_but(len(documents), failures)
        return events.take(rows), rows

    def _encode(
        self, events: pa.Array, rows: pa.Array, documents: pa.Array, first_row: int, counts: Counts
    ) -> tuple[pa.Array, pa.Array]:
        if self.output_format is None:
            return events, rows
        outputs, failures = self.output_format.encode_batch(events)
        if not failures:
            return outputs, rows
        for failure in failures:
            row = rows[failure.row].as_py()
            event = events[failure.row].as_py()
            self._fail(first_row + row, failure.code, failure.message, documents[row].as_py(), event, counts)
        kept = _all_but(len(outputs), failures)
        return outputs.take(kept), rows.take(kept)

    def _fail(self, row: int, code: str, message: str, document: bytes, event: bytes | None, counts: Counts) -> None:
        counts.failed += 1
        if self.dead_letters is None:
            raise StoppedByFailure(
                f"event {row:,} failed: [{code}] {message}; nothing was written",
                hint="--dead-letters FILE keeps failed events and goes on",
                row=row,
                failure_code=str(code),
            )
        self.dead_letters.add(row, code, message, document=document, event=event)


def _all_but(count: int, failures: Sequence[RowFailure]) -> pa.Array:
    failed = {failure.row for failure in failures}
    return pa.array([row for row in range(count) if row not in failed], pa.int32())


def conversion(name: str) -> Format | None:
    """The format of a name; None for the canonical one, whose bytes go to the guest as they are."""
    return None if name == "protobuf" else formats.get(name)
