"""Events in other formats than the canonical one: read before the transforms, written after them."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 (the name everybody uses)

from abi import formats
from spark_udf.errors import SchemaMismatchError
from spark_udf.failure import RowFailure
from spark_udf.plan_runner import PlanOutcome
from wasm_host.errors import ConfigError

CANONICAL = "protobuf"
_PROTOBUF = formats.get(CANONICAL)

EventFormat = str | formats.Format
"""A format by name, or with options: `abi.formats.get("avro", framing="confluent", schema_id=7)`."""


def find_format(chosen: EventFormat) -> formats.Format:
    """The format that was named, or given.

    Raises:
        UnknownFormatError: there is no such format.
        ConfigError: it is neither a name nor a format.
    """
    if isinstance(chosen, formats.Format):
        return chosen
    if not isinstance(chosen, str):
        raise ConfigError(
            f"format is a {type(chosen).__name__}; allowed is a name or what abi.formats.get returns",
            hint=f"names are {', '.join(formats.FORMATS)}",
        )
    return formats.get(chosen)


@dataclass(frozen=True, slots=True)
class Documents:
    """Which format events come in, and which they go out in.

    Attributes:
        read: The format of what comes in.
        written: The format of what goes out.
    """

    read: formats.Format = _PROTOBUF
    written: formats.Format = _PROTOBUF

    @classmethod
    def of(cls, read: EventFormat, written: EventFormat | None = None) -> "Documents":
        """Check the formats that were asked for.

        Raises:
            UnknownFormatError: there is no such format.
        """
        source = find_format(read)
        return cls(source, source if written is None else find_format(written))

    def accepts(self, data_type: T.DataType) -> bool:
        """Say whether a column of this type can hold the documents that are read."""
        return isinstance(data_type, T.BinaryType) or (isinstance(data_type, T.StringType) and self.read.is_text)

    def check_arrow(self, data_type: pa.DataType) -> None:
        """The same for a column that is seen on an executor only.

        Raises:
            SchemaMismatchError: it cannot.
        """
        is_text = pa.types.is_string(data_type) or pa.types.is_large_string(data_type)
        is_binary = pa.types.is_binary(data_type) or pa.types.is_large_binary(data_type)
        if not is_binary and not (is_text and self.read.is_text):
            raise SchemaMismatchError(f"the event has the type {data_type}; {self.allowed}", hint=self.hint)

    @property
    def allowed(self) -> str:
        """The types of columns that can be read, for messages."""
        return "allowed are binary and string" if self.read.is_text else "allowed is binary"

    @property
    def hint(self) -> str:
        """What to do about a column of another type."""
        return f"format is {self.read.name!r}; binary formats need a binary column, the others may be text too"

    def output_type(self, given: T.DataType) -> T.DataType:
        """The type of the column that comes out: text stays text where what is written is text."""
        return given if isinstance(given, T.StringType) and self.written.is_text else T.BinaryType()

    def as_text(self) -> "Documents":
        """The same for a column of text: a record that may be text or binary is then written as text.

        Raises:
            ConfigError: the format is binary.
        """
        if not self.written.is_text:
            raise ConfigError(
                f"events of the format {self.written.name!r} are no text", hint="leave as_text out, or choose another"
            )
        # The form that a record came in is an attribute, which guests may write: it does not decide here.
        written = formats.get("opencdc", wire="json") if self.written.name == "opencdc" else self.written
        return replace(self, written=written)

    def decode_rows(self, documents: pa.Array) -> tuple[pa.Array, list[formats.RowFailure]]:
        """Read a batch: canonical events, null where a row could not be read, and why."""
        return (documents, []) if self.read.name == CANONICAL else self.read.decode_batch(documents)

    def encode_rows(self, events: pa.Array) -> tuple[pa.Array, list[formats.RowFailure]]:
        """Write a batch of canonical events: documents, null where an event has no place in the format, and why."""
        return (events, []) if self.written.name == CANONICAL else self.written.encode_batch(events)

    def decode(self, documents: pa.Array) -> tuple[pa.Array, dict[int, RowFailure]]:
        """Read a batch.

        Returns:
            Canonical events, and the failure of each row that could not be read, whose event is null.
        """
        events, failures = self.decode_rows(documents)
        return events, {failure.row: _refusal(failure.row, failure) for failure in failures}

    def encode(self, outcome: PlanOutcome) -> PlanOutcome:
        """Write the outputs of a plan. A row whose output has no place in the format fails as a whole."""
        if self.written.name == CANONICAL:
            return outcome
        written, refused = self.encode_rows(outcome.events)
        if not refused:
            return PlanOutcome(written, outcome.rows, outcome.failures)
        first: dict[int, RowFailure] = {}
        for failure in refused:
            row = int(outcome.rows[failure.row])
            first.setdefault(row, _refusal(row, failure))
        kept = np.flatnonzero(~np.isin(outcome.rows, np.fromiter(first, np.int64, len(first))))
        failures = sorted([*outcome.failures, *first.values()], key=lambda failure: failure.row)
        return PlanOutcome(written.take(pa.array(kept)), outcome.rows[kept], failures)


def _refusal(row: int, failure: formats.RowFailure) -> RowFailure:
    return RowFailure(row, failure.code, failure.message, None, None, None)
