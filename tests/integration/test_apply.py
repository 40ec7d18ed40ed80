"""A transform on a DataFrame gives what the sandbox gives in this process, whatever the way, partitions and batches."""

import random

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)

import guest_examples
from abi import Event
from spark_udf import TenantTransforms, WasmTransform
from tests.integration.frames import frame_of, in_process, make_event, plain, random_rows
from tests.integration.guests import DROP, FAIL_ODD, PASS, TWICE

pytestmark = pytest.mark.spark

MASK = {"rules": [{"path": "email", "action": "redact"}, {"path": "phone", "action": "keep_last", "n": 2}]}
ROWS_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


@pytest.mark.parametrize("via", ["arrow", "pandas"])
@pytest.mark.parametrize("seed", range(4))
def test_output_equals_the_in_process_result(spark: SparkSession, seed: int, via: str) -> None:
    dice = random.Random(seed)
    rows = random_rows(seed, dice.choice([1, 7, 500, 2_500]))
    code, config = dice.choice(
        [(PASS, None), (DROP, None), (TWICE, None), (guest_examples.load_wasm("mask_pii"), MASK)]
    )
    isolation = dice.choice(["worker", "batch", "event"])
    spark.conf.set(ROWS_PER_BATCH, dice.choice(["1", "100", "10000"]))
    try:
        transform = WasmTransform(code, config=config, isolation=isolation)
        found = plain(transform.apply(frame_of(spark, rows, dice.choice([1, 3, 8])), via=via).collect())
    finally:
        spark.conf.unset(ROWS_PER_BATCH)
    assert found == in_process(rows, code, config)[0]


@pytest.mark.parametrize("via", ["arrow", "pandas"])
def test_tenants_get_their_own_transform_and_order_is_kept(spark: SparkSession, via: str) -> None:
    rows = random_rows(11, 3_000)
    tenants = TenantTransforms(
        {"a": WasmTransform(TWICE), "b": WasmTransform(DROP), "c": [WasmTransform(TWICE), WasmTransform(PASS)]}
    )
    found = plain(tenants.apply(frame_of(spark, rows, 3), tenant="tenant_id", via=via).collect())
    expected = []
    for row in rows:
        if row[2] is None:
            expected.append(row)
        elif row[1] != "b":
            expected += [(*row[:2], bytes(row[2]), row[3])] * 2
    assert found == expected


@pytest.mark.parametrize("name", ["mask_pii", "filter_rows"])
def test_wasm_equals_native(spark: SparkSession, name: str) -> None:
    config = MASK if name == "mask_pii" else {"where": {"field": "status", "op": "=", "value": "active"}}
    frame = frame_of(spark, random_rows(5, 1_500), 2)
    transform = WasmTransform(guest_examples.path(name), config=config, on_error="dead_letter")
    wasm, native = (transform.apply(frame, engine=engine).collect() for engine in ("wasm", "native"))
    assert len(wasm) > 300
    assert [row[:4] for row in wasm] == [row[:4] for row in native]
    assert [row.failure and row.failure.code for row in wasm] == [row.failure and row.failure.code for row in native]


def test_every_type_travels_bit_for_bit_through_both_ways(spark: SparkSession) -> None:
    frame = spark.range(0, 700, 1, 3).selectExpr(
        "id",
        "if(id % 3 = 0, null, id + 9007199254740993L) AS nullable_long",
        "if(id % 2 = 0, double('NaN'), if(id % 3 = 0, null, id / 7)) AS nan_or_null",
        "cast(if(id % 2 = 0, '-0.0', 'Infinity') AS float) AS special_float",
        "if(id % 5 = 0, null, id % 2 = 0) AS flag",
        "cast(id % 100 AS tinyint) AS tiny",
        "if(id % 4 = 0, null, cast(id AS smallint)) AS small",
        "cast(concat('text ', id, ' ü') AS string) AS words",
        "cast(X'ff00fe' AS string) AS not_utf8",
        "date_from_unix_date(cast(id * 4000 AS int)) AS far_date",
        "if(id % 2 = 0, null, timestamp_micros(id * 250000000000001)) AS far_time",
        "timestamp_ntz'0001-01-01 00:00:00' AS no_zone",
        "cast(id / 7 AS decimal(38, 18)) AS exact",
        "array(id, null, id + 9007199254740993L) AS list",
        "named_struct('x', id, 'y', if(id % 2 = 0, double('NaN'), null)) AS inner",
        "map(id, array(cast(string(id) AS binary))) AS table",
        "make_dt_interval(0, 0, 0, id) AS span",
        "parse_json(concat('{\"a\":', id, '}')) AS anything",
    )
    checks = ["crc32(cast(not_utf8 AS binary)) AS raw", "cast(far_date AS string) AS far_date_text"]
    numbered = frame.withColumn("event", F.lit(bytearray(make_event(10))))
    transform = WasmTransform(TWICE)
    expected = sorted(_texts(numbered.selectExpr("*", *checks)) * 2)
    for via in ("arrow", "pandas"):
        out = transform.apply(numbered, via=via)
        assert out.columns == numbered.columns
        assert [field.dataType for field in out.schema] == [field.dataType for field in numbered.schema]
        assert sorted(_texts(out.selectExpr("*", *checks))) == expected


