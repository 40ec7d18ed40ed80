"""Events ↔ columns on DataFrames."""

import json
from typing import TYPE_CHECKING

import pytest

from abi import Event, Operation
from abi.formats.columnar_fields import NAMES
from spark_udf.columns import from_columns, to_columns
from spark_udf.errors import SchemaMismatchError
from spark_udf.failure import split_failures
from tests.property.format_documents import Generator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def _events(count: int) -> list[bytes]:
    generator = Generator(11)
    events = []
    for _ in range(count):
        event = generator.event()
        event.attributes["app.topic"] = b"t"
        events.append(event.SerializeToString(deterministic=True))
    return events


def test_events_go_to_columns_and_come_back(spark: "SparkSession") -> None:
    rows = [(number, data) for number, data in enumerate([*_events(300), None])]
    df = spark.createDataFrame(rows, "n int, event binary").repartition(3)
    columns = to_columns(df)
    assert columns.columns == ["n", *NAMES]
    again = {row.n: row.event for row in from_columns(columns).collect()}
    assert again == {number: None if data is None else bytearray(data) for number, data in rows}


def test_columns_are_plain_spark_columns(spark: "SparkSession") -> None:
    event = Event(op=Operation.UPDATE, table="users", after=b'{"id":7,"email":"a@b.c"}', primary_key=["id"], ts=5)
    event.source.source_name = "pg"
    df = spark.createDataFrame([(event.SerializeToString(),)], "event binary")
    row = (
        to_columns(df, prefix="e_")
        .selectExpr(
            "e_op",
            "e_table",
            "get_json_object(e_after, '$.email') email",
            "e_primary_key",
            "e_before",
            "e_tx_id",
            "e_ts + 1 t",
        )
        .first()
    )
    assert row is not None
    assert tuple(row) == ("UPDATE", "users", "a@b.c", ["id"], None, None, 6)


def test_a_struct_column_is_written_as_a_json_row_image(spark: "SparkSession") -> None:
    df = spark.sql("select 'INSERT' op, 'users' `table`, named_struct('id', 1, 'name', 'Ann') after, 9 other, 5 ts")
    row = from_columns(df, column="made").first()
    assert row is not None
    event = Event.FromString(bytes(row.made))
    assert (json.loads(event.after), event.op, event.table, event.ts) == ({"id": 1, "name": "Ann"}, 1, "users", 5)
    assert row.other == 9


def test_rows_that_are_no_events_are_dead_letters(spark: "SparkSession") -> None:
    good = Event(op=Operation.INSERT, table="t").SerializeToString()
    df = spark.createDataFrame([(1, good), (2, b"\xff"), (3, None)], "n int, event binary")
    fine, dead = split_failures(to_columns(df, on_error="dead_letter"))
    assert sorted(row.n for row in fine.collect()) == [1, 3]
    (record,) = dead.collect()
    assert (record.n, record.failure.code, bytes(record.failure.event)) == (2, "DECODE_ERROR", b"\xff")
    assert sorted(row.n for row in to_columns(df, on_error="drop").collect()) == [1, 3]
    with pytest.raises(Exception, match="not a valid protobuf event"):
        to_columns(df).collect()


def test_rows_that_cannot_become_events_are_dead_letters(spark: "SparkSession") -> None:
    df = spark.createDataFrame([(1, "INSERT"), (2, "UPSERT")], "n int, op string")
    _, dead = split_failures(from_columns(df, on_error="dead_letter"))
    (record,) = dead.collect()
    assert record.n == 2
    assert "column 'op' is none of" in record.failure.message


def test_columns_that_do_not_fit_are_refused_on_the_driver(spark: "SparkSession") -> None:
    df = spark.createDataFrame([(b"", "x", 1)], "event binary, table string, n int")
    with pytest.raises(SchemaMismatchError, match="several columns named table"):
        to_columns(df)
    with pytest.raises(SchemaMismatchError, match="no column 'op'"):
        from_columns(df)
    with pytest.raises(SchemaMismatchError, match="allowed is binary"):
        to_columns(df, "table")
    with pytest.raises(SchemaMismatchError, match="allowed is array<string>"):
        from_columns(df.selectExpr("'INSERT' op", "'id' primary_key"))
    assert to_columns(df, keep=["n"]).columns == ["n", *NAMES]
