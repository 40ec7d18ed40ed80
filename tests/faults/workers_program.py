"""Run by a test in a process of its own: Python workers are killed at random moments while a job runs."""

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import guest_examples
from spark_udf import TenantTransforms, WasmTransform, label_failures, make_session
from spark_udf.samples import sample_frame
from tests.integration.guests import FAIL_ODD, TWICE

target, master, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


def python_workers() -> list[int]:
    """Workers below this process: forked by a daemon of pyspark's, and so the child of a process of the same name."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                names[int(entry.name)] = (entry / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue

    def is_ours(pid: int) -> bool:
        while pid in parents:
            pid = parents[pid]
            if pid == os.getpid():
                return True
        return False

    return [
        pid
        for pid, name in names.items()
        if b"pyspark.daemon" in name and b"pyspark.daemon" in names.get(parents[pid], b"") and is_ours(pid)
    ]


def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    # Long enough for a worker to be hit in the middle of a partition.
    for batch in batches:
        time.sleep(0.05)
        yield batch


spark = make_session("faults", master=master, conf={"spark.task.maxFailures": "50"})
spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
mask = WasmTransform(
    guest_examples.path("mask_pii"), config={"rules": [{"path": "email", "action": "redact"}]}, on_error="dead_letter"
)
tenants = TenantTransforms(
    {"acme": mask, "globex": WasmTransform(TWICE), "initech": WasmTransform(FAIL_ODD, on_error="dead_letter")}
)
frame = sample_frame(spark, 20_000, partitions=8)
rows = label_failures(tenants.apply(frame.mapInArrow(slowly, frame.schema), tenant="tenant_id"))
rows.write.parquet(f"{target}/calm")

dice, done, killed = random.Random(seed), threading.Event(), 0


def kill_some() -> None:
    global killed
    while killed < kills and not done.wait(dice.uniform(0.05, 0.5)):
        found = python_workers()
        if found:
            os.kill(dice.choice(found), signal.SIGKILL)
            killed += 1


killer = threading.Thread(target=kill_some)
killer.start()
rows.write.parquet(f"{target}/disturbed")
done.set()
killer.join()
print("KILLED", killed)
spark.stop()
