"""`wasm-host spark`: the multi-tenant job without writing Python; the same options work under spark-submit."""

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from wasm_host.cli.console import out
from wasm_host.cli.misuse import EXIT_FAILED, refuse

_PLACE = "PATH|table:NAME"


def _print_script(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        _require_spark()
        from spark_udf import submit

        click.echo(submit.__file__)
        context.exit()


@click.command(
    "spark",
    epilog="Example: wasm-host spark --input events/ --output out/ --tenants tenants.toml "
    "--conf spark.driver.memory=4g. "
    'On a cluster: spark-submit --master URL "$(wasm-host spark --script)" --input table:db.events --output ...',
)
@click.option(
    "--input", "source", required=True, metavar=_PLACE, help="Folder, file or table of rows with a column of events."
)
@click.option("--output", "target", required=True, metavar=_PLACE, help="Folder or table for what comes out.")
@click.option(
    "--dead-letters", metavar=_PLACE, help="Rows that failed; if left out, in the output, partitioned by `outcome`."
)
@click.option(
    "--mode", type=click.Choice(("error", "append", "overwrite")), default="error", show_default=True,
    help="If an output exists.",
)  # fmt: skip
@click.option("--tenants", type=click.Path(path_type=Path), required=True, metavar="FILE", help="tenants.toml.")
@click.option("--tenant", metavar="COLUMN", help="Column or path of the tenant, if the tenants file does not name it.")
@click.option("--column", default="event", show_default=True, help="The column of events.")
@click.option("--input-format", default="parquet", show_default=True, help="A format that Spark reads.")
@click.option("--format", "format_name", metavar="NAME", help="Of the events; the tenants file's word, else protobuf.")
@click.option("--output-format", metavar="NAME", help="To write them in; the same if left out.")
@click.option("--via", type=click.Choice(("arrow", "pandas")), default="arrow", show_default=True, help="mapIn...")
@click.option("--engine", type=click.Choice(("wasm", "native", "shadow")), default="wasm", show_default=True)
@click.option("--unknown", type=click.Choice(("fail", "dead_letter", "drop")), help="Rows of unknown tenants.")
@click.option("--stream", is_flag=True, help="Go on where the last run ended; needs --checkpoint.")
@click.option("--checkpoint", metavar="DIR", help="Where a stream notes how far it is.")
@click.option("--master", help="Where to run; by default local[*], or what spark-submit was told.")
@click.option("--conf", multiple=True, metavar="NAME=VALUE", help="Any setting of Spark (repeatable).")
@click.option(
    "--script", is_flag=True, is_eager=True, expose_value=False, callback=_print_script,
    help="Print the file for spark-submit, which takes these options behind it.",
)  # fmt: skip
@click.option("--metrics", "shows_metrics", is_flag=True, help="Print the metrics in Prometheus' form as well.")
def command(
    source: str,
    target: str,
    dead_letters: str | None,
    mode: Any,
    tenants: Path,
    tenant: str | None,
    column: str,
    input_format: str,
    format_name: str | None,
    output_format: str | None,
    via: Any,
    engine: Any,
    unknown: Any,
    stream: bool,
    checkpoint: str | None,
    master: str | None,
    conf: tuple[str, ...],
    shows_metrics: bool,
) -> None:
    """Run each tenant's modules over a table of events in Spark."""
    if stream != (checkpoint is not None):
        refuse("--stream and --checkpoint go together", "give both, or none")
    if not tenants.is_file():
        refuse(f"no file {tenants}", "give the tenants file")
    settings = dict(_setting(text) for text in conf)
    if stream and mode != "error":
        refuse("--mode is for a batch", "a stream always goes on; leave it out")
    _look_at_paths(
        source, [target, *([dead_letters] if dead_letters else [])], is_checked=mode == "error" and not stream
    )
    _require_spark()
    from spark_udf.errors import JobFailedError
    from spark_udf.job import run_job, start_session
    from spark_udf.job_errors import one_line_errors

    session = start_session(master=master, conf=settings)
    try:
        with one_line_errors():
            report = run_job(
                source=source,
                target=target,
                dead_letters=dead_letters,
                mode=mode,
                tenants=tenants,
                tenant=tenant,
                column=column,
                source_format=input_format,
                format=format_name,
                output_format=output_format,
                via=via,
                engine=engine,
                unknown=unknown,
                checkpoint=checkpoint,
                spark=session,
            )
    except JobFailedError as error:
        click.echo(f"wasm-host spark: {error}", err=True)
        raise SystemExit(EXIT_FAILED) from error
    finally:
        session.stop()
    _print(report, target)
    if shows_metrics:
        click.echo(report.metrics_text)


def _look_at_paths(source: str, targets: list[str], *, is_checked: bool) -> None:
    """Say it before Spark takes its seconds to start. Paths with a scheme and tables are Spark's to look at."""
    if len({source, *targets}) <= len(targets):
        refuse("input, output and dead letters must be different places", "name another")
    if not _is_elsewhere(source) and not Path(source).exists():
        refuse(f"no folder or file {source}", "give the events")
    for target in targets:
        if is_checked and not _is_elsewhere(target) and Path(target).exists():
            refuse(f"{target} exists", "name a folder that does not, or set --mode")


def _is_elsewhere(place: str) -> bool:
    return place.startswith("table:") or "://" in place


def _require_spark() -> None:
    try:
        import spark_udf.job  # noqa: F401 - only to see whether it can be
    except ModuleNotFoundError as error:
        refuse(f"the Python package {error.name} is not installed", "pip install 'wasm-host[spark,java]'")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        refuse(f"--conf {text!r} is no setting of Spark", "write spark.NAME=VALUE")
    return name, value


def _print(report: Any, target: str) -> None:
    """A `spark_udf.job.JobReport`; not named as a type, because this package lies below that one."""
    table = Table(box=None, pad_edge=False)
    for heading in ("tenant", "module", "in", "out", "dropped", "failed", "fuel"):
        table.add_column(heading, justify="left" if heading in ("tenant", "module") else "right")
    for record in report.metrics:
        counters = record.counters
        numbers = (
            counters.events_in,
            counters.events_out,
            counters.events_dropped,
            counters.events_failed,
            counters.fuel,
        )
        table.add_row(record.tenant or "-", (record.module or "-")[:12], *(f"{number:,}" for number in numbers))
    console = out()
    console.print(table)
    rate = report.events_in / report.seconds if report.seconds else 0.0
    console.print(f"{report.events_in:,} events in {report.seconds:.1f} s ({rate:,.0f} events/s), written to {target}")
