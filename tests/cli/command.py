"""Run `wasm-host` in this process: the same code path as the console script, without a second of start-up each time."""

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from wasm_host.cli import main


@dataclass(frozen=True)
class Result:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


def wasm_host(*arguments: str | Path) -> Result:
    """Run one command."""
    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            status = exit_.code
    assert isinstance(status, int)
    return Result(status, out.getvalue(), err.getvalue())


def console_script() -> Sequence[str]:
    """The installed command, for what needs a process of its own."""
    return [str(Path(sys.executable).with_name("wasm-host"))]
