"""The record of a failed event, in Arrow, in Spark, and as two DataFrames."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 (the name everybody uses)

from spark_udf.errors import SchemaMismatchError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAILURE_COLUMN = "failure"
OUTCOME_COLUMN = "outcome"

FAILURE_ARROW = pa.struct(
    [
        pa.field("code", pa.string()),
        pa.field("message", pa.string()),
        pa.field("module", pa.string()),
        pa.field("tenant", pa.string()),
        pa.field("fuel", pa.int64()),
        pa.field("event", pa.binary()),
    ]
)
FAILURE_SPARK = T.StructType(
    [
        T.StructField("code", T.StringType()),
        T.StructField("message", T.StringType()),
        T.StructField("module", T.StringType()),
        T.StructField("tenant", T.StringType()),
        T.StructField("fuel", T.LongType()),
        T.StructField("event", T.BinaryType()),
    ]
)


@dataclass(frozen=True, slots=True)
class RowFailure:
    """Why one row has no output. `row` is its position in the batch that Spark handed over."""

    row: int
    code: str
    message: str
    module: str | None
    tenant: str | None
    fuel: int | None


def build_failure_column(length: int, positions: np.ndarray, failures: list[RowFailure], events: pa.Array) -> pa.Array:
    """Make the failure column of an output batch.

    Args:
        length: Rows of the output batch.
        positions: Where in it each failure stands.
        failures: The failures, in the same order.
        events: The batch's original events.
    """
    if not failures:
        return pa.nulls(length, FAILURE_ARROW)
    originals = events.take(pa.array([failure.row for failure in failures], pa.int64())).cast(pa.binary())
    columns = [
        pa.array([failure.code for failure in failures], pa.string()),
        pa.array([failure.message for failure in failures], pa.string()),
        pa.array([failure.module for failure in failures], pa.string()),
        pa.array([failure.tenant for failure in failures], pa.string()),
        pa.array([failure.fuel for failure in failures], pa.int64()),
        originals,
    ]
    records = pa.StructArray.from_arrays(columns, fields=list(FAILURE_ARROW))
    # A gather with null indices spreads the few records over the batch and leaves null elsewhere.
    indices = np.zeros(length, np.int64)
    indices[positions] = np.arange(len(failures))
    absent = np.ones(length, bool)
    absent[positions] = False
    return records.take(pa.array(indices, mask=absent))


def split_failures(df: "DataFrame") -> "tuple[DataFrame, DataFrame]":
    """Split the result of a transform with `on_error="dead_letter"` into good rows and dead letters.

    Both DataFrames come from the same plan: an action on each runs the transform twice, unless `df` is persisted first
    or written once with `label_failures`.

    Returns:
        The good rows, without the failure column, and the failed rows, whose event column is null.

    Raises:
        SchemaMismatchError: there is no failure column.
    """
    require_failures(df)
    good = df.where(df[FAILURE_COLUMN].isNull()).drop(FAILURE_COLUMN)
    return good, df.where(df[FAILURE_COLUMN].isNotNull())


def label_failures(df: "DataFrame", *, column: str = OUTCOME_COLUMN) -> "DataFrame":
    """Add a column that says "good" or "dead", to be given to `partitionBy`: one pass, one sink, both kinds.

    Raises:
        SchemaMismatchError: there is no failure column, or `column` exists.
    """
    from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)

    require_failures(df)
    if column in df.columns:
        raise SchemaMismatchError(f"the DataFrame has a column {column!r} already", hint="give column= another name")
    return df.withColumn(column, F.when(df[FAILURE_COLUMN].isNull(), "good").otherwise("dead"))


def require_failures(df: "DataFrame") -> None:
    """Refuse a DataFrame without a failure column.

    Raises:
        SchemaMismatchError: there is none.
    """
    if FAILURE_COLUMN not in df.columns:
        raise SchemaMismatchError(
            f"the DataFrame has no column {FAILURE_COLUMN!r}; its columns are {', '.join(df.columns)}",
            hint='apply the transform with on_error="dead_letter" (for tenants: at least one tenant, or unknown=)',
        )
