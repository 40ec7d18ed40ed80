"""Events in other formats than the canonical one: read before the transforms, written after them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 (the name everybody uses)

from abi import formats
from spark_udf.failure import RowFailure
from spark_udf.plan_runner import PlanOutcome

CANONICAL = "protobuf"
_BINARY_FORMATS = (CANONICAL, "avro")


@dataclass(frozen=True, slots=True)
class Documents:
    """Which format events come in, and which they go out in."""

    read: str = CANONICAL
    written: str = CANONICAL

    @classmethod
    def of(cls, read: str, written: str | None) -> "Documents":
        """Check the names of formats.

        Raises:
            UnknownFormatError: there is no such format.
        """
        formats.get(read)
        formats.get(written or read)
        return cls(read, written or read)

    def accepts(self, data_type: T.DataType) -> bool:
        """Say whether a column of this type can hold the documents that are read."""
        return isinstance(data_type, T.BinaryType) or (
            isinstance(data_type, T.StringType) and self.read not in _BINARY_FORMATS
        )

    def output_type(self, given: T.DataType) -> T.DataType:
        """The type of the column that comes out: text stays text where what is written is text."""
        return given if isinstance(given, T.StringType) and self.written not in _BINARY_FORMATS else T.BinaryType()

    def decode(self, documents: pa.Array) -> tuple[pa.Array, dict[int, RowFailure]]:
        """Read a batch.

        Returns:
            Canonical events, and the failure of each row that could not be read, whose event is null.
        """
        if self.read == CANONICAL:
            return documents, {}
        events, failures = formats.get(self.read).decode_batch(documents)
        return events, {failure.row: _refusal(failure.row, failure) for failure in failures}

    def encode(self, outcome: PlanOutcome) -> PlanOutcome:
        """Write the outputs of a plan. A row whose output has no place in the format fails as a whole."""
        if self.written == CANONICAL:
            return outcome
        written, refused = formats.get(self.written).encode_batch(outcome.events)
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
