"""The wheel holds the packages, their text and data files, and nothing else; and it works without the source tree."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.meta.source_tree import PACKAGES, ROOT

# What a package may hold beside Python: contract, vectors, WebAssembly and its sources, and typing markers.
DATA_SUFFIXES = {".wat", ".wasm", ".proto", ".json", ".md", ".pyi", ".typed", ".zig", ".c", ".h", ".rs", ".ts", ".go"}
DATA_SUFFIXES |= {".toml", ".mod", ".avsc", ".jsonl", ".txt", ".css", ".js", ".svg"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys, hatchling.build; hatchling.build.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, check=True, capture_output=True, timeout=120)
    (path,) = folder.glob("wasm_host-*.whl")
    return path


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def tracked_files() -> set[str]:
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, check=True, capture_output=True, text=True)
    return set(listed.stdout.split())


def test_wheel_has_our_packages_and_no_other_folder(names: set[str]) -> None:
    assert {name.partition("/")[0] for name in names} == set(PACKAGES)


def test_wheel_has_no_tests_and_no_litter(names: set[str]) -> None:
    litter = [name for name in names if "test" in Path(name).parts or name.endswith((".pyc", ".orig", "~"))]
    assert litter == []


def test_wheel_has_only_files_of_known_kinds(names: set[str]) -> None:
    assert {Path(name).suffix or name for name in names if not name.endswith("py.typed")} - {".py"} <= DATA_SUFFIXES


@pytest.mark.parametrize(
    "needed",
    [
        "abi/SPEC.md",
        "abi/event.proto",
        "abi/event_pb2.pyi",
        "abi/vectors/v1/valid.json",
        "abi/vectors/v1/invalid.json",
        "wasm_host/wat/driver.wat",
        "wasm_host/wat/validator.wat",
        *(f"{package}/py.typed" for package in PACKAGES),
    ],
)
def test_wheel_has_what_is_read_at_run_time(names: set[str], needed: str) -> None:
    assert needed in names


def test_wheel_has_every_committed_file_of_the_packages(names: set[str]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    assert tracked_files() - names == set()


def test_wheel_names_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entry_points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert "wasm-host = wasm_host.cli:main" in archive.read(entry_points).decode()


def test_unpacked_wheel_works_away_from_the_sources(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        "import sys, abi, wasm_host\n"
        "from wasm_host.host_modules import driver_wasm\n"
        "assert abi.__file__.startswith(sys.argv[1]), abi.__file__\n"
        "assert wasm_host.__file__.startswith(sys.argv[1]), wasm_host.__file__\n"
        "print(len(driver_wasm()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 1000
