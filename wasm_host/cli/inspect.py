"""`wasm-host inspect`: what a module is, and whether this host would take it."""

import dataclasses
import json
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from wasm_host.cli.console import mark, out
from wasm_host.cli.inputs import read_limits, read_wasm
from wasm_host.cli.misuse import EXIT_FAILED
from wasm_host.harness.contract import inspect
from wasm_host.harness.facts import ModuleFacts
from wasm_host.harness.subject import Subject


@click.command(
    "inspect",
    epilog="Example: wasm-host inspect mask_pii.wasm. Exit status: 0 the host takes it, 1 it does not, 2 bad usage.",
)
@click.argument("module", type=click.Path(path_type=Path))
@click.option("--limits", "limits_file", type=click.Path(path_type=Path), metavar="FILE", help="Limits (TOML or JSON).")
@click.option("--wasi", is_flag=True, help="As if the deterministic WASI stub were offered.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(context: click.Context, module: Path, limits_file: Path | None, wasi: bool, as_json: bool) -> None:
    """Say what MODULE is (digest, size, language, exports, imports, memory), and whether the host takes it."""
    limits = read_limits(limits_file)
    facts = inspect(Subject(read_wasm(module, limits), module, limits, wasi))
    if as_json:
        click.echo(json.dumps({**dataclasses.asdict(facts), "is_taken": facts.is_taken}, indent=2, ensure_ascii=False))
    else:
        _print(facts, out())
    context.exit(0 if facts.is_taken else EXIT_FAILED)


def _print(facts: ModuleFacts, console: Console) -> None:
    rows = [
        ("module", facts.name),
        ("sha256", facts.digest),
        ("size", f"{facts.size_bytes:,} bytes"),
        ("language", facts.language or "it does not say"),
        ("contract", facts.dialect or "none that this host knows"),
        ("memory", facts.memory),
        ("proposals", ", ".join(facts.proposals) or "none beyond the first version"),
        ("start code", "a start function" if facts.has_start else "none"),
        ("imports", "\n".join(facts.imports) or "none"),
        ("exports", "\n".join(facts.exports) or "none"),
    ]
    for name, value in rows:
        for index, line in enumerate(value.splitlines()):
            console.print(Text.assemble((f"{name if index == 0 else '':<12}", "bold"), line))
    if facts.is_taken:
        console.print(Text.assemble(mark(console, "pass"), " this host takes it"))
    for refusal in facts.refusals:
        where = f"  [{refusal.spec}]" if refusal.spec else ""
        console.print(Text.assemble(mark(console, "fail"), f" refused: {refusal.message}", (where, "dim")))
