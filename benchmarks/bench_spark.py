"""How fast is the path through Spark, beside doing nothing and beside plain Python?

    python -m benchmarks.bench_spark --events 1000000

Question: what does a sandboxed transform cost on top of the bridge between the JVM and Python? So everything is set
against an identity mapInArrow on the same rows (id, tenant columns and an event of about 470 bytes), read from Parquet
and written nowhere. Axes: the way (Arrow, pandas), the transform (pass-through, redaction of two fields in both row
images, keyed HMAC of one), native Python, one tenant or a thousand.

Method: all variants are run in turn, several rounds, and the medians are compared; the identity runs twice in each
round, and the ratio of the two (A/A) says how much of a difference is noise. Every run's counts are checked. Excluded:
the start of Spark and of the workers, generating the events, the first (warming) round.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)

import guest_examples
from abi import Event
from spark_udf import TenantTransforms, WasmTransform, make_session
from spark_udf.samples import sample_frame

REDACT = {"rules": [{"path": "email", "action": "redact"}, {"path": "phone", "action": "redact"}]}
HMAC = {"rules": [{"path": "email", "action": "hmac"}], "hmac_key": "0123456789abcdef0123456789abcdef"}
MANY = 1_000

Variant = Callable[[], DataFrame]


def identity_arrow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Nothing, through mapInArrow."""
    yield from batches


def identity_pandas(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Nothing, through mapInPandas."""
    yield from frames


def native_redact(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What somebody would write by hand: protobuf in C, json of the standard library."""
    for batch in batches:
        events = []
        for data in batch.column("event").to_pylist():
            event = Event.FromString(data)
            for image in ("before", "after"):
                if event.HasField(image):
                    row = json.loads(getattr(event, image))
                    for name in ("email", "phone"):
                        if row.get(name) is not None:
                            row[name] = "***"
                    text = json.dumps(row, separators=(",", ":"), ensure_ascii=False)
                    setattr(event, image, text.encode())
            events.append(event.SerializeToString())
        position = batch.schema.get_field_index("event")
        yield batch.set_column(position, batch.schema.field(position), pa.array(events, pa.binary()))


class Bench:
    """All variants over the same rows."""

    def __init__(self, rows: DataFrame, events: int) -> None:
        self.rows = rows
        self.events = events
        schema = rows.schema
        mask = guest_examples.path("mask_pii")
        self.transforms = {
            "pass-through, wasm": WasmTransform(guest_examples.path("pass_through")),
            "redaction, wasm": WasmTransform(mask, config=REDACT),
            "HMAC, wasm": WasmTransform(mask, config=HMAC),
            "redaction, wasm, mapInPandas": WasmTransform(mask, config=REDACT),
        }
        self.tenants = {
            "redaction, 1 tenant": TenantTransforms({"t": WasmTransform(mask, config=_own(0))}),
            "redaction, 1,000 tenants": TenantTransforms(
                {f"t{number}": WasmTransform(mask, config=_own(number)) for number in range(MANY)}
            ),
        }
        self.variants: dict[str, Variant] = {
            "identity, mapInArrow": lambda: rows.mapInArrow(identity_arrow, schema),
            "identity again (A/A)": lambda: rows.mapInArrow(identity_arrow, schema),
            "identity, mapInPandas": lambda: rows.mapInPandas(identity_pandas, schema),
            "redaction, native json": lambda: rows.mapInArrow(native_redact, schema),
            "redaction, 1 tenant": lambda: self.tenants["redaction, 1 tenant"].apply(rows, tenant="one"),
            "redaction, 1,000 tenants": lambda: self.tenants["redaction, 1,000 tenants"].apply(rows, tenant="many"),
        }
        for name, transform in self.transforms.items():
            via = "pandas" if "mapInPandas" in name else "arrow"
            self.variants[name] = lambda transform=transform, via=via: transform.apply(rows, via=via)

    def check_truth(self) -> None:
        """The redaction's output, event by event, against the native twin and against the hand-written one."""
        some = self.rows.where("id < 2000")
        results = [
            {row.id: bytes(row.event) for row in frame.select("id", "event").collect()}
            for frame in (
                self.transforms["redaction, wasm"].apply(some),
                self.transforms["redaction, wasm"].apply(some, engine="native"),
                some.mapInArrow(native_redact, some.schema),
            )
        ]
        assert len(results[0]) == some.count()
        assert results[0] == results[1], "wasm and its native twin differ"
        for number, event in results[0].items():
            wasm, by_hand = Event.FromString(event), Event.FromString(results[2][number])
            for image in ("before", "after"):
                # By value, not by bytes: json of the standard library writes 25.50 as 25.5.
                texts = [getattr(event, image) for event in (wasm, by_hand)]
                values = [json.loads(text or b"null") for text in texts]
                assert values[0] == values[1], f"event {number} differs"

    def run(self, name: str) -> float:
        """Run one variant and check what it counted."""
        metered = self.transforms.get(name) or self.tenants.get(name)
        if metered is not None:
            metered.reset_metrics()
        frame = self.variants[name]()
        started = time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        seconds = time.perf_counter() - started
        if metered is not None:
            counted = [record.counters for record in metered.metrics()]
            assert sum(counters.events_in for counters in counted) == self.events, name
            assert sum(counters.events_out for counters in counted) == self.events, name
        return seconds


def _own(number: int) -> dict[str, object]:
    return {"rules": [{"path": path, "action": "redact", "marker": f"#{number}"} for path in ("email", "phone")]}


def measure(bench: Bench, rounds: int, slow_rounds: int) -> dict[str, list[float]]:
    """Run all variants in turn; native Python is so slow that it gets fewer rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in bench.variants}
    for number in range(rounds + 1):
        for name in bench.variants:
            if "native" in name and number > slow_rounds:
                continue
            took = bench.run(name)
            if number > 0:
                seconds[name].append(took)
    return seconds


def report(seconds: dict[str, list[float]], events: int) -> None:
    """Print rates and ratios."""
    base = statistics.median(seconds["identity, mapInArrow"])
    print(f"{'variant':32} {'median s':>9} {'events/s':>11} {'x identity':>11}")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:32} {median:9.3f} {events / median:11,.0f} {base / median:11.2f}")
    wasm = statistics.median(seconds["redaction, wasm"])
    print(f"\nredaction, wasm against native json: {statistics.median(seconds['redaction, native json']) / wasm:.1f}x")
    one, many = (statistics.median(seconds[f"redaction, {name}"]) for name in ("1 tenant", "1,000 tenants"))
    print(f"1,000 tenants against 1 tenant: {one / many:.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--slow-rounds", type=int, default=2, help="rounds of the native variants")
    parser.add_argument("--folder", help="keep the generated events here and use them again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-spark-") as temporary:
        folder = Path(arguments.folder or temporary) / f"events-{arguments.events}"
        spark = make_session("bench", conf={"spark.driver.memory": "4g"})
        if not (folder / "_SUCCESS").exists():
            # Whole events only: a cut-off one would end the job, as it should.
            frame = sample_frame(spark, arguments.events).withColumn("one", F.lit("t"))
            frame = frame.withColumn("many", F.concat(F.lit("t"), F.col("id") % MANY)).where("id % 4000 <> 3999")
            frame.write.mode("overwrite").parquet(str(folder))
        rows = spark.read.parquet(str(folder))
        events = rows.count()
        bench = Bench(rows, events)
        bench.check_truth()
        print(f"{events:,} events, local[2], {arguments.rounds} rounds in turn\n")
        report(measure(bench, arguments.rounds, arguments.slow_rounds), events)
        spark.stop()


if __name__ == "__main__":
    main()
