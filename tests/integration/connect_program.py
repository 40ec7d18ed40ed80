"""Run by a test in a process of its own: everything through Spark Connect. Prints one JSON line."""

import json
import os
import sys
import time
import traceback
from pathlib import Path

from pyspark.sql import SparkSession

from spark_udf import TenantTransforms, WasmTransform, label_failures, register
from spark_udf.samples import sample_batch
from spark_udf.session import prepare_environment
from tests.integration.guests import FAIL_ODD, PASS, TWICE


def end_at_once(*error: object) -> None:
    # The server's threads would keep a failed program waiting for ever.
    traceback.print_exception(*error)  # type: ignore[call-overload]
    os._exit(1)


sys.excepthook = end_at_once
folder = Path(sys.argv[1])
prepare_environment()
builder = SparkSession.builder.remote("local[2]")
spark = builder.config("spark.python.unix.domain.socket.enabled", "true").getOrCreate()
rows = spark.createDataFrame(sample_batch(0, 600).to_pandas())
answer: dict[str, object] = {}

tenants = TenantTransforms(
    {
        "acme": WasmTransform(TWICE),
        "globex": WasmTransform(FAIL_ODD, on_error="dead_letter"),
        "initech": WasmTransform(PASS),
    }
)
for via in ("arrow", "pandas"):
    found = tenants.apply(rows, tenant="tenant_id", via=via).collect()
    answer[via] = [[row.id, row.event and row.event.hex(), row.failure and row.failure.code] for row in found]
answer["metrics"] = {
    record.tenant: [record.counters.events_in, record.counters.events_out] for record in tenants.metrics()
}
register(spark, "same", WasmTransform(PASS))
rows.createOrReplaceTempView("rows")
answer["sql"] = spark.sql("SELECT count_if(same(event) = event) FROM rows").collect()[0][0]

rows.repartition(3).write.parquet(str(folder / "in"))
source = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
transform = WasmTransform(FAIL_ODD, on_error="dead_letter")
batches: list[int] = []
listener = transform.listener(lambda _query, _batch, records: batches.append(records[0].counters.events_in))
spark.streams.addListener(listener)
writer = label_failures(transform.apply(source)).writeStream.partitionBy("outcome").format("parquet")
writer = writer.option("path", str(folder / "out")).option("checkpointLocation", str(folder / "cp"))
writer.trigger(availableNow=True).start().awaitTermination()
deadline = time.monotonic() + 15
while len(batches) < 3 and time.monotonic() < deadline:
    time.sleep(0.1)
spark.streams.removeListener(listener)
answer["stream"] = [
    spark.read.parquet(str(folder / "out")).count(),
    sum(batches),
    transform.metrics()[0].counters.events_in,
]
print("ANSWER " + json.dumps(answer))
spark.stop()
