"""Compiled code on disk: private, shared by processes, repaired when damaged, and never in the way of a job."""

import logging
import os
from pathlib import Path

import pytest
import wasmtime

from tests.hostile.wat_guest import build
from tests.unit.wasm_host.python_process import run_python
from wasm_host.code_cache import CACHE_DIR_VARIABLE, CodeCache, default_cache_dir
from wasm_host.engine import EngineSettings, engine_for

KEY = "0" * 64


@pytest.fixture
def engine() -> wasmtime.Engine:
    return engine_for(512 << 10).engine


@pytest.fixture
def module(engine: wasmtime.Engine) -> wasmtime.Module:
    return wasmtime.Module(engine, build())


def test_stored_module_is_found_again(tmp_path: Path, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
    cache = CodeCache(tmp_path / "deep" / "code")
    assert cache.load(KEY, engine) is None
    cache.store(KEY, module)
    found = cache.load(KEY, engine)
    assert found is not None
    assert [export.name for export in found.exports] == [export.name for export in module.exports]
    assert (cache.hits, cache.misses) == (1, 1)
    assert cache.load("1" * 64, engine) is None


def test_folder_is_made_private_and_nothing_else_is_left_in_it(tmp_path: Path, module: wasmtime.Module) -> None:
    cache = CodeCache(tmp_path / "code")
    cache.store(KEY, module)
    assert (tmp_path / "code").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path / "code").iterdir()] == [f"{KEY}.cwasm"]
    assert (tmp_path / "code" / f"{KEY}.cwasm").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o701, 0o777])
