"""The same change once, and changes in their order."""

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from abi import Event, Operation
from spark_udf.errors import SchemaMismatchError
from spark_udf.ordering import deduplicate, in_order
from wasm_host.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def _event(
    offset: str, *, event_id: str | None = None, index: int = 0, entity: int = 1, ts: int = 1_768_145_700_000
) -> bytes:
    event = Event(op=Operation.UPDATE, table="t", after=b'{"id":%d}' % entity, primary_key=["id"], ts=ts)
    event.source.source_name, event.source.offset = "pg", offset
    event.transaction.event_index = index
    if event_id is not None:
        event.attributes["cdc.event_id"] = event_id.encode()
    return event.SerializeToString()


def test_one_row_of_each_change_stays(spark: "SparkSession") -> None:
    rows = [
        ("a", _event("0/10", event_id="e1")),
        ("a", _event("0/11", event_id="e1")),
        ("b", _event("0/20")),
        ("b", _event("0/20", ts=1)),
        ("c", _event("0/20", index=1)),
        ("d", _event("0/20", entity=2)),
    ]
    df = spark.createDataFrame(rows, "name string, event binary").repartition(3)
    assert sorted(row.name for row in deduplicate(df).collect()) == ["a", "b", "c", "d"]
    by_position = sorted(row.name for row in deduplicate(df, by="position").collect())
    assert by_position == ["a", "a", "b", "c", "d"]
    by_id = sorted(row.name for row in deduplicate(df, by="event_id").collect())
    assert by_id == ["a", "b", "b", "c", "d"]
    assert deduplicate(df).columns == ["name", "event"]


def test_rows_without_an_identity_are_all_kept(spark: "SparkSession") -> None:
    rows = [(None,), (None,), (b"\xff\xff",), (b"\xff\xff",), (_event(""),), (_event(""),)]
    df = spark.createDataFrame(rows, "event binary")
    assert deduplicate(df).count() == 6


def test_a_stream_is_deduplicated_across_micro_batches(spark: "SparkSession", tmp_path: Path) -> None:
    source = tmp_path / "in"
    for number, offsets in enumerate((["1", "2"], ["2", "3"], ["1", "3"])):
        rows = [(_event(offset),) for offset in offsets]
        spark.createDataFrame(rows, "event binary").coalesce(1).write.mode("append").parquet(
            str(source / f"part={number}")
        )
    stream = spark.readStream.schema("event binary").option("maxFilesPerTrigger", 1).option("recursiveFileLookup", True)
    unique = deduplicate(stream.parquet(str(source)), watermark="10 minutes")
    query = (
        unique.writeStream.format("memory")
        .queryName("unique_events")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    offsets = [Event.FromString(bytes(row.event)).source.offset for row in spark.table("unique_events").collect()]
    assert sorted(offsets) == ["1", "2", "3"]
    with pytest.raises(ConfigError, match="needs watermark="):
        deduplicate(stream.parquet(str(source)))
    with pytest.raises(ConfigError, match="cannot sort a stream"):
        in_order(stream.parquet(str(source)))


@pytest.mark.parametrize(
    "offsets",
    [
        ["-3", "9", "10", "4521"],
        ["0/FF", "0/16B6A70", "0/16B6A71", "1/0"],
        ["binlog.000009:20", "binlog.000009:120", "binlog.000009:120:2", "binlog.000010:4"],
        ["00000025:00000d98:00a2", "00000025:00000d9a:0001", "00000026:00000001:0001"],
    ],
    ids=["sequence numbers", "PostgreSQL", "MySQL", "SQL Server"],
)
def test_events_of_an_entity_stand_in_the_order_of_their_positions(spark: "SparkSession", offsets: list[str]) -> None:
    expected = [(offset, index) for offset in offsets for index in (0, 1, 10)]
    rows = [(entity, _event(offset, index=index, entity=entity)) for entity in range(7) for offset, index in expected]
    random.Random(5).shuffle(rows)
    df = in_order(spark.createDataFrame(rows, "entity int, event binary").repartition(4), partitions=3)
    assert df.rdd.getNumPartitions() == 3
    parts = df.rdd.glom().collect()
    seen: dict[int, list[tuple[str, int]]] = {}
    homes: dict[int, set[int]] = {}
    for number, part in enumerate(parts):
        for row in part:
            event = Event.FromString(bytes(row.event))
            seen.setdefault(row.entity, []).append((event.source.offset, event.transaction.event_index))
            homes.setdefault(row.entity, set()).add(number)
    assert seen == dict.fromkeys(range(7), expected)
    assert {len(home) for home in homes.values()} == {1}


def test_order_within_columns_of_the_caller(spark: "SparkSession") -> None:
    rows = [(number % 2, _event(str(100 - number))) for number in range(20)]
    ordered = in_order(spark.createDataFrame(rows, "k int, event binary"), within=["k"]).collect()
    for key in (0, 1):
        offsets = [int(Event.FromString(bytes(row.event)).source.offset) for row in ordered if row.k == key]
        assert offsets == sorted(offsets)
    assert len(ordered) == 20


def test_what_cannot_be_meant_is_refused_on_the_driver(spark: "SparkSession") -> None:
    df = spark.createDataFrame([(b"", 1)], "event binary, n int")
    with pytest.raises(ConfigError, match="by"):
        deduplicate(df, by="colour")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="within"):
        in_order(df, within="colour")  # type: ignore[arg-type]
    with pytest.raises(SchemaMismatchError, match="within= names x"):
        in_order(df, within=["x"])
    with pytest.raises(SchemaMismatchError, match="allowed is binary"):
        deduplicate(df, "n")