def _texts(frame: DataFrame) -> list[str]:
    """Each row as text that tells null from NaN and -0.0 from 0.0."""
    frame = frame.withColumn("anything", frame.anything.cast("string")).drop("not_utf8")
    frame = frame.withColumn("far_date", frame.far_date.cast("string")).withColumn(
        "far_time", frame.far_time.cast("string")
    )
    return [repr(row) for row in frame.collect()]


def test_rows_of_empty_partitions_and_tables(spark: SparkSession) -> None:
    rows = random_rows(3, 5)
    transform = WasmTransform(PASS)
    for via in ("arrow", "pandas"):
        sparse = frame_of(spark, rows, 5).repartition(9)
        assert transform.apply(sparse, via=via).count() == 5
        assert transform.apply(frame_of(spark, [], 1), via=via).collect() == []
        all_dropped = WasmTransform(DROP).apply(
            frame_of(spark, random_rows(4, 100), 2).dropna(subset=["event"]), via=via
        )
        assert all_dropped.collect() == []


def test_batches_from_one_row_to_64_megabytes(spark: SparkSession) -> None:
    transform = WasmTransform(PASS)
    big = make_event(1_000_000)
    frame = spark.range(0, 130, 1, 1).withColumn("event", F.lit(bytearray(big)))
    out = transform.apply(frame).selectExpr("count(*) n", "sum(length(event)) bytes", "count(distinct hash(event)) d")
    assert out.collect()[0] == (130, 130 * len(big), 1)
    (record,) = transform.metrics()
    assert record.counters.bytes_in == 130 * len(big)
    spark.conf.set(ROWS_PER_BATCH, "1")
    try:
        small = spark.range(0, 40, 1, 1).withColumn("event", F.lit(bytearray(make_event(5))))
        assert transform.apply(small).count() == 40
    finally:
        spark.conf.unset(ROWS_PER_BATCH)


def test_only_the_columns_that_are_kept_go_to_python(spark: SparkSession) -> None:
    frame = frame_of(spark, random_rows(1, 20), 1)
    out = TenantTransforms({name: WasmTransform(PASS) for name in "abc"}).apply(frame, tenant="tenant_id", keep=["id"])
    assert out.columns == ["id", "event"]
    plan = out._jdf.queryExecution().executedPlan().toString()
    assert "amount" not in plan.split("MapInArrow")[1].split("\n")[0]
    assert out.count() == 20
    alone = WasmTransform(TWICE).apply(frame.where("event is not null"), keep=[])
    assert alone.columns == ["event"]
    assert alone.count() == 2 * frame.where("event is not null").count()


def test_tenant_comes_from_a_number_a_struct_or_the_event(spark: SparkSession) -> None:
    events = [Event(schema=name, after=b'{"owner":{"id":"%s"},"n":7}' % name.encode()) for name in ("x", "y", "x")]
    rows = [
        (number, number % 2, (name.schema,), bytearray(name.SerializeToString())) for number, name in enumerate(events)
    ]
    frame = frame_of(spark, rows, 1, "id bigint, odd int, owner struct<name: string>, event binary")

    def kept(tenant: str, names: dict[str, WasmTransform]) -> list[int]:
        return [row.id for row in TenantTransforms(names).apply(frame, tenant=tenant).collect()]

    by_name = {"x": WasmTransform(PASS), "y": WasmTransform(DROP)}
    assert kept("odd", {"0": WasmTransform(PASS), "1": WasmTransform(DROP)}) == [0, 2]
    assert kept("owner.name", by_name) == [0, 2]
    assert kept("schema", by_name) == [0, 2]
    assert kept("after.owner.id", by_name) == [0, 2]
    assert kept("row.owner.id", by_name) == [0, 2]
    assert kept("after.n", {"7": WasmTransform(PASS)}) == [0, 1, 2]


def test_chain_is_all_or_nothing_and_leaves_no_trace_of_a_failed_event(spark: SparkSession) -> None:
    rows = [row for row in random_rows(21, 200) if row[2] is not None]
    transform = WasmTransform([WasmTransform(TWICE), WasmTransform(FAIL_ODD)], on_error="dead_letter")
    found = transform.apply(frame_of(spark, rows, 2)).collect()
    odd = {row[0] for row in rows if len(row[2]) % 2}  # type: ignore[arg-type]
    assert odd
    assert len(odd) < len(rows)
    assert {row.id for row in found if row.failure is not None} == odd
    assert all(row.event is None for row in found if row.failure is not None)
    assert sorted(row.id for row in found if row.failure is None) == sorted(
        [row[0] for row in rows if row[0] not in odd] * 2
    )
    originals = {row[0]: bytes(row[2]) for row in rows}  # type: ignore[call-overload]
    assert all(bytes(row.failure.event) == originals[row.id] for row in found if row.failure is not None)


def test_thousand_tenants_have_a_thousand_configurations(spark: SparkSession) -> None:
    mask = guest_examples.path("mask_pii")
    tenants = TenantTransforms(
        {
            f"t{number}": WasmTransform(
                mask, config={"rules": [{"path": "p", "action": "redact", "marker": f"#{number}"}]}
            )
            for number in range(1_000)
        }
    )
    event = bytearray(Event(after=b'{"p":"secret"}').SerializeToString())
    rows = [(number, f"t{number % 1000}", event, None) for number in range(6_000)]
    found = tenants.apply(frame_of(spark, rows, 2), tenant="tenant_id").collect()
    assert len(found) == 6_000
    for row in found:
        assert Event.FromString(bytes(row.event)).after == b'{"p":"#%d"}' % (row.id % 1000)
