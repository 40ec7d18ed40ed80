"""Starts the programs that tests run in processes of their own, and ends exactly those."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyspark

HERE = Path(__file__).parent
SPARK_HOME = Path(pyspark.__file__).parent


def start_program(name: str, *arguments: object, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a program of this folder as the head of a process group."""
    return subprocess.Popen(
        [sys.executable, str(HERE / name), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), **(env or {})},
    )


def run_program(name: str, *arguments: object, timeout: float = 150, env: Mapping[str, str] | None = None) -> str:
    """Run a program to its end and give its output; it has to succeed."""
    process = start_program(name, *arguments, env=env)
    try:
        output, _ = process.communicate(timeout=timeout)
    finally:
        kill_group(process)
    assert process.returncode == 0, output[-4000:]
    return output


def kill_group(process: "subprocess.Popen[str]") -> None:
    """End a program and whatever it started, without a chance to tidy up."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s"
        time.sleep(0.05)
