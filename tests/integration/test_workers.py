"""Python workers: little memory, a short life."""

import os
import signal
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import wasm_host.module
from spark_udf import WasmTransform
from tests.integration.frames import frame_of, random_rows
from tests.integration.guests import guest
from tests.integration.processes import run_program, wait_until

pytestmark = pytest.mark.spark

SLOW_TESTS = "WASM_HOST_SLOW_TESTS"


def test_pyspark_memory_of_one_gigabyte_is_enough() -> None:
    output = run_program("memory_program.py")
    answer = next(line for line in output.splitlines() if line.startswith("ANSWER ")).split()
    assert 0 < int(answer[1]) <= 1 << 30
    assert answer[2:] == ["True", "True", "True"]


def cache_counts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The worker's process, and how often it found compiled code on disk and how often not."""
    for _ in batches:
        cache = wasm_host.module.code_cache()
        yield pa.RecordBatch.from_arrays(
            [pa.array([value], pa.int64()) for value in (os.getpid(), cache.hits, cache.misses)],
            names=["pid", "hits", "misses"],
        )


def look_at_workers(spark: SparkSession) -> dict[int, tuple[int, int]]:
    rows = spark.range(0, 8, 1, 8).mapInArrow(cache_counts, "pid bigint, hits bigint, misses bigint").collect()
    return {row.pid: (row.hits, row.misses) for row in rows}


def run_once(spark: SparkSession, salt: int) -> None:
    # A module that no cache has seen before.
    code = guest(
        f"(func $salt (result i64) (i64.const {salt})) "
        '(func (export "transform") (param i32 i32) (result i64) '
        "(call $answer (i64.const 0) (local.get 0) (local.get 1)))"
    )
    assert WasmTransform(code).apply(frame_of(spark, random_rows(1, 100), 4)).count() == 100


def test_new_workers_load_compiled_code_instead_of_compiling(spark: SparkSession) -> None:
    salt = time.time_ns()
    run_once(spark, salt)
    before = look_at_workers(spark)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") and _is_alive(pid) for pid in before), "the workers' end")
    run_once(spark, salt)
    after = look_at_workers(spark)
    assert not set(before) & set(after)
    assert sum(hits for hits, _ in after.values()) > 0
    assert sum(misses for _, misses in after.values()) == 0


@pytest.mark.skipif(
    not os.environ.get(SLOW_TESTS), reason=f"waits for more than a minute; set {SLOW_TESTS}=1 to run it"
)
def test_workers_that_were_idle_for_a_minute_load_compiled_code(spark: SparkSession) -> None:
    salt = time.time_ns()
    run_once(spark, salt)
    before = look_at_workers(spark)
    time.sleep(75)
    run_once(spark, salt)
    after = look_at_workers(spark)
    assert not set(before) & set(after)
    assert sum(misses for _, misses in after.values()) == 0


def _is_alive(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"
