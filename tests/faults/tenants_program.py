"""Run by a test in a process of its own: a thousand tenants whose guests leak, in workers of limited memory."""

import resource
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)

from spark_udf import TenantTransforms, WasmTransform, make_session
from spark_udf.samples import sample_frame
from tests.integration.guests import guest

tenants, events = int(sys.argv[1]), int(sys.argv[2])

# Grows by a megabyte at each event and never gives it back, until it is refused more; the event is handed back.
LEAK = guest(
    """
    (func (export "transform") (param $at i32) (param $size i32) (result i64)
      (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (unreachable)))
      (call $answer (i64.const 0) (local.get $at) (local.get $size)))
    """
)


def peak(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        limit, used = resource.getrlimit(resource.RLIMIT_AS)[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        yield pa.RecordBatch.from_arrays([pa.array([limit]), pa.array([used * 1024])], names=["limit", "used"])


spark = make_session("leaks", conf={"spark.executor.pyspark.memory": "1g"})
frame = sample_frame(spark, events, partitions=4).withColumn("tenant", (F.col("id") % tenants).cast("string"))
transforms = TenantTransforms({str(number): WasmTransform(LEAK) for number in range(tenants)})
out = transforms.apply(frame, tenant="tenant")
total = out.count()
worst = spark.range(0, 8, 1, 8).mapInArrow(peak, "limit bigint, used bigint").agg(F.max("limit"), F.max("used")).first()
assert worst is not None
print("ANSWER", total, *worst)
spark.stop()
