"""Structured Streaming: the same transforms, each event exactly once, dead letters too."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_udf import ModuleMetrics, WasmTransform, label_failures
from spark_udf.job import read_output
from tests.integration.frames import frame_of, in_process, random_rows
from tests.integration.guests import FAIL_ODD, TWICE
from tests.integration.processes import kill_group, run_program, start_program, wait_until

pytestmark = pytest.mark.spark


def test_stream_equals_batch_and_reports_each_batch(spark: SparkSession, tmp_path: Path) -> None:
    rows = [row for row in random_rows(31, 300) if row[2] is not None]
    frame_of(spark, rows, 3).write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("id bigint, tenant_id string, event binary, amount bigint")
    source = stream.option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    transform = WasmTransform(FAIL_ODD, on_error="dead_letter")
    batches: list[tuple[int, list[ModuleMetrics]]] = []
    listener = transform.listener(lambda _query, batch, records: batches.append((batch, records)))
    spark.streams.addListener(listener)
    try:
        writer = label_failures(transform.apply(source)).writeStream.partitionBy("outcome").format("parquet")
        writer = writer.option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "cp"))
        assert writer.trigger(availableNow=True).start().awaitTermination(60)
        wait_until(lambda: len(batches) == 3, "three reports", 10)
    finally:
        spark.streams.removeListener(listener)
    good, dead = read_output(spark, tmp_path / "out")
    assert dead is not None
    expected, failed = in_process(rows, FAIL_ODD)
    assert sorted((row.id, bytes(row.event)) for row in good.collect()) == [(row[0], row[2]) for row in expected]
    assert sorted(row.id for row in dead.collect()) == [rows[position][0] for position in failed]
    assert sum(record.counters.events_in for _, records in batches for record in records) == len(rows)
    assert transform.metrics()[0].counters.events_in == len(rows)


def test_driver_killed_mid_batch_and_restarted_gives_each_event_once(spark: SparkSession, tmp_path: Path) -> None:
    rows = [row for row in random_rows(32, 1_200, ("twice", "odd")) if row[2] is not None]
    frame_of(spark, rows, 8).write.parquet(str(tmp_path / "in"))
    (tmp_path / "twice.wasm").write_bytes(TWICE)
    (tmp_path / "odd.wasm").write_bytes(FAIL_ODD)
    tenants = tmp_path / "tenants.toml"
    tenants.write_text(
        "tenant = 'tenant_id'\ndefaults.on_error = 'dead_letter'\n"
        "tenants.twice.module = 'twice.wasm'\ntenants.odd.module = 'odd.wasm'\n"
    )
    offsets, commits = tmp_path / "cp" / "offsets", tmp_path / "cp" / "commits"
    arguments = (tmp_path / "in", tmp_path / "out", tmp_path / "cp", tenants)
    for kill_in_batch in (1, 3):
        process = start_program("stream_program.py", *arguments)
        try:
            # The batch is planned, and not yet committed.
            wait_until((offsets / str(kill_in_batch)).exists, f"batch {kill_in_batch}", 90)
        finally:
            kill_group(process)
        assert not (commits / str(kill_in_batch + 1)).exists()
    run_program("stream_program.py", *arguments)
    good, dead = read_output(spark, tmp_path / "out")
    assert dead is not None
    expected, failed = [], []
    for row in rows:
        if row[1] == "twice":
            expected += [(row[0], bytes(row[2]))] * 2  # type: ignore[call-overload]
        elif len(row[2]) % 2:  # type: ignore[arg-type]
            failed.append((row[0], bytes(row[2])))  # type: ignore[call-overload]
        else:
            expected.append((row[0], bytes(row[2])))  # type: ignore[call-overload]
    assert sorted((row.id, bytes(row.event)) for row in good.collect()) == expected
    assert sorted((row.id, bytes(row.failure.event)) for row in dead.collect()) == failed
