"""Run by a test in a process of its own: a task fails once and is run again; what is counted must not double."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from spark_udf import WasmTransform, make_session
from spark_udf.samples import sample_frame
from tests.integration.guests import PASS

flag = Path(sys.argv[1]) / "failed"


def fail_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    # After the transform: its counts of this attempt exist by then, and must be forgotten.
    for number, batch in enumerate(batches):
        yield batch
        context = TaskContext.get()
        assert context is not None
        if number == 0 and context.partitionId() == 1 and context.attemptNumber() == 0:
            flag.touch()
            os._exit(3)


spark = make_session("retry", master="local[2,4]")
spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
frame = sample_frame(spark, 5_000, partitions=3)
transform = WasmTransform(PASS)
out = transform.apply(frame)
rows = out.mapInArrow(fail_once, out.schema).count()
print(rows, transform.metrics()[0].counters.events_in, int(flag.exists()))
spark.stop()
