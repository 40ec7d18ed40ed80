"""What happens to events that fail, tenants that misbehave, and rows nobody is responsible for."""

import os
from collections import Counter

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import guest_examples
from spark_udf import Limits, TenantTransforms, WasmTransform, label_failures, register, split_failures
from tests.integration.frames import frame_of, make_event, plain, random_rows
from tests.integration.guests import BOMB, DROP, FAIL_ODD, GARBAGE, LIE, PASS, REFUSE, REMEMBER, SPIN, TRAP, TWICE

pytestmark = pytest.mark.spark

TIGHT = Limits(fuel_per_event=100_000, max_memory_bytes=4 * 1024 * 1024)


def whole_rows(seed: int, count: int) -> list[tuple[object, ...]]:
    return [row for row in random_rows(seed, count) if row[2] is not None]


@pytest.mark.parametrize("via", ["arrow", "pandas"])
def test_dead_letter_keeps_row_reason_and_original_bytes(spark: SparkSession, via: str) -> None:
    rows = random_rows(1, 400)
    transform = WasmTransform(FAIL_ODD, on_error="dead_letter")
    out = transform.apply(frame_of(spark, rows, 3), via=via)
    found = out.collect()
    assert [row.id for row in found] == [row[0] for row in rows]
    for row, original in zip(found, rows, strict=True):
        if original[2] is None or len(original[2]) % 2 == 0:  # type: ignore[arg-type]
            assert row.failure is None
            assert row.event == original[2]
        else:
            assert row.event is None
            assert (row.failure.code, bytes(row.failure.event)) == ("GUEST_FAILURE", bytes(original[2]))  # type: ignore[call-overload]
            assert '"odd"' in row.failure.message
            assert len(row.failure.module) == 64
            assert row.failure.tenant is None
            assert row.amount == original[3]
    good, dead = split_failures(out)
    failed = sum(row.failure is not None for row in found)
    assert failed > 100
    assert (good.count(), dead.count()) == (len(rows) - failed, failed)
    assert "failure" not in good.columns
    labelled = Counter(row.outcome for row in label_failures(out).select("outcome").collect())
    assert labelled == {"good": len(rows) - failed, "dead": failed}


def test_fail_names_module_row_code_and_how_to_see_the_event(spark: SparkSession) -> None:
    rows = [(number, "a", bytearray(make_event(10 + (number == 37))), None) for number in range(50)]
    transform = WasmTransform(FAIL_ODD if len(make_event(10)) % 2 == 0 else PASS)
    with pytest.raises(PythonException) as caught:
        transform.apply(frame_of(spark, rows, 1)).collect()
    message = str(caught.value)
    digest = transform.steps[0].label.removeprefix("module ")
    assert f"[EVENT_FAILED] module {digest} failed on row 37 of partition 0: GUEST_FAILURE" in message
    assert 'apply with on_error="dead_letter"' in message


def test_drop_leaves_failed_rows_out_and_counts_them(spark: SparkSession) -> None:
    rows = whole_rows(2, 300)
    transform = WasmTransform(FAIL_ODD, on_error="drop")
    kept = transform.apply(frame_of(spark, rows, 2)).collect()
    even = [row[0] for row in rows if len(row[2]) % 2 == 0]  # type: ignore[arg-type]
    assert [row.id for row in kept] == even
    (record,) = transform.metrics()
    assert record.counters.failed_by_code == {"GUEST_FAILURE": len(rows) - len(even)}


def test_misbehaving_tenants_fail_only_their_own_rows(spark: SparkSession) -> None:
    names = ("good1", "spin", "good2", "bomb", "trap", "lie", "garbage", "refuse")
    rows = [row for row in random_rows(7, 800, names) if row[2] is not None]
    mask = WasmTransform(
        guest_examples.path("mask_pii"),
        config={"rules": [{"path": "email", "action": "redact"}]},
        on_error="dead_letter",
    )
    good = {"good1": mask, "good2": WasmTransform(TWICE, on_error="dead_letter")}
    bad = {"spin": SPIN, "bomb": BOMB, "trap": TRAP, "lie": LIE, "garbage": GARBAGE, "refuse": REFUSE}
    hostile = {name: WasmTransform(code, limits=TIGHT, on_error="dead_letter") for name, code in bad.items()}
    frame = frame_of(spark, rows, 3)
    workers_before = worker_pids(spark)
    found = TenantTransforms({**good, **hostile}).apply(frame, tenant="tenant_id").collect()
    alone = TenantTransforms(good).apply(frame.where("tenant_id like 'good%'"), tenant="tenant_id").collect()
    assert plain([row for row in found if row.tenant_id in good]) == plain(alone)
    codes = {(row.tenant_id, row.failure.code) for row in found if row.failure is not None}
    assert codes == {
        ("spin", "FUEL_EXHAUSTED"),
        ("bomb", "TRAP_UNREACHABLE"),
        ("trap", "TRAP_UNREACHABLE"),
        ("lie", "RESULT_OUT_OF_BOUNDS"),
        ("garbage", "OUTPUT_NOT_AN_EVENT"),
        ("refuse", "GUEST_FAILURE"),
    }
    for name in bad:
        expected = sum(row[1] == name for row in rows)
        assert sum(row.tenant_id == name and row.failure is not None for row in found) == expected
    assert workers_before & worker_pids(spark), "the same worker processes go on"


