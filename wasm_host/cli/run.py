"""`wasm-host run`: a file or a pipe of events through a module, without Spark."""

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, get_args

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from abi import formats
from wasm_host.cli.console import err
from wasm_host.cli.inputs import module_options, read_config, read_limits, read_wasm
from wasm_host.cli.misuse import refuse
from wasm_host.cli.streams.atomic_file import AtomicFile
from wasm_host.cli.streams.containers import (
    CONTAINERS,
    check_fits,
    container_of,
    format_for_output,
    output_format,
)
from wasm_host.cli.streams.dead_letters import DeadLetters, LetterFormat
from wasm_host.cli.streams.feed import Feed, check_format
from wasm_host.cli.streams.pump import Counts, Pump, conversion
from wasm_host.cli.streams.readers import ParquetReader, open_reader
from wasm_host.cli.streams.writers import open_writer
from wasm_host.guest import Guest, load
from wasm_host.limits import Limits
from wasm_host.report.figures import short_count

_CONTAINER = click.Choice(CONTAINERS)


@click.command(
    "run",
    epilog="Example: wasm-host run mask_pii.wasm --config mask.toml --input events.pb --output masked.pb "
    "--dead-letters dead.ndjson. Exit status: 0 done, 1 an event failed and there was no --dead-letters, 2 bad usage.",
)
@module_options()
@click.option("--input", "-i", "source", required=True, metavar="FILE", help="Events; - is the standard input.")
@click.option("--output", "-o", "target", required=True, metavar="FILE", help="Events; - is the standard output.")
@click.option(
    "--format", "format_name", metavar="NAME", help=f"Of the input: {', '.join(formats.FORMATS)}; told from it."
)
@click.option("--output-format", metavar="NAME", help="Of the output; the input's where it fits.")
@click.option("--container", type=_CONTAINER, help="Of the input; told from the file's name.")
@click.option("--output-container", type=_CONTAINER, help="Of the output; told from the file's name.")
@click.option("--column", default="event", show_default=True, help="Column of events in Parquet files.")
@click.option("--dead-letters", metavar="FILE", help="Keep failed events here and go on.")
@click.option(
    "--dead-letter-format", type=click.Choice(get_args(LetterFormat)), default="ndjson", show_default=True,
    help="Our own records, or OpenCDC's.",
)  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="No progress and no counts.")
def command(
    module: Path,
    config_file: Path | None,
    limits_file: Path | None,
    wasi: bool,
    source: str,
    target: str,
    format_name: str | None,
    output_format: str | None,
    container: str | None,
    output_container: str | None,
    column: str,
    dead_letters: str | None,
    dead_letter_format: LetterFormat,
    quiet: bool,
) -> None:
    """Run events through MODULE. Memory stays constant; an interrupted run leaves no half-written output."""
    limits = read_limits(limits_file)
    wasm = read_wasm(module, limits)
    config = read_config(config_file)
    _check_names(source, target, dead_letters, format_name, output_format)
    container = container_of(source, container, format_name, "--container")
    reader = open_reader(container, source, max_event_bytes=limits.max_memory_bytes, column=column)
    with closing(reader), _load(wasm, config, limits, wasi=wasi) as guest:
        feed = Feed(reader)
        format_name = format_name or feed.detect(container)
        check_fits(format_name, container)
        output_container = container_of(
            target, output_container or (container if target == "-" else None), output_format, "--output-container"
        )
        output_format = output_format or format_for_output(output_container, format_name)
        check_fits(output_format, output_container)
        letters = DeadLetters(dead_letters, dead_letter_format, guest.module.digest) if dead_letters else None
        pump = Pump(guest, conversion(format_name), _encoder(output_format, output_container), letters)
        with _sigterm_as_interrupt():
            counts = _transfer(pump, feed, target, output_container, column, is_quiet=quiet)
    if not quiet:
        err().print(_summary(counts))


def _load(wasm: bytes, config: dict[str, Any], limits: Limits, *, wasi: bool) -> Guest:
    with _signals_for_main_thread():
        return load(wasm, config=config or None, limits=limits, wasi=wasi)


def _check_names(
    source: str, target: str, dead_letters: str | None, format_name: str | None, output_format: str | None
) -> None:
    check_format(format_name)
    check_format(output_format)
    files = [Path(path).resolve() for path in (source, target, dead_letters) if path and path != "-"]
    if len(set(files)) < len(files):
        refuse("input, output and dead letters must be different files", "name another output")


def _encoder(name: str, container: str) -> formats.Format | None:
    if name == "protobuf":
        return None
    if container == "avro":
        return formats.get(name, framing="plain")
    return output_format(name, container)


def _transfer(pump: Pump, feed: Feed, target: str, container: str, column: str, *, is_quiet: bool) -> Counts:
    columns = feed.reader.schema if isinstance(feed.reader, ParquetReader) else None
    file = AtomicFile(target)
    try:
        writer = open_writer(container, file.stream, column=column, columns=columns)
        with _progress(feed.path, is_quiet=is_quiet) as advance:
            counts = pump.run(feed, writer, advance)
        writer.close()
        if pump.dead_letters is not None:
            pump.dead_letters.commit()
        file.commit()
    finally:
        # After a commit there is nothing left to discard; after anything else nothing may be left behind.
        file.discard()
        if pump.dead_letters is not None:
            pump.dead_letters.discard()
    return counts


@contextmanager
def _progress(path: str, *, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, nothing elsewhere."""
    console = err()
    if is_quiet or not console.is_terminal:
        yield lambda _: None
        return
    total = Path(path).stat().st_size if path != "-" else None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("events", total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def _signals_for_main_thread() -> Iterator[None]:
    """Threads that are started inside inherit that they take no signals.

    Otherwise a signal may reach the sandbox's clock, while the main thread waits in a read that nothing interrupts.
    """
    mask = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, mask)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """A polite kill cleans up like Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _summary(counts: Counts) -> str:
    rate = counts.events_in / counts.seconds if counts.seconds else 0.0
    return (
        f"{counts.events_in:,} in, {counts.events_out:,} out, {counts.dropped:,} dropped, {counts.failed:,} failed; "
        f"{counts.seconds:.2f} s, {short_count(rate)} events/s, {counts.fuel:,} fuel"
    )
