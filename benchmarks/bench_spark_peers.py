"""How does a sandboxed transform in Spark compare with what people would write instead, and how does it grow?

    python -m benchmarks.bench_spark_peers [--events 1000000] [--part PART] [--json FILE]

Question: redaction of two fields in both row images of events of about 470 bytes, Parquet in, nothing out (`sinks`:
Parquet out), on `local[2]`. Parts:

masking   identity and our transform through mapInArrow and mapInPandas; the native pipeline in mapInPandas; the
          strongest Python (mapInArrow, upb, orjson); a plain UDF; Spark SQL on the JVM. SQL cannot read protobuf with
          what Spark ships, so it is given the envelope as columns, with row images as JSON text (parsed with a schema,
          or by a regular expression), and as a bound that nobody reaches with events: all columns flat already.
sinks     some of these with Parquet at the other end.
tenants   1, 10, 100 and 1,000 tenants, each with a module (another digest) and a configuration of its own.
growth    10 thousand to 10 million events (the largest is the million read ten times), and one core against two.
batches   100 to 100,000 rows in an Arrow batch.

Method: `benchmarks/method.py`, by the wall clock, or with `--clock processor` in processor seconds of the JVM and all
workers together, which other work on the machine does not blur (and which says nothing about cores). Every run's rows
are counted by an observation, which all variants pay for. Excluded: the start of Spark and of the workers, admission on
the driver (printed for the tenants), making the events.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)

import guest_examples
from benchmarks.method import (
    Comparison,
    Variant,
    compare,
    machine_lines,
    peak_memory_line,
    tree_processor_seconds,
)
from benchmarks.peers import spark_variants as peers
from spark_udf import TenantTransforms, WasmTransform, make_session
from spark_udf.samples import sample_frame

IDENTITY, IDENTITY_PANDAS = "identity, mapInArrow", "identity, mapInPandas"
OURS, OURS_PANDAS, PASS = "redaction, ours", "redaction, ours, mapInPandas", "pass-through, ours"
PASS_PANDAS = "pass-through, ours, mapInPandas"
NATIVE, FAST, UDF = "redaction, native in mapInPandas", "redaction, upb + orjson", "redaction, plain UDF (orjson)"
SQL_JSON, SQL_REGEX, SQL_FLAT = (
    "redaction, SQL on JSON columns",
    "redaction, SQL regexp",
    "redaction, SQL, flat columns",
)
PARTS = ("masking", "sinks", "tenants", "growth", "batches")
TENANTS = (1, 10, 100, 1_000)
MAX_GROWTH = 10.5
BATCH_ROWS = (100, 1_000, 10_000, 100_000)
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": tree_processor_seconds}
Sink = Callable[[DataFrame], None]


def to_noop(frame: DataFrame) -> None:
    """Write nowhere."""
    frame.write.format("noop").mode("overwrite").save()


class SparkPeers:
    """The session, its input and the figures."""

    def __init__(self, spark: SparkSession, folder: Path, events: int, rounds: int, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.only: tuple[str, ...] = ("",)
        self.spark, self.folder, self.rounds = spark, folder, rounds
        self.asked = events
        self.rows = self._stored("events", lambda: sample_frame(spark, events).where("id % 4000 <> 3999"))
        self.events = self.rows.count()
        self.results: dict[str, Any] = {}

    def _stored(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        path = self.folder / f"{name}-{self.asked}"
        if not (path / "_SUCCESS").exists():
            make().write.mode("overwrite").parquet(str(path))
        return self.spark.read.parquet(str(path))

    def variant(
        self, frame: DataFrame, *, sink: Sink = to_noop, expected: int | None = None, slow: bool = False
    ) -> Variant:
        """One way to do the work; counts rows on the way to the sink."""

        def run() -> int:
            counted = Observation()
            sink(frame.observe(counted, F.count(F.lit(1)).alias("rows")))
            return int(counted.get["rows"])

        return Variant(run, self.events if expected is None else expected, rounds=1 if slow else None)

    def show(self, part: str, result: Comparison, base: str) -> None:
        """Print a table and keep its figures."""
        print(f"\n{part}: {result.events:,} events")
        result.print_table(base)
        self.results[part] = {
            "events": result.events,
            "noise": result.noise,
            "seconds": {name: result.median(name) for name in result.seconds},
        }

    def masking_frames(self) -> dict[str, DataFrame]:
        """All ways to mask, and to do nothing."""
        rows, schema = self.rows, self.rows.schema
        columns = self._stored("columns", lambda: rows.mapInArrow(peers.as_columns, peers.COLUMNS_SCHEMA))
        flat = self._stored(
            "flat",
            lambda: columns.withColumns(
                {image: F.from_json(image, peers.IMAGE_SCHEMA) for image in ("before", "after")}
            ),
        )
        ours = WasmTransform(guest_examples.path("mask_pii"), config=peers.REDACT)
        nothing = WasmTransform(guest_examples.path("pass_through"))
        return {
            IDENTITY: rows.mapInArrow(peers.identity_arrow, schema),
            PASS: nothing.apply(rows),
            OURS: ours.apply(rows),
            IDENTITY_PANDAS: rows.mapInPandas(peers.identity_pandas, schema),
            PASS_PANDAS: nothing.apply(rows, via="pandas"),
            OURS_PANDAS: ours.apply(rows, via="pandas"),
            FAST: rows.mapInArrow(peers.strongest_python, schema),
            UDF: peers.plain_udf(rows),
            SQL_JSON: peers.sql_json(columns),
            SQL_REGEX: peers.sql_regex(columns),
            SQL_FLAT: peers.sql_flat(flat),
            NATIVE: rows.mapInPandas(peers.native_pandas, schema),
        }

    def masking(self) -> None:
        """Ours beside the others."""
        frames = self.masking_frames()
        variants = {
            name: self.variant(frame, slow=name == NATIVE)
            for name, frame in frames.items()
            if name == IDENTITY or any(word in name for word in self.only)
        }
        result = compare(variants, events=self.events, control=IDENTITY, rounds=self.rounds, clock=self.clock)
        self.show("masking", result, IDENTITY)
        for name, ours, other, least in (
            ("pass-through / identity, mapInArrow", PASS, IDENTITY, 0.95),
            ("pass-through / identity, mapInPandas", PASS_PANDAS, IDENTITY_PANDAS, 0.95),
            ("redaction / identity, mapInArrow", OURS, IDENTITY, 0.85),
            ("redaction / native pipeline in mapInPandas", OURS, NATIVE, 7),
            ("redaction / strongest Python", OURS, FAST, 1.7),
            ("redaction / Spark SQL on JSON columns", OURS, SQL_JSON, 1),
        ):
            if ours not in variants or other not in variants:
                continue
            value = result.ratio(ours, other)
            print(f"  target {name}: {value:.2f}, at least {least}: {'met' if value >= least else 'MISSED'}")

    def sinks(self) -> None:
        """The same with Parquet at the other end."""
        target = str(self.folder / "out")

        def to_parquet(frame: DataFrame) -> None:
            frame.write.mode("overwrite").parquet(target)

        frames = self.masking_frames()
        names = (IDENTITY, PASS, OURS, OURS_PANDAS, FAST, SQL_JSON)
        variants = {name: self.variant(frames[name], sink=to_parquet) for name in names}
        rounds = max(self.rounds // 2, 1)
        self.show(
            "sinks", compare(variants, events=self.events, control=IDENTITY, rounds=rounds, clock=self.clock), IDENTITY
        )

    def tenants(self) -> None:
        """More and more tenants in one job."""
        code = guest_examples.load_wasm("mask_pii")
        variants = {}
        for count in TENANTS:
            transforms = {
                f"t{number}": WasmTransform(_relabelled(code, number), config=_own(number)) for number in range(count)
            }
            rows = self.rows.withColumn("tenant", F.concat(F.lit("t"), F.col("id") % count))
            started = time.perf_counter()
            frame = TenantTransforms(transforms).apply(rows, tenant="tenant", keep=["id", "tenant_id"])
            print(f"  {count:5,} tenants admitted on the driver in {time.perf_counter() - started:.1f} s")
            variants[f"{count:,} tenants"] = self.variant(frame)
        result = compare(variants, events=self.events, control="1 tenants", rounds=self.rounds, clock=self.clock)
        self.show("tenants", result, "1 tenants")
        ratio = result.ratio("1,000 tenants", "1 tenants")
        print(f"  target 1,000 tenants / 1 tenant: {ratio:.2f}, at least 0.5: {'met' if ratio >= 0.5 else 'MISSED'}")

    def growth(self) -> None:
        """Ten times the events, again and again; and half the cores."""
        ours = WasmTransform(guest_examples.path("mask_pii"), config=peers.REDACT)
        million = self.rows
        sizes: dict[int, tuple[DataFrame, int]] = {}
        for share in (100, 10):
            count = million.where(F.col("id") < self.asked // share).count()
            sizes[self.asked // share] = (million.where(F.col("id") < self.asked // share), count)
        sizes[self.asked] = (million, self.events)
        many = million
        for _ in range(9):
            many = many.unionAll(million)
        sizes[10 * self.asked] = (many, 10 * self.events)
        seconds = {}
        for asked, (rows, count) in sizes.items():
            variants = {"redaction": self.variant(ours.apply(rows), expected=count)}
            result = compare(
                variants,
                events=count,
                control="redaction",
                rounds=1 if asked > self.asked else self.rounds,
                clock=self.clock,
            )
            seconds[asked] = result.median("redaction")
            print(f"  {asked:>11,} events: {seconds[asked]:8.2f} s   ({result.noise_line()})")
        self.results["growth"] = {"seconds": {str(asked): value for asked, value in seconds.items()}}
        factor = seconds[10 * self.asked] / seconds[self.asked]
        verdict = "met" if factor <= MAX_GROWTH else "MISSED"
        print(f"  target ten times the events: {factor:.2f} times the time, at most {MAX_GROWTH}: {verdict}")
        # One partition keeps one core busy, in the same session.
        one_core = {"two cores": ours.apply(million), "one core": ours.apply(million.coalesce(1))}
        variants = {name: self.variant(frame) for name, frame in one_core.items()}
        result = compare(
            variants, events=self.events, control="two cores", rounds=max(self.rounds // 2, 1), clock=self.clock
        )
        self.show("cores", result, "one core")

    def batches(self) -> None:
        """Rows in an Arrow batch."""
        ours = WasmTransform(guest_examples.path("mask_pii"), config=peers.REDACT)
        key = "spark.sql.execution.arrow.maxRecordsPerBatch"
        variants: dict[str, Variant] = {}
        for rows in BATCH_ROWS:
            identity = self.rows.mapInArrow(peers.identity_arrow, self.rows.schema)
            inner = {"ours": self.variant(ours.apply(self.rows)), "identity": self.variant(identity)}
            for name, variant in inner.items():

                def run(rows: int = rows, variant: Variant = variant) -> int:
                    self.spark.conf.set(key, str(rows))
                    return variant.run()

                variants[f"{name}, {rows:,} rows"] = Variant(run, variant.expected)
        result = compare(
            variants, events=self.events, control="ours, 10,000 rows", rounds=max(self.rounds // 2, 1), clock=self.clock
        )
        self.spark.conf.unset(key)
        self.show("batches", result, "identity, 10,000 rows")


def _own(number: int) -> dict[str, Any]:
    return {"rules": [{"path": path, "action": "redact", "marker": f"#{number}"} for path in peers.FIELDS]}


def _relabelled(code: bytes, number: int) -> bytes:
    """The same module with a custom section: other bytes, another digest, compiled and cached on its own."""
    name = b"tenant"
    content = bytes([len(name)]) + name + number.to_bytes(4, "little")
    return code + b"\0" + bytes([len(content)]) + content


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this (repeatable)")
    parser.add_argument(
        "--only", action="append", metavar="WORD", help="masking: only variants with this in their name"
    )
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: for a machine with other work")
    parser.add_argument("--folder", type=Path, help="keep the generated events here and use them again")
    parser.add_argument("--json", type=Path, help="write the figures here, for the plots")
    options = parser.parse_args()
    print("\n".join(machine_lines()))
    print(f"seconds are those of the {options.clock}")
    with tempfile.TemporaryDirectory(prefix="bench-spark-") as temporary:
        spark = make_session("bench", conf={"spark.driver.memory": "4g"})
        bench = SparkPeers(
            spark, options.folder or Path(temporary), options.events, options.rounds, CLOCKS[options.clock]
        )
        bench.only = tuple(options.only or bench.only)
        for part in options.part or PARTS:
            getattr(bench, part)()
        spark.stop()
    print(peak_memory_line())
    if options.json:
        # Parts that were measured in other runs stay.
        earlier = json.loads(options.json.read_text())["parts"] if options.json.exists() else {}
        options.json.write_text(
            json.dumps({"machine": machine_lines(), "parts": {**earlier, **bench.results}}, indent=1)
        )


if __name__ == "__main__":
    main()
