"""`wasm-host bench`: how fast a module is, and against its native twin."""

import json
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import pyarrow as pa
from rich.table import Table

from abi import formats
from wasm_host.cli.console import out
from wasm_host.cli.inputs import module_options, read_config, read_limits, read_wasm
from wasm_host.cli.misuse import refuse
from wasm_host.cli.streams.containers import CONTAINERS, check_fits, container_of
from wasm_host.cli.streams.feed import Feed, check_format
from wasm_host.cli.streams.readers import open_reader
from wasm_host.generate import generate_events
from wasm_host.guest import Guest, load
from wasm_host.harness.reference import load_twin
from wasm_host.native import Pipeline
from wasm_host.report.charts import bars
from wasm_host.report.figures import short_count

_MIN_SECONDS = 0.3
_REPEATS = 5


@dataclass(frozen=True, slots=True)
class Measurement:
    """One contender: medians over repeats that took turns with the others'."""

    name: str
    events_per_second: float
    megabytes_per_second: float
    fuel_per_event: float | None
    spread: float


@click.command(
    "bench",
    epilog="Example: wasm-host bench mask_pii.wasm --config mask.toml --against guest_examples.mask_pii.twin:build "
    "--plot bench.svg.",
)
@module_options()
@click.option("--against", metavar="PACKAGE.MODULE:NAME", help="Native twin to compare with.")
@click.option("--input", "source", metavar="FILE", help="Events to use (- is a pipe); generated ones if left out.")
@click.option(
    "--format", "format_name", metavar="NAME", help=f"Of the input: {', '.join(formats.FORMATS)}; told from it."
)
@click.option("--container", type=click.Choice(CONTAINERS), help="Of the input; told from the file's name.")
@click.option("--column", default="event", show_default=True, help="Column of events in Parquet files.")
@click.option(
    "--events", "count", type=click.IntRange(100, 1_000_000), default=10_000, show_default=True, help="How many."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of generated events.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Write the comparison as SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    module: Path,
    config_file: Path | None,
    limits_file: Path | None,
    wasi: bool,
    against: str | None,
    source: str | None,
    format_name: str | None,
    container: str | None,
    column: str,
    count: int,
    seed: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure MODULE on one core: events/s, MB/s, fuel."""
    if plot is not None and plot.suffix.lower() != ".svg":
        refuse(f"a plot is written as SVG, not as {plot.suffix or 'a file without ending'}", "name it something.svg")
    limits = read_limits(limits_file)
    wasm, config = read_wasm(module, limits), read_config(config_file)
    check_format(format_name)
    if source is None:
        if format_name or container:
            refuse("--format and --container are of an input", "give it with --input FILE")
        events = pa.array(generate_events(seed, count), pa.binary())
    else:
        container = container_of(source, container, format_name, "--container")
        reader = open_reader(container, source, max_event_bytes=limits.max_memory_bytes, column=column)
        with closing(reader):
            events = _read_events(Feed(reader), container, format_name, count)
    contenders: list[tuple[str, Guest | Pipeline]] = []
    if against:
        contenders.append(("native twin", Pipeline([load_twin(against)(config)])))
    with load(wasm, config=config or None, limits=limits, wasi=wasi) as guest:
        contenders.insert(0, ("wasm", guest))
        measured = measure(contenders, events)
    if plot is not None:
        _write_plot(plot, module.name, measured)
    if as_json:
        click.echo(json.dumps([asdict(item) for item in measured], indent=2))
    else:
        _print(measured, len(events), module.name)


def measure(contenders: Sequence[tuple[str, Guest | Pipeline]], events: pa.Array) -> list[Measurement]:
    """Run each contender several times, taking turns, so that a busy moment of the machine hits all of them."""
    rates: dict[str, list[float]] = {name: [] for name, _ in contenders}
    fuel: dict[str, float] = {}
    size = 0.0
    for name, contender in contenders:  # warm up, and see what an event costs
        stats = contender.transform(events).stats
        fuel[name] = stats.fuel / len(events)
        size = stats.bytes_in / len(events)
    for _ in range(_REPEATS):
        for name, contender in contenders:
            done, started = 0, time.perf_counter()
            while done == 0 or time.perf_counter() - started < _MIN_SECONDS:
                contender.transform(events)
                done += len(events)
            rates[name].append(done / (time.perf_counter() - started))
    return [_summary(name, rates[name], size, fuel[name]) for name, _ in contenders]


def _summary(name: str, rates: list[float], size: float, fuel: float) -> Measurement:
    median = statistics.median(rates)
    spread = (max(rates) - min(rates)) / median
    return Measurement(name, median, median * size / 1e6, fuel or None, spread)


def _read_events(feed: Feed, container: str, format_name: str | None, count: int) -> pa.Array:
    """The first events of a file, as canonical ones: reading a format is not what is measured."""
    format_name = format_name or feed.detect(container)
    check_fits(format_name, container)
    documents: list[bytes] = []
    for chunk in feed.chunks():
        documents += [document for document in chunk.documents.to_pylist() if document is not None]
        if len(documents) >= count:
            break
    if not documents:
        refuse(f"{feed.path} holds no events", "give a file with some")
    events, failures = formats.get(format_name).decode_batch(pa.array(documents[:count], pa.binary()))
    if failures:
        refuse(f"{feed.path}: event {failures[0].row} cannot be read: {failures[0].message}", "correct the file")
    return events


def _print(measured: list[Measurement], count: int, name: str) -> None:
    table = Table(title=f"{name}: {count:,} events a batch, one core", title_justify="left", box=None, pad_edge=False)
    for heading in ("", "events/s", "MB/s", "fuel/event", "spread", "ratio"):
        table.add_column(heading, justify="left" if not heading else "right")
    slowest = measured[-1].events_per_second
    for item in measured:
        table.add_row(
            item.name,
            f"{item.events_per_second:,.0f}",
            f"{item.megabytes_per_second:,.1f}",
            f"{item.fuel_per_event:,.0f}" if item.fuel_per_event else "-",
            f"{item.spread:.0%}",
            f"{item.events_per_second / slowest:.1f}x",
        )
    out().print(table)


def _write_plot(plot: Path, name: str, measured: list[Measurement]) -> None:
    rows = [(item.name, item.events_per_second, f"{short_count(item.events_per_second)} events/s") for item in measured]
    try:
        plot.write_text(bars(rows, title=f"{name}, events a second on one core"), encoding="utf-8")
    except OSError as error:
        refuse(f"cannot write {plot}: {error.strerror}", "give a file in a folder that exists")
