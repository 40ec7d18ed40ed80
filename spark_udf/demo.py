"""The demo: three tenants' modules in one Spark job. One masks, one filters, one misbehaves.

python -m spark_udf.demo [--events 300000] [--folder somewhere]
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table
from rich.text import Text

import guest_examples
from abi import Event, Operation
from spark_udf.java import ensure_java
from spark_udf.job import JobReport, read_output, run_job
from spark_udf.samples import TENANTS, sample_frame
from spark_udf.session import make_session
from spark_udf.step import Engine

DEFAULT_EVENTS = 300_000
_NATIVE_EVENTS = 60_000

_TENANTS = """\
# Who runs which module, with which configuration and limits.
tenant = "tenant_id"
unknown = "dead_letter"

[defaults]
on_error = "dead_letter"

[tenants.acme]                       # hides personal data; the key never leaves driver and workers
module = "mask_pii.wasm"
config.hmac_key = { file = "acme.key" }
config.rules = [
    { path = "email", action = "hmac" },
    { path = "phone", action = "keep_last", n = 4 },
    { path = "name", action = "redact" },
    { path = "address.street", action = "redact" },
    { path = "iban", action = "redact" },
]

[tenants.globex]                     # wants only changes of active customers
module = "filter_rows.wasm"
config.operations = ["INSERT", "UPDATE"]
config.where = { field = "status", op = "=", value = "active" }

