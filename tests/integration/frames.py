"""DataFrames of events for the tests on Spark, and what a transform should make of them."""

import random
from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

import wasm_host
from abi import Event
from spark_udf.samples import sample_event

SCHEMA = "id bigint, tenant_id string, event binary, amount bigint"


def make_event(size: int, number: int = 0) -> bytes:
    """An event whose row image has about so many bytes."""
    image = b'{"id":%d,"pad":"%s"}' % (number, b"x" * size)
    return Event(table="t", after=image, envelope_version=1).SerializeToString()


def random_rows(seed: int, count: int, tenants: Sequence[str] = ("a", "b", "c")) -> list[tuple[object, ...]]:
    """Rows in which everything that may be null sometimes is, and numbers are past what a double holds."""
    dice = random.Random(seed)
    rows: list[tuple[object, ...]] = []
    for number in range(count):
        event = None if dice.random() < 0.05 else bytearray(sample_event(dice.randrange(1 << 30) * 4000)[1])
        amount = None if dice.random() < 0.3 else 9_007_199_254_740_993 + number
        rows.append((number, dice.choice(tenants), event, amount))
    return rows


def frame_of(spark: SparkSession, rows: list[tuple[object, ...]], partitions: int, schema: str = SCHEMA) -> DataFrame:
    """A DataFrame with the rows in order, cut into partitions."""
    if not rows:
        return spark.createDataFrame([], schema)
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), schema)


def in_process(
    rows: list[tuple[object, ...]], code: bytes, config: dict[str, object] | None = None
) -> tuple[list[tuple[object, ...]], dict[int, str]]:
    """What the rows become without Spark: output rows in order, and the failure code of each failed row."""
    events = pa.array([None if row[2] is None else bytes(row[2]) for row in rows], pa.binary())  # type: ignore[call-overload]
    with wasm_host.load(code, config=config) as guest:
        result = guest.transform(events)
    outputs = []
    for source, event in zip(result.rows.to_pylist(), result.events.to_pylist(), strict=True):
        outputs.append((*rows[source][:2], event, *rows[source][3:]))
    return outputs, {failure.row: str(failure.code) for failure in result.failures}


def plain(rows: list[Row]) -> list[tuple[object, ...]]:
    """Rows as tuples that compare."""
    return [tuple(bytes(value) if isinstance(value, bytearray) else value for value in row) for row in rows]