def test_folder_that_others_may_enter_is_not_used_and_said_once(
    tmp_path: Path, engine: wasmtime.Engine, module: wasmtime.Module, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "code"
    CodeCache(folder).store(KEY, module)
    folder.chmod(mode)
    cache = CodeCache(folder)
    with caplog.at_level(logging.WARNING):
        assert cache.load(KEY, engine) is None
        assert cache.load(KEY, engine) is None
        cache.store("1" * 64, module)
    assert len(caplog.records) == 1
    assert "open to other users" in caplog.text
    assert CACHE_DIR_VARIABLE in caplog.text
    assert len(list(folder.iterdir())) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_folder_of_another_user_is_not_used(tmp_path: Path, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
    folder = tmp_path / "code"
    CodeCache(folder).store(KEY, module)
    os.chown(folder, 54321, -1)
    assert CodeCache(folder).load(KEY, engine) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:0],
        lambda content: content[:100],
        lambda content: content[:-1],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content[:1000] + bytes([content[1000] ^ 0x80]) + content[1001:],
        lambda content: b"x" + content[1:],
        lambda content: content[::-1],
    ],
    ids=["emptied", "header-only", "cut-short", "last-bit", "a-bit-inside", "magic", "reversed"],
)
def test_damaged_file_is_told_and_rebuilt(
    tmp_path: Path, engine: wasmtime.Engine, module: wasmtime.Module, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(damage)
    cache = CodeCache(tmp_path / "code")
    cache.store(KEY, module)
    path = tmp_path / "code" / f"{KEY}.cwasm"
    path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert cache.load(KEY, engine) is None
    assert "damaged and is made again" in caplog.text
    cache.store(KEY, module)
    assert cache.load(KEY, engine) is not None


def test_code_of_an_engine_with_other_settings_is_not_taken(tmp_path: Path, module: wasmtime.Module) -> None:
    cache = CodeCache(tmp_path / "code")
    cache.store(KEY, module)
    config = wasmtime.Config()
    config.consume_fuel = False
    assert cache.load(KEY, wasmtime.Engine(config)) is None


def test_key_changes_with_every_setting() -> None:
    settings = [EngineSettings(stack, small) for stack in (1 << 16, 1 << 19) for small in (False, True)]
    assert len({setting.fingerprint() for setting in settings}) == 4


def test_folder_that_is_deleted_in_use_is_made_again(
    tmp_path: Path, engine: wasmtime.Engine, module: wasmtime.Module
) -> None:
    cache = CodeCache(tmp_path / "code")
    cache.store(KEY, module)
    for path in (tmp_path / "code").iterdir():
        path.unlink()
    (tmp_path / "code").rmdir()
    assert cache.load(KEY, engine) is None
    cache.store(KEY, module)
    assert cache.load(KEY, engine) is not None


def test_path_that_is_a_file_is_a_warning(
    tmp_path: Path, engine: wasmtime.Engine, module: wasmtime.Module, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "code").write_text("in the way")
    cache = CodeCache(tmp_path / "code")
    with caplog.at_level(logging.WARNING):
        cache.store(KEY, module)
        assert cache.load(KEY, engine) is None
    assert "cannot be written" in caplog.text


def test_least_recently_used_code_is_removed_when_the_folder_is_full(
    tmp_path: Path, engine: wasmtime.Engine, module: wasmtime.Module
) -> None:
    size = len(bytes(module.serialize()))
    cache = CodeCache(tmp_path / "code", max_bytes=3 * size + 1000)
    for number in range(40):
        cache.store(f"{number:064d}", module)
        os.utime(tmp_path / "code" / f"{number:064d}.cwasm", (number, number))
    # It looks at the folder now and then, not at every file.
    assert len(list((tmp_path / "code").iterdir())) <= 3 + 32
    assert cache.load(f"{39:064d}", engine) is not None
    assert cache.load(f"{0:064d}", engine) is None


LOAD = """
import logging, wasm_host
logging.basicConfig(format="%(message)s")
from tests.hostile.wat_guest import build
from wasm_host.module import code_cache
with wasm_host.load(build()) as guest:
    assert guest.transform([b"\\x28\\x01"]).events.to_pylist() == [b"\\x28\\x01"]
print(code_cache().hits, code_cache().misses)
"""


def test_second_process_finds_the_code_of_the_first(tmp_path: Path) -> None:
    variables = {CACHE_DIR_VARIABLE: str(tmp_path / "code")}
    first, second = run_python(LOAD, **variables), run_python(LOAD, **variables)
    assert (first.stdout.strip(), first.stderr) == ("0 3", "")
    assert (second.stdout.strip(), second.stderr) == ("3 0", "")


WRITE_AT_ONCE = """
import os, sys
from pathlib import Path
import wasmtime
from tests.hostile.wat_guest import build
from wasm_host.code_cache import CodeCache
from wasm_host.engine import engine_for

def work(folder):
    cache, engine = CodeCache(folder), engine_for(512 << 10).engine
    module = wasmtime.Module(engine, build())
    for _ in range(20):
        cache.store("0" * 64, module)
        assert cache.load("0" * 64, engine) is not None

children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        try:
            work(Path(sys.argv[1]))
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
"""


def test_eight_processes_that_write_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    result = run_python(WRITE_AT_ONCE, str(tmp_path / "code"))
    assert (result.stdout.strip(), result.stderr) == (str([0] * 8), "")
    assert [path.name for path in (tmp_path / "code").iterdir()] == [f"{KEY}.cwasm"]


def test_full_disk_costs_a_warning_and_no_job(tmp_path: Path) -> None:
    # A limit on the size of files makes every write fail half way, as a full disk does.
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n{LOAD}"
    result = run_python(script, **{CACHE_DIR_VARIABLE: str(tmp_path / "code")})
    assert result.stdout.strip() == "0 3", result.stderr
    assert result.stderr.count("cannot be written") == 1
    assert list((tmp_path / "code").iterdir()) == [], "half-written files are removed"


def test_unwritable_folder_costs_a_warning_and_no_job(tmp_path: Path) -> None:
    # /proc takes no files from anybody, root included.
    result = run_python(LOAD, **{CACHE_DIR_VARIABLE: "/proc/wasm-host"})
    assert result.stdout.strip() == "0 3", result.stderr
    assert result.stderr.count("cannot be written") == 1


def test_folder_from_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "named"))
    assert default_cache_dir() == tmp_path / "named"
    monkeypatch.delenv(CACHE_DIR_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache_dir() == tmp_path / "xdg" / "wasm-host"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / ".cache" / "wasm-host"
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    assert default_cache_dir().name == f"wasm-host-{os.getuid()}"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without a name")
def test_user_without_a_home_gets_a_private_temporary_folder() -> None:
    # Containers run under user numbers that are in no password file.
    script = """
import os
from wasm_host.code_cache import default_cache_dir
os.setuid(54321)
for name in ("HOME", "XDG_CACHE_HOME", "WASM_HOST_CACHE_DIR"): os.environ.pop(name, None)
print(default_cache_dir().name)
"""
    result = run_python(script)
    assert result.stdout.strip() == "wasm-host-54321", result.stderr
