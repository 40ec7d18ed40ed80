"""Events as columns of a DataFrame, and columns as events: one column for each canonical field.

The conversion itself is `abi.formats.events_to_columns` and `columns_to_events`, on whole Arrow batches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)
from pyspark.sql import types as T  # noqa: N812

from abi.formats import RowFailure as FormatFailure
from abi.formats import columns_to_events, events_to_columns
from abi.formats.columnar_fields import COLUMNS, NAMES, Kind
from spark_udf.documents import Documents, EventFormat
from spark_udf.errors import EventFailedError, SchemaMismatchError
from spark_udf.failure import FAILURE_COLUMN, FAILURE_SPARK, RowFailure, build_failure_column
from spark_udf.schema import quote, require_documents
from spark_udf.step import ON_ERROR, OnError, check_choice

_TYPES: dict[Kind, T.DataType] = {
    Kind.IMAGE: T.StringType(),
    Kind.OPTIONAL_TEXT: T.StringType(),
    Kind.TEXT: T.StringType(),
    Kind.UINT64: T.LongType(),
    Kind.UINT32: T.LongType(),
    Kind.BOOL: T.BooleanType(),
    Kind.OPERATION: T.StringType(),
    Kind.TEXTS: T.ArrayType(T.StringType()),
    Kind.MAP: T.MapType(T.StringType(), T.BinaryType()),
}
_FIELDS = tuple(T.StructField(column.name, _TYPES[column.kind], True) for column in COLUMNS)


def to_columns(
    df: DataFrame,
    column: str = "event",
    *,
    prefix: str = "",
    keep: Sequence[str] | None = None,
    on_error: OnError = "fail",
    format: EventFormat = "protobuf",
) -> DataFrame:
    """Replace a column of events by one column for each canonical field.

    Row images are JSON strings, read them with `from_json` or `get_json_object`. Unsigned 64-bit numbers above 2^63 - 1
    are negative: they are the signed ones of the same bits. A null event is null in all columns. Fields that the
    canonical event does not know are dropped.

    Args:
        df: Static or streaming.
        column: The column of events.
        prefix: Put before every new column's name, if names would collide.
        keep: The other columns to keep; by default all.
        on_error: What becomes of a row whose bytes are no event, or whose row image is not UTF-8: "fail" fails the
            task, "drop" leaves the row out, "dead_letter" adds a column `failure`.
        format: The format of the events, as in `WasmTransform.apply`; formats of text may be in a text column.

    Raises:
        SchemaMismatchError: the column is missing or of another type, or names collide.
        ConfigError: `on_error` is not one of the three.
        UnknownFormatError: there is no such format.
    """
    check_choice("on_error", on_error, ON_ERROR)
    documents = Documents.of(format)
    require_documents(df, column, documents)
    kept = _kept(df, keep, {column})
    fields = [T.StructField(prefix + field.name, field.dataType, True) for field in _FIELDS]
    schema = _output([*kept, *fields], on_error)
    selected = df.select(*(F.col(quote(name)) for name in [*(field.name for field in kept), column]))
    return selected.mapInArrow(_ToColumns(column, tuple(schema.names), on_error, documents), schema)


def from_columns(
    df: DataFrame,
    column: str = "event",
    *,
    prefix: str = "",
    keep: Sequence[str] | None = None,
    on_error: OnError = "fail",
    format: EventFormat = "protobuf",
    as_text: bool = False,
) -> DataFrame:
    """Make a column of events from columns named like the canonical fields, which it replaces.

    Needed is `op` (INSERT, UPDATE, ...); what is not there is absent in the events. `before` and `after` are JSON
    strings, or structs and maps, which Spark writes as JSON. A row that is null in all of the fields is a null event.

    Args:
        df: Static or streaming.
        column: Name of the new column.
        prefix: What stands before the fields' names in `df`.
        keep: The other columns to keep; by default all that are no fields.
        on_error: What becomes of a row that cannot be an event (no operation, a null inside a list): "fail" fails the
            task, "drop" leaves the row out, "dead_letter" adds a column `failure`.
        format: The format to write the events in, a name of `abi.formats` or what `abi.formats.get` returns.
        as_text: Make a column of text instead of bytes, for formats of text.

    Raises:
        SchemaMismatchError: there is no column for `op`, a type does not fit, or names collide.
        ConfigError: `on_error` is not one of the three, or the format is no text.
        UnknownFormatError: there is no such format.
    """
    check_choice("on_error", on_error, ON_ERROR)
    documents = Documents.of(format).as_text() if as_text else Documents.of(format)
    given = [field for field in _FIELDS if prefix + field.name in df.columns]
    if "op" not in [field.name for field in given]:
        raise SchemaMismatchError(
            f"there is no column {prefix + 'op'!r}; the DataFrame has {', '.join(df.columns)}",
            hint=f"name the columns like the canonical fields: {', '.join(NAMES)}",
        )
    kept = _kept(df, keep, {prefix + field.name for field in given})
    made = T.StructField(column, T.StringType() if as_text else T.BinaryType(), True)
    schema = _output([*kept, made], on_error)
    expressions = [_as_field(df, prefix + field.name, field) for field in given]
    selected = df.select(*(F.col(quote(field.name)) for field in kept), *expressions)
    program = _FromColumns(len(kept), tuple(schema.names), on_error, documents, as_text)
    return selected.mapInArrow(program, schema)


@dataclass(frozen=True, slots=True)
class _ToColumns:
    """Runs on executors; holds names only, so it pickles."""

    column: str
    names: tuple[str, ...]
    on_error: OnError
    documents: Documents

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            given = batch.column(self.column)
            events, unread = self.documents.decode_rows(given)
            fields, failures = events_to_columns(events)
            failures = sorted([*unread, *failures])
            others = [
                array for name, array in zip(batch.schema.names, batch.columns, strict=True) if name != self.column
            ]
            yield _finished([*others, *fields.columns], self.names, self.on_error, failures, given)


@dataclass(frozen=True, slots=True)
class _FromColumns:
    """Runs on executors; holds names only, so it pickles."""

    kept_count: int
    names: tuple[str, ...]
    on_error: OnError
    documents: Documents
    as_text: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            fields = dict(zip(batch.schema.names[self.kept_count :], batch.columns[self.kept_count :], strict=True))
            events, failures = columns_to_events(fields)
            written, unwritten = self.documents.encode_rows(events)
            written = written.cast(pa.string()) if self.as_text else written
            failures = sorted([*failures, *unwritten])
            none = pa.nulls(batch.num_rows, pa.binary())
            yield _finished([*batch.columns[: self.kept_count], written], self.names, self.on_error, failures, none)


def _finished(
    arrays: list[pa.Array], names: tuple[str, ...], on_error: OnError, failures: list[FormatFailure], events: pa.Array
) -> pa.RecordBatch:
    """Apply the policy for failed rows and name the columns."""
    length = len(events)
    if failures and on_error == "fail":
        raise EventFailedError(
            f"row {failures[0].row} of a batch of {length}: {failures[0].message}",
            hint='on_error="dead_letter" keeps the good rows and says why the others failed',
        )
    if on_error == "dead_letter":
        records = [RowFailure(f.row, f.code, f.message, None, None, None) for f in failures]
        positions = np.array([failure.row for failure in failures], np.int64)
        arrays = [*arrays, build_failure_column(length, positions, records, events)]
    batch = pa.RecordBatch.from_arrays(arrays, list(names))
    if failures and on_error == "drop":
        good = np.ones(length, bool)
        good[[failure.row for failure in failures]] = False
        batch = batch.filter(pa.array(good))
    return batch


def _as_field(df: DataFrame, name: str, field: T.StructField) -> Column:
    found = df.schema[name].dataType
    column = F.col(quote(name))
    if field.name in ("before", "after") and isinstance(found, T.StructType | T.MapType):
        return F.to_json(column).alias(field.name)
    is_binary_text = isinstance(found, T.BinaryType) and isinstance(field.dataType, T.StringType)
    is_nested = isinstance(found, T.StructType | T.ArrayType | T.MapType)
    wants_nested = isinstance(field.dataType, T.ArrayType | T.MapType)
    if is_nested != wants_nested or (is_binary_text and field.name not in ("before", "after")):
        raise SchemaMismatchError(
            f"column {name!r} has the type {found.simpleString()}; allowed is {field.dataType.simpleString()}",
            hint="cast it first",
        )
    return column.cast(field.dataType).alias(field.name)


def _kept(df: DataFrame, keep: Sequence[str] | None, replaced: set[str]) -> list[T.StructField]:
    missing = [name for name in keep or () if name not in df.columns]
    if missing:
        raise SchemaMismatchError(f"keep= names {', '.join(missing)}; the DataFrame has {', '.join(df.columns)}")
    wanted = df.columns if keep is None else keep
    # Arrow batches come back without the promise that a column has no nulls, and Spark compares the promises.
    return [
        T.StructField(field.name, field.dataType, True, field.metadata)
        for field in df.schema.fields
        if field.name in wanted and field.name not in replaced
    ]


def _output(fields: list[T.StructField], on_error: OnError) -> T.StructType:
    if on_error == "dead_letter":
        fields = [*fields, T.StructField(FAILURE_COLUMN, FAILURE_SPARK, True)]
    names = [field.name.lower() for field in fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SchemaMismatchError(
            f"the result would have several columns named {', '.join(twice)}",
            hint="give prefix=, or keep= fewer columns",
        )
    return T.StructType(fields)
