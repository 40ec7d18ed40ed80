"""The code cache under disk faults: the work goes on with the right result, and with a warning where it should."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# Loads a guest, runs an event, and says what the cache did; a process of its own, as a new worker is.
WORKER = """
import logging, resource, shutil, sys
logging.basicConfig(format="WARNED %(message)s", stream=sys.stdout)
fault, folder = sys.argv[1], sys.argv[2]
import guest_examples, wasm_host, wasm_host.module
from abi import Event
if fault == "full":
    # What a full disk does to a write, without filling one: nothing may grow past these bytes.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
config = {"rules": [{"path": "email", "action": "redact"}]}
event = Event(after=b'{"email":"a"}').SerializeToString()
def run():
    with wasm_host.load(guest_examples.path("mask_pii"), config=config) as guest:
        if fault == "deleted":
            shutil.rmtree(folder, ignore_errors=True)
        result = guest.transform([event])
    assert Event.FromString(result.events[0].as_py()).after == b'{"email":"***"}', result.failures
run()
if fault == "deleted":
    run()
cache = wasm_host.module.code_cache()
print("CACHE", cache.hits, cache.misses)
"""


def start_worker(folder: Path, fault: str = "none") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, fault, str(folder)],
        env={**os.environ, "WASM_HOST_CACHE_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(worker: "subprocess.Popen[str]") -> tuple[int, int, list[str]]:
    """Hits, misses and warnings of a worker, which has to succeed."""
    output, errors = worker.communicate(timeout=60)
    assert worker.returncode == 0, errors
    lines = output.splitlines()
    hits, misses = (int(word) for word in lines[-1].removeprefix("CACHE ").split())
    return hits, misses, [line.removeprefix("WARNED ") for line in lines if line.startswith("WARNED ")]


def damage(folder: Path, change: Callable[[bytes], bytes]) -> None:
    files = list(folder.glob("*.cwasm"))
    assert files
    for file in files:
        file.write_bytes(change(file.read_bytes()))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A cache that a worker has filled, and that the next one uses."""
    folder = tmp_path / "cache"
    finish(start_worker(folder))
    hits, misses, warnings = finish(start_worker(folder))
    assert (hits > 0, misses, warnings) == (True, 0, [])
    return folder


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda code: code[: len(code) // 2], id="cut off"),
        pytest.param(lambda code: code[:-1] + bytes([code[-1] ^ 1]), id="one bit"),
    ],
)
def test_damaged_files_are_made_again_with_a_warning(filled: Path, change: Callable[[bytes], bytes]) -> None:
    damage(filled, change)
    hits, misses, warnings = finish(start_worker(filled))
    assert hits == 0
    assert misses > 0
    assert any("is damaged and is made again" in line for line in warnings)
    assert finish(start_worker(filled))[1] == 0, "they were not made again"


def test_full_disk_costs_compilations_and_a_warning(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    _, misses, warnings = finish(start_worker(folder, "full"))
    assert misses > 0
    assert any("cannot be written" in line for line in warnings)
    assert not list(folder.glob("*")), "half-written files were left"


def test_folder_that_is_a_file_costs_a_warning(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    _, misses, warnings = finish(start_worker(tmp_path / "cache"))
    assert misses > 0
    assert any("cannot be" in line for line in warnings)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to what is read-only")
def test_read_only_folder_costs_a_warning(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o500)
    _, misses, warnings = finish(start_worker(folder))
    assert misses > 0
    assert any("cannot be written" in line for line in warnings)


def test_folder_open_to_others_is_not_used(filled: Path) -> None:
    filled.chmod(0o777)
    hits, _, warnings = finish(start_worker(filled))
    assert hits == 0
    assert any("is open to other users" in line for line in warnings)


def test_folder_deleted_while_in_use_is_made_again(filled: Path) -> None:
    finish(start_worker(filled, "deleted"))
    finish(start_worker(filled))
    assert list(filled.glob("*.cwasm"))


def test_eight_processes_fill_one_cache_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    outcomes = [finish(worker) for worker in [start_worker(folder) for _ in range(8)]]
    assert not any(warnings for _, _, warnings in outcomes)
    assert not list(folder.glob(".writing-*"))
    assert finish(start_worker(folder))[1] == 0
