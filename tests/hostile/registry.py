"""Every guest that the hostile tests load, by the name of its test.

Nobody keeps this list: `collect` lets pytest run the tests only as far as their first `wasm_host.load`, which notes the
module instead of loading it. So a new hostile test is in the registry by being written.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

import wasm_host
from wasm_host import Limits

_TARGET = "WASM_HOST_HOSTILE_REGISTRY"
_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class HostileGuest:
    """A module as its test loads it."""

    wasm: bytes
    limits: Limits
    wasi: bool


def collect(target: Path) -> dict[str, HostileGuest]:
    """Note the guest of each test, by `file::test[parameters]`; `target` is a file to be written."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(_FOLDER),
        "-q",
        "-p",
        "tests.hostile.registry",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        command, cwd=_FOLDER.parent.parent, env={**os.environ, _TARGET: str(target)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    guests: dict[str, HostileGuest] = pickle.loads(target.read_bytes())
    return guests


class _Recorder:
    """The plugin of the run that only notes."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._guests: dict[str, HostileGuest] = {}
        self._name = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self._name = item.nodeid.removeprefix("tests/hostile/")
        return (yield)

    def note(self, wasm: Any, *, limits: Limits | None = None, wasi: bool = False, **_: Any) -> NoReturn:
        """In place of `wasm_host.load`."""
        self._guests[self._name] = HostileGuest(bytes(wasm), limits or Limits(), wasi)
        pytest.skip("noted")

    def pytest_sessionfinish(self) -> None:
        self._target.write_bytes(pickle.dumps(self._guests))


def pytest_configure(config: pytest.Config) -> None:
    """As a plugin of pytest."""
    target = os.environ.get(_TARGET)
    if target:
        recorder = _Recorder(Path(target))
        wasm_host.load = recorder.note
        config.pluginmanager.register(recorder)
