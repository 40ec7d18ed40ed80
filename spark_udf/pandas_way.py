"""The way through mapInPandas, made lossless.

By itself mapInPandas turns nullable whole numbers into floats, loses the difference between null and NaN, and cannot
hold every date. So each column crosses in a form that pandas keeps: numbers as a column that is never null beside one
that says which are; text as bytes; dates and times as numbers; every other type is carried past pandas.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)
from pyspark.sql import types as T  # noqa: N812

from spark_udf.carried import BLOB_COLUMN, INDEX_COLUMN, BlobTrack, PackCarried, UnpackCarried
from spark_udf.failure import FAILURE_COLUMN, FAILURE_SPARK
from spark_udf.ledger import LEDGER_COLUMN
from spark_udf.program import Program

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS: dict[type[T.DataType], Any] = {
    T.BooleanType: pa.bool_(),
    T.ByteType: pa.int8(),
    T.ShortType: pa.int16(),
    T.IntegerType: pa.int32(),
    T.LongType: pa.int64(),
    T.FloatType: pa.float32(),
    T.DoubleType: pa.float64(),
    T.DateType: pa.int32(),
    T.TimestampType: pa.int64(),
}
_FAILED_COLUMN = "failed"


@dataclass(frozen=True, slots=True)
class Lane:
    """How one column crosses: as "number", "bytes" or "carried"; `position` names its columns on the way."""

    name: str
    kind: str
    position: int
    data_type: T.DataType

    def encode(self) -> list[Column]:
        """The columns that go to Python."""
        column = F.col(_quote(self.name))
        value, absent = f"value{self.position}", f"null{self.position}"
        if self.kind == "bytes":
            return [column.cast("binary").alias(value)]
        if self.kind == "carried":
            return [column.alias(value)]
        if isinstance(self.data_type, T.TimestampType):
            column = F.unix_micros(column)
        elif isinstance(self.data_type, T.DateType):
            column = F.unix_date(column)
        zero = F.lit(False) if isinstance(self.data_type, T.BooleanType) else F.lit(0).cast(self._number_type())
        return [F.coalesce(column, zero).alias(value), F.col(_quote(self.name)).isNull().alias(absent)]

    def _number_type(self) -> T.DataType:
        if isinstance(self.data_type, T.TimestampType):
            return T.LongType()
        return T.IntegerType() if isinstance(self.data_type, T.DateType) else self.data_type

    def read(self, frame: "pd.DataFrame") -> pa.Array:
        """The column, as Arrow, in the worker; dates and times stay numbers."""
        values = frame[f"value{self.position}"]
        if self.kind == "bytes":
            column = pa.array(values, pa.binary(), from_pandas=True)
            # Spark's text may hold bytes that are not UTF-8; a view does not look at them.
            return column.view(pa.string()) if isinstance(self.data_type, T.StringType) else column
        absent = frame[f"null{self.position}"].to_numpy()
        return pa.array(values.to_numpy(), _NUMBERS[type(self.data_type)], mask=absent, from_pandas=False)

    def returned(self) -> T.StructField:
        """The field of what Python gives back."""
        data_type = self.data_type if self.kind == "bytes" else self._number_type()
        return T.StructField(self.name, data_type)

    def decode(self) -> Column:
        """Back to the type that it had."""
        column = F.col(_quote(self.name))
        if isinstance(self.data_type, T.TimestampType):
            return F.timestamp_micros(column)
        return F.date_from_unix_date(column) if isinstance(self.data_type, T.DateType) else column


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _lane(position: int, field: T.StructField) -> Lane:
    kind = "carried"
    if type(field.dataType) in _NUMBERS:
        kind = "number"
    elif type(field.dataType) in (T.StringType, T.BinaryType) and field.dataType in (T.StringType(), T.BinaryType()):
        kind = "bytes"
    return Lane(field.name, kind, position, field.dataType)


def map_in_pandas(selected: DataFrame, program: Program, output: T.StructType) -> DataFrame:
    """Map a DataFrame through mapInPandas.

    Args:
        selected: The columns that the program takes, and no others.
        program: What mapInArrow would be given.
        output: The schema that comes back.
    """
    lanes = [_lane(position, field) for position, field in enumerate(selected.schema.fields)]
    direct = [lane for lane in lanes if lane.kind != "carried"]
    carried = [lane for lane in lanes if lane.kind == "carried"]
    encoded = selected.select(*[column for lane in (*direct, *carried) for column in lane.encode()])
    if carried:
        fields = encoded.schema.fields[: -len(carried)]
        packed = T.StructType([*fields, T.StructField(BLOB_COLUMN, T.BinaryType())])
        encoded = encoded.mapInArrow(PackCarried(len(carried)), packed)
    kept = [lane for lane in direct if lane.name in output.names]
    names = [lane.name for lane in kept]
    extra = [name for name in (FAILURE_COLUMN, LEDGER_COLUMN) if name in output.names and name not in names]
    inner = replace(program, output_names=(*names, *((INDEX_COLUMN,) if carried else ()), *extra))
    returned = [
        T.StructField(lane.name, output[lane.name].dataType) if lane.name == program.event_column else lane.returned()
        for lane in kept
    ]
    if FAILURE_COLUMN in extra:
        returned += [T.StructField(f"failure_{field.name}", field.dataType) for field in FAILURE_SPARK.fields]
        returned.append(T.StructField(_FAILED_COLUMN, T.BooleanType()))
    if LEDGER_COLUMN in extra:
        returned.append(T.StructField(LEDGER_COLUMN, T.StringType()))
    if carried:
        blob = [T.StructField(BLOB_COLUMN, T.BinaryType()), T.StructField(INDEX_COLUMN, T.LongType())]
        unpacked = [T.StructField(lane.name, lane.data_type) for lane in carried]
        mapped = encoded.mapInPandas(PandasProgram(inner, tuple(direct), True), T.StructType([*returned, *blob]))
        mapped = mapped.mapInArrow(
            UnpackCarried(tuple(lane.name for lane in carried)), T.StructType([*returned, *unpacked])
        )
    else:
        mapped = encoded.mapInPandas(PandasProgram(inner, tuple(direct), False), T.StructType(returned))
    return mapped.select(*_decoded(lanes, output, extra))


def _decoded(lanes: list[Lane], output: T.StructType, extra: list[str]) -> list[Column]:
    by_name = {lane.name: lane for lane in lanes}
    columns = []
    for field in output.fields:
        if field.name == FAILURE_COLUMN and FAILURE_COLUMN in extra:
            struct = F.struct(*[F.col(f"failure_{inner.name}").alias(inner.name) for inner in FAILURE_SPARK.fields])
            columns.append(F.when(F.col(_FAILED_COLUMN), struct).alias(FAILURE_COLUMN))
        elif field.name == LEDGER_COLUMN:
            columns.append(F.col(LEDGER_COLUMN))
        elif field.metadata:
            columns.append(by_name[field.name].decode().alias(field.name, metadata=field.metadata))
        else:
            columns.append(by_name[field.name].decode().alias(field.name))
    return columns


@dataclass(frozen=True, slots=True)
class PandasProgram:
    """For mapInPandas: the program with pandas on both sides."""

    program: Program
    lanes: tuple[Lane, ...]
    has_carried: bool

    def __call__(self, frames: "Iterator[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        """Transform the frames of one partition."""
        track = BlobTrack()
        for batch in self.program(self._batches(frames, track)):
            yield self._frame(batch, track)

    def _batches(self, frames: "Iterator[pd.DataFrame]", track: BlobTrack) -> Iterator[pa.RecordBatch]:
        for frame in frames:
            if not len(frame):
                continue
            columns = [lane.read(frame) for lane in self.lanes]
            names = [lane.name for lane in self.lanes]
            if self.has_carried:
                blobs = frame[BLOB_COLUMN].astype(object).where(frame[BLOB_COLUMN].notna(), None)
                columns.append(track.number_rows(blobs.tolist()))
                names.append(INDEX_COLUMN)
            yield pa.RecordBatch.from_arrays(columns, names=names)

    def _frame(self, batch: pa.RecordBatch, track: BlobTrack) -> "pd.DataFrame":
        columns: dict[str, pa.Array] = {}
        located: dict[str, pa.Array] = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name == INDEX_COLUMN and self.has_carried:
                blobs, rows = track.locate(column.to_numpy())
                located = {BLOB_COLUMN: blobs, INDEX_COLUMN: rows}
            elif name == FAILURE_COLUMN and self.program.with_failures:
                for position, field in enumerate(FAILURE_SPARK.fields):
                    columns[f"failure_{field.name}"] = column.field(position)
                columns[_FAILED_COLUMN] = column.is_valid()
            else:
                columns[name] = column
        # Columns of Arrow type keep nulls and every bit; Spark takes them as they are.
        # Imported here: it takes longer than everything else, and the Arrow way never needs it.
        import pandas as pd

        return pd.DataFrame(
            {name: pd.Series(pd.arrays.ArrowExtensionArray(column)) for name, column in {**columns, **located}.items()}
        )
