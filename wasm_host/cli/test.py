"""`wasm-host test`: the harness."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from hypothesis.configuration import set_hypothesis_home_dir

from wasm_host.cli.console import out
from wasm_host.cli.inputs import module_options, read_config, read_limits, read_wasm
from wasm_host.cli.misuse import EXIT_FAILED, refuse
from wasm_host.cli.project import read_project
from wasm_host.code_cache import default_cache_dir
from wasm_host.harness import Report, Subject, Trial, run_harness
from wasm_host.report import print_report, to_html, to_json, to_junit

_FILE = click.Path(path_type=Path, dir_okay=False)
DEFAULT_EXAMPLES = 200


@click.command(
    "test",
    epilog="Example: wasm-host test mask_pii.wasm --config mask.toml --must-mask email --html report.html. "
    "Exit status: 0 passed, 1 failed, 2 bad usage.",
)
@module_options(is_module_required=False)
@click.option(
    "--cases",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Golden cases; by default cases/ beside the module.",
)
@click.option("--update", is_flag=True, help="Rewrite the expectations of cases that do not hold.")
@click.option(
    "--examples", type=click.IntRange(10, 100_000), default=DEFAULT_EXAMPLES, show_default=True, metavar="N",
    help="Generated events.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same events.")
@click.option(
    "--against", metavar="PACKAGE.MODULE:NAME", help="Native twin: takes the configuration, gives a function."
)
@click.option(
    "--must-mask", multiple=True, metavar="PATH", help="Values at this path must appear nowhere (repeatable)."
)
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="DIR", help="Where events that fail are kept as cases."
)
@click.option("--no-save", is_flag=True, help="Keep nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--junit", type=_FILE, metavar="FILE", help="Write JUnit XML.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write one self-contained page.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check, not only what failed.")
@click.pass_context
def command(
    context: click.Context,
    module: Path | None,
    config_file: Path | None,
    limits_file: Path | None,
    wasi: bool,
    cases: Path | None,
    update: bool,
    examples: int,
    seed: int,
    against: str | None,
    must_mask: tuple[str, ...],
    save: Path | None,
    no_save: bool,
    as_json: bool,
    junit: Path | None,
    html: Path | None,
    verbose: bool,
) -> None:
    """Test MODULE (in a project: its own): contract, lifecycle, cases, properties, reference, masking proof, cost."""
    if module is None:
        project = read_project(Path())
        module, wasi = project.module, wasi or project.language.needs_wasi
    limits = read_limits(limits_file)
    wasm = read_wasm(module, limits)
    config = read_config(config_file)
    if cases is not None and not cases.exists():
        refuse(f"no folder or file {cases}", "give the folder with the cases")
    beside = module.parent / "cases"
    trial = Trial(
        examples=examples,
        seed=seed,
        cases=cases or (beside if beside.is_dir() else None),
        updates=update,
        against=against,
        must_mask=must_mask,
        saves=None if no_save else save or module.parent / "found-cases",
    )
    subject = Subject(wasm, module, limits, wasi, (config,), takes_config=config_file is not None)
    with _hypothesis_at_home():
        report = run_harness(subject, trial)
    report.command = "wasm-host " + " ".join(sys.argv[1:])
    _write(report, junit, to_junit)
    _write(report, html, to_html)
    if as_json:
        click.echo(to_json(report))
    else:
        print_report(report, out(), is_verbose=verbose)
    context.exit(0 if report.is_passed else EXIT_FAILED)


@contextmanager
def _hypothesis_at_home() -> Iterator[None]:
    """What hypothesis keeps goes to the cache, not into the folder where the command happens to be run."""
    if os.environ.get("HYPOTHESIS_STORAGE_DIRECTORY"):
        yield
        return
    with suppress(OSError):
        # Compiled code lies there too, and is trusted only in a folder that nobody else can write to.
        default_cache_dir().mkdir(mode=0o700, parents=True, exist_ok=True)
    set_hypothesis_home_dir(default_cache_dir() / "hypothesis")
    try:
        yield
    finally:
        set_hypothesis_home_dir(None)


def _write(report: Report, path: Path | None, render: Callable[[Report], str]) -> None:
    if path is None:
        return
    try:
        path.write_text(render(report), encoding="utf-8")
    except OSError as error:
        refuse(f"cannot write {path}: {error.strerror}", "give a file in a folder that exists")