[tenants.initech]                    # its module spins, traps, swallows memory and lies
module = "misbehaving.wasm"
limits = { fuel_per_event = 200_000, max_memory_bytes = 16_777_216 }
"""


def run(*, events: int = DEFAULT_EVENTS, folder: str | Path | None = None, console: Console | None = None) -> None:
    """Generate events, run the job, and show what came of it.

    Args:
        events: How many sample events.
        folder: Where input and output are kept; by default a temporary folder, which is removed.
        console: Where to print.
    """
    # Tables of events need room; where the output is not a terminal, nobody knows how much there is.
    out = console or (Console() if Console().is_terminal else Console(width=150))
    if folder is not None:
        _run_in(Path(folder), events, out)
        out.print(f"\nEverything is in [bold]{folder}[/bold].")
        return
    with tempfile.TemporaryDirectory(prefix="wasm-host-demo-") as temporary:
        _run_in(Path(temporary), events, out)


def _run_in(folder: Path, events: int, out: Console) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tenants = _write_tenants(folder)
    out.print(f"[bold]wasm-host demo[/bold]: {events:,} change events of three tenants, Java from {ensure_java()}")
    spark = make_session("wasm-host demo")
    try:
        started = time.perf_counter()
        sample_frame(spark, events).write.mode("overwrite").parquet(str(folder / "events"))
        out.print(f"generated {folder / 'events'} in {time.perf_counter() - started:.1f} s")
        shutil.rmtree(folder / "out", ignore_errors=True)
        report = run_job(source=folder / "events", target=folder / "out", tenants=tenants, spark=spark)
        good, dead = read_output(spark, folder / "out")
        assert dead is not None
        before = spark.read.parquet(str(folder / "events"))
        _show_rows(out, before, good)
        _show_dead(out, dead)
        _show_ledger(out, report)
        _show_totals(out, events, good, dead, report)
        _show_rates(out, spark, folder, tenants, events)
    finally:
        spark.stop()


def _write_tenants(folder: Path) -> Path:
    misbehaving = Path(guest_examples.__file__).parent / "misbehaving" / "misbehaving.wasm"
    text = _TENANTS.replace('"mask_pii.wasm"', f'"{_module("mask_pii")}"')
    text = text.replace('"filter_rows.wasm"', f'"{_module("filter_rows")}"')
    text = text.replace('"misbehaving.wasm"', f'"{misbehaving}"')
    (folder / "acme.key").write_text("a key for the demo, which is no secret\n")
    path = folder / "tenants.toml"
    path.write_text(text)
    return path


def _module(name: str) -> Path:
    default = guest_examples.path(name)
    return default if default.exists() else guest_examples.path(name, guest_examples.languages_of(name)[0])


def _show_rows(out: Console, before: DataFrame, good: DataFrame) -> None:
    table = Table(title="A few rows, before and after", title_justify="left", show_lines=True)
    for heading in ("tenant", "id", "op", "after image: before the transform", "after it"):
        table.add_column(heading, overflow="fold")
    wanted = []
    for tenant in TENANTS:
        # One row that came through, and the first one of all.
        for frame in (good, before):
            wanted += [row.id for row in frame.where(f"tenant_id = '{tenant}'").orderBy("id").limit(1).collect()]
    originals = before.where(before.id.isin(wanted)).orderBy("tenant_id", "id").collect()
    results = {row.id: row.event for row in good.where(good.id.isin(wanted)).collect()}
    for row in originals:
        event = Event.FromString(bytes(row.event))
        result = results.get(row.id)
        shown = "dropped" if result is None else _image(Event.FromString(bytes(result)))
        table.add_row(row.tenant_id, str(row.id), Operation.Name(event.op), Text(_image(event)), Text(shown))
    out.print(table)


def _image(event: Event) -> str:
    return (event.after or event.before).decode("utf-8", "replace")


def _show_dead(out: Console, dead: DataFrame) -> None:
    table = Table(title="Dead letters, one of each reason", title_justify="left")
    for heading in ("tenant", "code", "count", "message"):
        table.add_column(heading, overflow="fold")
    reasons = dead.selectExpr("tenant_id", "failure.code AS code", "failure.message AS message")
    reasons = reasons.groupBy("tenant_id", "code").agg({"message": "min", "*": "count"}).orderBy("tenant_id", "code")
    for row in reasons.collect():
        table.add_row(row["tenant_id"], row["code"], f"{row['count(1)']:,}", Text(row["min(message)"]))
    out.print(table)


def _show_ledger(out: Console, report: JobReport) -> None:
    table = Table(title="Ledger, by tenant and module", title_justify="left")
    for heading in ("tenant", "module", "in", "out", "dropped", "failed", "fuel", "MB in", "MB out", "guest s"):
        table.add_column(heading, justify="left" if heading in ("tenant", "module") else "right")
    for record in report.metrics:
        counters = record.counters
        table.add_row(
            record.tenant, (record.module or "")[:12], f"{counters.events_in:,}", f"{counters.events_out:,}",
            f"{counters.events_dropped:,}", f"{counters.events_failed:,}", f"{counters.fuel:,}",
            f"{counters.bytes_in / 1e6:.1f}", f"{counters.bytes_out / 1e6:.1f}", f"{counters.guest_seconds:.2f}",
        )  # fmt: skip
    out.print(table)


def _show_totals(out: Console, events: int, good: DataFrame, dead: DataFrame, report: JobReport) -> None:
    good_count, dead_count = good.count(), dead.count()
    dropped = sum(record.counters.events_dropped for record in report.metrics)
    verdict = "every event is accounted for" if good_count + dead_count + dropped == events else "THIS DOES NOT ADD UP"
    out.print(
        f"written: {good_count:,} good rows and {dead_count:,} dead letters; filtered out: {dropped:,}; "
        f"of {events:,} events: [bold]{verdict}[/bold]"
    )


def _show_rates(out: Console, spark: SparkSession, folder: Path, tenants: Path, events: int) -> None:
    """The same job once more, warm, and then with the modules' twins in plain Python on some of the same data."""
    some = min(_NATIVE_EVENTS, events)
    rows = spark.read.parquet(str(folder / "events")).where(f"id < {some}")
    rows.repartition(4).write.mode("overwrite").parquet(str(folder / "some"))
    wasm = _rate(spark, folder, tenants, "events", events, "wasm")
    native = _rate(spark, folder, tenants, "some", some, "native")
    out.print(
        f"\nrate, Parquet to Parquet, on two cores: [bold]{wasm:,.0f} events/s[/bold] through WebAssembly; "
        f"{native:,.0f} events/s with the same transforms in plain Python (on {some:,} of the events): "
        f"[bold]{wasm / native:.1f} times[/bold] as fast, and sandboxed"
    )


def _rate(spark: SparkSession, folder: Path, tenants: Path, source: str, events: int, engine: Engine) -> float:
    shutil.rmtree(folder / "again", ignore_errors=True)
    report = run_job(source=folder / source, target=folder / "again", tenants=tenants, engine=engine, spark=spark)
    return events / report.seconds


def main() -> None:
    """Run the demo from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=DEFAULT_EVENTS, help="how many sample events")
    parser.add_argument("--folder", help="keep input and output in this folder")
    arguments = parser.parse_args()
    run(events=arguments.events, folder=arguments.folder)


if __name__ == "__main__":
    main()
