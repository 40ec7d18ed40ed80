"""Run by a test in a process of its own: workers whose address space is limited by spark.executor.pyspark.memory."""

import resource
from collections.abc import Iterator

import pyarrow as pa

import guest_examples
from spark_udf import TenantTransforms, WasmTransform, make_session
from spark_udf.samples import sample_frame
from tests.integration.guests import PASS, TWICE

spark = make_session("memory", conf={"spark.executor.pyspark.memory": "1g"})


def limit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_arrays([pa.array([resource.getrlimit(resource.RLIMIT_AS)[0]])], names=["bytes"])


limit_bytes = spark.range(0, 1, 1, 1).mapInArrow(limit, "bytes bigint").collect()[0][0]
mask = WasmTransform(
    guest_examples.path("mask_pii"), config={"rules": [{"path": "email", "action": "redact"}]}, on_error="drop"
)
tenants = TenantTransforms({"acme": mask, "globex": WasmTransform(TWICE), "initech": WasmTransform(PASS)})
frame = sample_frame(spark, 60_000, partitions=4)
out = tenants.apply(frame, tenant="tenant_id")
counts = {row.tenant_id: row["count"] for row in out.groupBy("tenant_id").count().collect()}
source = {row.tenant_id: row["count"] for row in frame.groupBy("tenant_id").count().collect()}
print("ANSWER", limit_bytes, counts["acme"] / source["acme"] > 0.99, counts["globex"] == 2 * source["globex"],
      counts["initech"] == source["initech"])  # fmt: skip
spark.stop()