def worker_pids(spark: SparkSession) -> set[int]:
    def pids(batches):  # type: ignore[no-untyped-def]
        for _ in batches:
            yield pa.RecordBatch.from_arrays([pa.array([os.getpid()], pa.int32())], names=["pid"])

    return {row.pid for row in spark.range(0, 4, 1, 4).mapInArrow(pids, "pid int").collect()}


def test_unknown_tenants_are_denied_by_default(spark: SparkSession) -> None:
    rows = [(0, "a", bytearray(make_event(1)), 1), (1, "stranger", bytearray(make_event(2)), 2), (2, None, None, 3)]
    frame = frame_of(spark, rows, 1)
    known = {"a": WasmTransform(PASS)}
    with pytest.raises(PythonException, match=r"\[UNKNOWN_TENANT\] the tenant 'stranger' is not configured"):
        TenantTransforms(known).apply(frame, tenant="tenant_id").collect()
    assert [row.id for row in TenantTransforms(known, unknown="drop").apply(frame, tenant="tenant_id").collect()] == [0]
    tenants = TenantTransforms(known, unknown="dead_letter")
    found = tenants.apply(frame, tenant="tenant_id").collect()
    assert [(row.id, row.failure and row.failure.code) for row in found] == [
        (0, None),
        (1, "UNKNOWN_TENANT"),
        (2, "UNKNOWN_TENANT"),
    ]
    assert found[1].event is None
    assert bytes(found[1].failure.event) == make_event(2)
    unknown = next(record for record in tenants.metrics() if record.tenant == "(unknown)")
    assert unknown.counters.failed_by_code == {"UNKNOWN_TENANT": 2}


def test_shadow_answers_with_wasm_and_counts_differences(spark: SparkSession) -> None:
    rows = whole_rows(9, 300)
    # The twin of another transform: every sampled event differs.
    transform = WasmTransform(PASS, native="guest_examples.drop_all.twin:build")
    found = transform.apply(frame_of(spark, rows, 1), engine="shadow", shadow_sample=0.1).collect()
    assert [bytes(row.event) for row in found] == [bytes(row[2]) for row in rows]  # type: ignore[call-overload]
    (record,) = transform.metrics()
    assert record.counters.shadow_compared == record.counters.shadow_differences == -(-len(rows) // 10)
    assert record.counters.differences[0]["native"] == "dropped"
    equal = WasmTransform(guest_examples.path("pass_through"))
    equal.apply(frame_of(spark, rows, 1), engine="shadow", shadow_sample=1).collect()
    assert equal.metrics()[0].counters.shadow_compared == len(rows)
    assert equal.metrics()[0].counters.shadow_differences == 0


def test_sql_function_gives_one_value_for_each_row(spark: SparkSession) -> None:
    rows = random_rows(12, 120)
    frame_of(spark, rows, 2).createOrReplaceTempView("events_of_test")
    register(spark, "pass_events", WasmTransform(PASS))
    register(spark, "drop_events", WasmTransform(DROP))
    register(spark, "twice_events", WasmTransform(TWICE), several=True)
    register(spark, "try_events", WasmTransform(FAIL_ODD, on_error="dead_letter"))
    register(spark, "by_tenant", TenantTransforms({"a": WasmTransform(PASS), "b": WasmTransform(DROP)}, unknown="drop"))
    found = spark.sql(
        "SELECT event, tenant_id, pass_events(event) AS p, drop_events(event) AS d, twice_events(event) AS t, "
        "try_events(event) AS f, by_tenant(event, tenant_id) AS b FROM events_of_test ORDER BY id"
    ).collect()
    assert len(found) == 120
    for row in found:
        assert row.p == row.event
        assert row.d is None
        assert row.t == ([None] if row.event is None else [row.event] * 2)
        assert row.b == (row.event if row.tenant_id == "a" else None)
        is_odd = row.event is not None and len(row.event) % 2 == 1
        assert (row.f.event is None) == (is_odd or row.event is None)
        assert (row.f.failure is not None) == is_odd
    register(spark, "twice_wrong", WasmTransform(TWICE))
    with pytest.raises(PythonException, match="an event became 2 events"):
        spark.sql("SELECT twice_wrong(event) FROM events_of_test").collect()


def test_tenants_with_the_same_module_never_share_an_instance(spark: SparkSession) -> None:
    rows = [(number, "ab"[number % 2], bytearray(make_event(20, number)), None) for number in range(400)]
    same = WasmTransform(REMEMBER)
    out = TenantTransforms({"a": same, "b": same}).apply(frame_of(spark, rows, 1), tenant="tenant_id")
    owner = {bytes(row[2]): row[1] for row in rows}  # type: ignore[call-overload]
    found = out.collect()
    assert len(found) == 400
    assert all(owner[bytes(row.event)] == row.tenant_id for row in found)
    assert sum(bytes(row.event) != rows[row.id][2] for row in found) > 300, "the guest does remember"
