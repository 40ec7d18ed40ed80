"""Counts reach the driver, once for each event, also when tasks are run again."""

import glob
import logging
import os
import pickle
from pathlib import Path

import pytest
from pyspark.cloudpickle import dumps as cloudpickle_dumps
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)

import guest_examples
from spark_udf import Secret, TenantTransforms, WasmTransform, split_failures
from tests.integration.frames import frame_of, make_event, random_rows
from tests.integration.guests import ECHO_CONFIG, PASS, TWICE

pytestmark = pytest.mark.spark


def test_counts_are_exact_by_tenant_and_module(spark: SparkSession) -> None:
    rows = [row for row in random_rows(3, 900) if row[2] is not None]
    tenants = TenantTransforms(
        {"a": WasmTransform(TWICE), "b": [WasmTransform(TWICE), WasmTransform(PASS)], "c": WasmTransform(PASS)}
    )
    tenants.apply(frame_of(spark, rows, 4), tenant="tenant_id").write.format("noop").mode("overwrite").save()
    count = {name: sum(row[1] == name for row in rows) for name in "abc"}
    size = {name: sum(len(row[2]) for row in rows if row[1] == name) for name in "abc"}  # type: ignore[arg-type]
    found = {}
    for record in tenants.metrics():
        counters = record.counters
        assert record.module is not None
        found[record.tenant, record.module[:6]] = (counters.events_in, counters.events_out, counters.bytes_in)
        assert counters.fuel > 0
        assert counters.guest_seconds > 0
    twice, same = (WasmTransform(code).steps[0].label.removeprefix("module ")[:6] for code in (TWICE, PASS))
    assert found == {
        ("a", twice): (count["a"], 2 * count["a"], size["a"]),
        ("b", twice): (count["b"], 2 * count["b"], size["b"]),
        ("b", same): (2 * count["b"], 2 * count["b"], 2 * size["b"]),
        ("c", same): (count["c"], count["c"], size["c"]),
    }
    text = tenants.metrics_text()
    assert f'wasm_host_events_in_total{{tenant="c",module="{same}' in text
    tenants.reset_metrics()
    assert tenants.metrics() == []


def test_coalesced_partitions_and_retried_tasks_count_once(tmp_path: Path) -> None:
    # Retries need a session of their own: the shared one gives up at the first failure.
    import subprocess
    import sys

    script = Path(__file__).with_name("retry_program.py")
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["5000", "5000", "1"]


def test_actions_add_up_and_limit_counts_what_was_read(spark: SparkSession) -> None:
    frame = frame_of(spark, [row for row in random_rows(8, 200) if row[2] is not None], 2)
    transform = WasmTransform(PASS)
    out = transform.apply(frame)
    out.count()
    first = transform.metrics()[0].counters.events_in
    assert first == frame.count()
    out.coalesce(1).count()
    assert transform.metrics()[0].counters.events_in == 2 * first


def test_transform_pickles_small_and_module_travels_once(spark: SparkSession) -> None:
    from spark_udf.admission import admit
    from spark_udf.carrier import BroadcastCarrier, ship_bundle

    big = guest_examples.path("mask_pii")
    plans = {
        f"t{number}": WasmTransform(big, config={"rules": [{"path": f"p{number}", "action": "null"}]}).plan
        for number in range(200)
    }
    admitted = admit(plans, engine="wasm")
    assert len(admitted.blob) < len(big.read_bytes()) + 200 * 600, "one module for all tenants"
    carrier = ship_bundle(spark, admitted.bundle_digest, admitted.blob)
    again = ship_bundle(spark, admitted.bundle_digest, admitted.blob)
    assert isinstance(carrier, BroadcastCarrier)
    assert carrier == again
    frame = frame_of(spark, random_rows(1, 5), 1)
    out = WasmTransform(big, config={"rules": [{"path": "p", "action": "null"}]}).apply(frame)
    node = out._jdf.queryExecution().analyzed()
    assert node.functionExpr().func().command().length() < 4_000


def test_secret_is_not_in_plan_event_log_failure_or_log(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "correct-horse-battery-staple"
    monkeypatch.setenv("A_SECRET_OF_TESTS", secret)
    transform = WasmTransform(ECHO_CONFIG, config={"key": Secret.env("A_SECRET_OF_TESTS")}, on_error="dead_letter")
    frame = frame_of(spark, [(1, "a", bytearray(make_event(5)), None)], 1)
    out = transform.apply(frame)
    with caplog.at_level(logging.DEBUG):
        (row,) = out.collect()
    execution = out._jdf.queryExecution()
    shown = [
        execution.toString(),
        execution.analyzed().toJSON(),
        repr(transform),
        repr(transform.steps),
        str(transform.metrics()),
        str(row),
        caplog.text,
    ]
    assert "[secret]" in row.failure.message
    assert not [text for text in shown if secret in text]
    for path in glob.glob(f"{spark.conf.get('spark.local.dir')}/**", recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                assert secret.encode() not in file.read(), path


def test_guest_metrics_and_lost_log_lines_are_counted(spark: SparkSession) -> None:
    transform = WasmTransform(
        guest_examples.path("mask_pii"), config={"rules": [{"path": "no.such.path", "action": "redact"}]}
    )
    rows = [row for row in random_rows(5, 60) if row[2] is not None]
    transform.apply(frame_of(spark, rows, 2)).count()
    counters = transform.metrics()[0].counters
    assert counters.guest_metrics == {"mask_pii.unmatched.no.such.path": len(rows)}
    assert counters.cache_hits + counters.cache_misses == 2
    assert counters.log_lines_lost == 0


def test_split_of_a_persisted_frame_runs_the_transform_once(spark: SparkSession) -> None:
    transform = WasmTransform(PASS, on_error="dead_letter")
    frame = frame_of(spark, [row for row in random_rows(6, 100) if row[2] is not None], 2)
    out: DataFrame = transform.apply(frame).persist()
    good, dead = split_failures(out)
    assert (good.count(), dead.count()) == (frame.count(), 0)
    assert transform.metrics()[0].counters.events_in == frame.count()
    assert good.agg(F.count("event")).collect()[0][0] == frame.count()
    out.unpersist()


def test_limits_and_secrets_survive_both_pickles() -> None:
    secret = Secret.env("X")
    for copy in (pickle.loads(pickle.dumps(secret)), pickle.loads(cloudpickle_dumps(secret))):
        assert copy == secret
