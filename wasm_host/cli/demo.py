"""`wasm-host demo`: three tenants in one Spark job."""

import click

from wasm_host.cli.misuse import refuse


@click.command("demo", epilog="Example: wasm-host demo --events 300000.")
@click.option("--events", type=click.IntRange(100, 10_000_000), default=300_000, show_default=True, help="How many.")
@click.option("--folder", metavar="DIR", help="Keep input and output here; by default a temporary folder.")
def command(events: int, folder: str | None) -> None:
    """Mask, filter and misbehave: the multi-tenant job on sample events, in local Spark."""
    try:
        from spark_udf import demo
    except ModuleNotFoundError as error:
        refuse(f"the Python package {error.name} is not installed", "pip install 'wasm-host[spark,java]'")
    demo.run(events=events, folder=folder)
