"""Run by a test in a process of its own: the driver of a job on a standalone cluster.

Its executors' Python has the libraries but not this project; the package arrives as a zip, the modules by broadcast.
"""

import sys
import time
from collections.abc import Iterator

import pyarrow as pa

import guest_examples
from spark_udf import TenantTransforms, WasmTransform, make_session
from tests.integration.guests import PASS, TWICE

master, package, source, target = sys.argv[1:]
conf = {
    "spark.executor.memory": "1g",
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.submit.pyFiles": package,
}
spark = make_session("cluster", master=master, conf=conf)


def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    # Long enough for a worker to be killed in the middle.
    for batch in batches:
        time.sleep(0.8)
        yield batch


rows = spark.read.parquet(source).repartition(16)
mask = WasmTransform(
    guest_examples.path("mask_pii"), config={"rules": [{"path": "email", "action": "redact"}]}, on_error="drop"
)
tenants = TenantTransforms({"acme": mask, "globex": WasmTransform(TWICE), "initech": WasmTransform(PASS)})
tenants.apply(rows.mapInArrow(slowly, rows.schema), tenant="tenant_id").write.parquet(target)
print("COUNTED", sum(record.counters.events_in for record in tenants.metrics()))
spark.stop()
