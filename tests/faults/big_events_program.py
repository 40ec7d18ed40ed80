"""Run by a test in a process of its own: events of 64 MB between small ones, through masking."""

import guest_examples
import wasm_host
from abi import Event
from spark_udf import WasmTransform, make_session, split_failures

SIZE = 64_000_000
CONFIG = {"rules": [{"path": "email", "action": "redact"}]}
ROOMY = wasm_host.Limits(
    fuel_per_event=10_000_000_000, max_memory_bytes=512 << 20, max_output_bytes_per_event=128 << 20
)


def event_of(size: int) -> bytes:
    image = b'{"email":"a@example.com","pad":"' + b"x" * size + b'"}'
    return Event(table="t", after=image).SerializeToString()


spark = make_session("big", conf={"spark.driver.memory": "4g", "spark.driver.maxResultSize": "2g"})
sizes = [10, SIZE, 10, SIZE, 10]
frame = spark.createDataFrame(
    [(number, bytearray(event_of(size))) for number, size in enumerate(sizes)], "id int, event binary"
)
good, dead = split_failures(
    WasmTransform(guest_examples.path("mask_pii"), config=CONFIG, limits=ROOMY, on_error="dead_letter").apply(frame)
)
lengths = {row.id: row.length for row in good.selectExpr("id", "length(event) as length").collect()}
print("ROOMY", [lengths[number] - len(event_of(size)) for number, size in enumerate(sizes)], dead.count())
good, dead = split_failures(
    WasmTransform(guest_examples.path("mask_pii"), config=CONFIG, on_error="dead_letter").apply(frame)
)
print("DEFAULT", sorted(row.id for row in good.select("id").collect()),
      sorted((row.id, row.code) for row in dead.selectExpr("id", "failure.code as code").collect()))  # fmt: skip
spark.stop()
