"""Jobs under faults: killed workers and drivers, leaking tenants, huge events. `make faults` runs the long forms."""

import os
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_udf.job import read_output
from tests.integration.frames import frame_of, random_rows
from tests.integration.guests import FAIL_ODD, TWICE
from tests.integration.processes import kill_group, run_program, start_program, wait_until

pytestmark = pytest.mark.spark

LONG = "WASM_HOST_LONG_FAULTS"
is_long = bool(os.environ.get(LONG))
long_only = pytest.mark.skipif(not is_long, reason=f"takes minutes; `make faults` sets {LONG}=1")
DRIVER_KILLS = int(os.environ.get("WASM_HOST_DRIVER_KILLS", "20"))
FAULTS = Path("../faults")


def sorted_rows(folder: Path) -> list[tuple[object, ...]]:
    """All rows of a Parquet output, dead letters included, in an order that does not depend on tasks."""
    rows = pq.read_table(folder).to_pylist()
    return sorted(tuple(repr(value) for value in row.values()) for row in rows)


def answer(output: str, word: str) -> str:
    return next(line for line in output.splitlines() if line.startswith(word)).removeprefix(word).strip()


@pytest.mark.parametrize("master", ["local[2,50]", pytest.param("local-cluster[2,1,1024]", marks=[long_only])])
def test_killed_python_workers_leave_no_trace_in_the_output(tmp_path: Path, master: str) -> None:
    kills = 20 if is_long else 4
    output = run_program(FAULTS / "workers_program.py", tmp_path, master, kills, 7, timeout=400)
    assert int(answer(output, "KILLED")) >= (2 if not is_long else 5)
    calm = sorted_rows(tmp_path / "calm")
    assert len(calm) > 20_000
    assert sorted_rows(tmp_path / "disturbed") == calm


@long_only
def test_driver_killed_many_times_gives_each_event_once(spark: SparkSession, tmp_path: Path) -> None:
    rows = [row for row in random_rows(33, 4_000, ("twice", "odd")) if row[2] is not None]
    frame_of(spark, rows, 48).write.parquet(str(tmp_path / "in"))
    (tmp_path / "twice.wasm").write_bytes(TWICE)
    (tmp_path / "odd.wasm").write_bytes(FAIL_ODD)
    tenants = tmp_path / "tenants.toml"
    tenants.write_text(
        "tenant = 'tenant_id'\ndefaults.on_error = 'dead_letter'\n"
        "tenants.twice.module = 'twice.wasm'\ntenants.odd.module = 'odd.wasm'\n"
    )
    dice = random.Random(5)
    offsets = tmp_path / "cp" / "offsets"
    arguments = (tmp_path / "in", tmp_path / "out", tmp_path / "cp", tenants)
    for _ in range(DRIVER_KILLS):
        seen = len(list(offsets.glob("[0-9]*"))) if offsets.exists() else 0
        process = start_program("stream_program.py", *arguments)
        try:
            ahead = dice.randrange(1, 3)
            wait_until(
                lambda seen=seen, ahead=ahead, process=process: (
                    process.poll() is not None
                    or (offsets.exists() and len(list(offsets.glob("[0-9]*"))) >= seen + ahead)
                ),
                "progress",
                120,
            )
        finally:
            kill_group(process)
    run_program("stream_program.py", *arguments)
    good, dead = read_output(spark, tmp_path / "out")
    assert dead is not None
    expected, failed = [], []
    for row in rows:
        number, tenant, event = row[0], row[1], bytes(row[2])  # type: ignore[call-overload]
        if tenant == "twice":
            expected += [(number, event)] * 2
        else:
            (failed if len(event) % 2 else expected).append((number, event))
    assert sorted((row.id, bytes(row.event)) for row in good.collect()) == expected
    assert sorted((row.id, bytes(row.failure.event)) for row in dead.collect()) == failed


def test_leaking_tenants_stay_within_the_memory_of_a_worker() -> None:
    tenants, events = (1_000, 100_000) if is_long else (200, 6_000)
    output = run_program(FAULTS / "tenants_program.py", tenants, events, timeout=400)
    total, limit, used = map(int, answer(output, "ANSWER").split())
    assert total == events
    assert limit == 1 << 30
    assert used < limit


@long_only
def test_events_of_64_megabytes_are_masked_or_fail_alone() -> None:
    output = run_program(FAULTS / "big_events_program.py", timeout=400)
    # "a@example.com" became "***" in all five.
    assert answer(output, "ROOMY") == f"{[len('***') - len('a@example.com')] * 5} 0"
    good, _, failures = answer(output, "DEFAULT").partition("] ")
    assert good == "[0, 2, 4"
    assert "(1, " in failures
    assert "(3, " in failures
