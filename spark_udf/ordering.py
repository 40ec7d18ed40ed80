"""Delivery to DataFrames: the same change once (`deduplicate`), and changes in their order (`in_order`).

What Spark guarantees, and what it does not, stands in each docstring; `docs/formats.md` has it on one page.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)
from pyspark.sql import types as T  # noqa: N812

from spark_udf import positions
from spark_udf.documents import Documents, EventFormat
from spark_udf.errors import SchemaMismatchError
from spark_udf.schema import quote, require_documents
from spark_udf.step import check_choice
from wasm_host.errors import ConfigError

By = Literal["auto", "event_id", "position"]
Within = Literal["entity", "table", "source"]
BY: tuple[str, ...] = ("auto", "event_id", "position")
WITHIN: tuple[str, ...] = ("entity", "table", "source")

_MARK = "__event_mark"
_KEY, _TIME = "__event_key", "__event_time"

_IDENTITY = T.StructType([T.StructField("key", T.StringType()), T.StructField("ts", T.TimestampType())])
_PLACE = T.StructType(
    [
        T.StructField("group", T.StringType()),
        T.StructField("source", T.StringType()),
        T.StructField("position", T.StringType()),
        T.StructField("event_index", T.LongType()),
    ]
)


def deduplicate(
    df: DataFrame,
    column: str = "event",
    *,
    by: By = "auto",
    watermark: str | None = None,
    format: EventFormat = "protobuf",
) -> DataFrame:
    """Keep one row of each change.

    A change is known by its id (the attribute `cdc.event_id`), or by its position: source, offset and transaction with
    index; and by the change itself (table, operation, row images), because a snapshot or a multi-row statement may give
    one offset to several rows. Rows without an identity (null events, bytes that are no event, events without an
    offset) are all kept: nothing is dropped on a guess.

    What holds: of rows with the same identity exactly one stays, in a static DataFrame everywhere, in a stream as long
    as they arrive within the watermark of each other. What does not: which one of them stays is Spark's choice; a
    duplicate that comes later than the watermark passes; a shuffle is needed, so the order of rows is lost.

    Args:
        df: Static or streaming.
        column: The column of events.
        by: "event_id", "position", or "auto": the id where there is one, else the position.
        watermark: For streams, how long an identity is remembered, by the events' `ts`: "10 minutes". Needed there,
            because without it the state grows for ever; not used for static DataFrames.
        format: The format of the events, as in `WasmTransform.apply`; formats of text may be in a text column.

    Raises:
        ConfigError: `by` is unknown, or a stream has no watermark.
        SchemaMismatchError: the column is missing or of another type.
        UnknownFormatError: there is no such format.
    """
    check_choice("by", by, BY)
    documents = Documents.of(format)
    _check_columns(df, column, documents)
    if df.isStreaming and watermark is None:
        raise ConfigError(
            "deduplicate on a stream needs watermark=; without one its state grows for ever",
            hint='give the longest delay of a duplicate, for example watermark="10 minutes"',
        )
    marked = df.withColumn(_MARK, _identities(by, documents)(F.col(quote(column))))
    # What has no identity gets one of its own, so that it is nobody's duplicate.
    key = F.coalesce(F.col(f"{_MARK}.key"), F.concat(F.lit("none:"), F.expr("uuid()")))
    marked = marked.withColumn(_KEY, key).withColumn(_TIME, F.col(f"{_MARK}.ts"))
    if not df.isStreaming:
        return marked.dropDuplicates([_KEY]).drop(_MARK, _KEY, _TIME)
    # A null time would never leave the state.
    marked = marked.withColumn(_TIME, F.coalesce(F.col(_TIME), F.current_timestamp()))
    assert watermark is not None
    unique = marked.withWatermark(_TIME, watermark).dropDuplicatesWithinWatermark([_KEY])
    return unique.drop(_MARK, _KEY, _TIME)


def in_order(
    df: DataFrame,
    column: str = "event",
    *,
    within: Within | Sequence[str] = "entity",
    partitions: int | None = None,
    format: EventFormat = "protobuf",
) -> DataFrame:
    """Bring events into the order of their positions, within a key.

    All events of a key come to one partition, sorted by source, position (the sequence number of CDC 1.0, or the
    offset, in the notation of its source) and index in the transaction.

    What holds: within one partition of the result, events of a key stand in their order, and `foreachPartition`,
    `mapInArrow` and writers that write a partition as one file or to one topic partition see them so. What does not: an
    order between keys; between sources, whose positions cannot be compared; after another shuffle (join, groupBy,
    repartition) or in `collect()` across partitions; and on streams, where an order needs a batch: call it inside
    `foreachBatch`, and remember that it then holds inside each micro-batch only.

    Args:
        df: Static, or the DataFrame that `foreachBatch` hands over.
        column: The column of events.
        within: "entity" (source, table and entity id or primary key), "table", "source", or names of columns.
        partitions: How many partitions to make; by default `spark.sql.shuffle.partitions`.
        format: The format of the events, as in `WasmTransform.apply`; formats of text may be in a text column.

    Raises:
        ConfigError: `within` is unknown, or `df` is a stream.
        SchemaMismatchError: a column is missing, or the event column is of another type.
        UnknownFormatError: there is no such format.
    """
    documents = Documents.of(format)
    _check_columns(df, column, documents)
    if df.isStreaming:
        raise ConfigError(
            "in_order cannot sort a stream: its end is not known",
            hint="call it inside foreachBatch; the order then holds within each micro-batch",
        )
    names = () if isinstance(within, str) else tuple(within)
    if isinstance(within, str):
        check_choice("within", within, WITHIN)
    missing = [name for name in names if name not in df.columns]
    if missing or not within:
        raise SchemaMismatchError(
            f"within= names {', '.join(missing) or 'nothing'}; the DataFrame has {', '.join(df.columns)}"
        )
    place_of = _places(within if isinstance(within, str) else "source", documents)
    marked = df.withColumn(_MARK, place_of(F.col(quote(column))))
    keys = [F.col(quote(name)) for name in names] or [F.col(f"{_MARK}.group")]
    spread = marked.repartition(*keys) if partitions is None else marked.repartition(partitions, *keys)
    place = [F.col(f"{_MARK}.{name}") for name in ("source", "position", "event_index")]
    return spread.sortWithinPartitions(*keys, *place).drop(_MARK)


def _identities(by: str, documents: Documents) -> Callable[[Column], Column]:
    def mark(events: pa.Array) -> pa.Array:
        # What cannot be read is null then, and has no identity.
        return positions.identities(documents.decode_rows(events)[0], by)

    udf: Callable[[Column], Column] = F.arrow_udf(mark, _IDENTITY)  # type: ignore[attr-defined] # stubs lag behind
    return udf


def _places(within: str, documents: Documents) -> Callable[[Column], Column]:
    def mark(events: pa.Array) -> pa.Array:
        return positions.places(documents.decode_rows(events)[0], within)

    udf: Callable[[Column], Column] = F.arrow_udf(mark, _PLACE)  # type: ignore[attr-defined] # stubs lag behind
    return udf


def _check_columns(df: DataFrame, column: str, documents: Documents) -> None:
    require_documents(df, column, documents)
    taken = [name for name in (_MARK, _KEY, _TIME) if name in df.columns]
    if taken:
        raise SchemaMismatchError(f"the DataFrame has columns named {', '.join(taken)}", hint="rename them")
