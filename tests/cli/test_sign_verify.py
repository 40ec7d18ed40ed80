"""Keys, signatures and their verdicts on the command line."""

import shutil
import stat
from pathlib import Path

import pytest

import guest_examples
from wasm_host.cli import main


def run(*arguments: object) -> int:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "guest.wasm"
    shutil.copy(guest_examples.path("pass_through"), path)
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    assert run("sign", "--generate-key", tmp_path / "platform") == 0
    return tmp_path / "platform.key"


def test_signed_module_is_trusted(module: Path, key: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert run("sign", module, "--key", key) == 0
    assert run("verify", module, "--public-key", key.with_suffix(".pub")) == 0
    assert "trusted: it is signed by a known key" in capsys.readouterr().out


def test_changed_module_is_not_trusted(module: Path, key: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sign", module, "--key", key) == 0
    module.write_bytes(module.read_bytes() + b"\0\1\0")
    assert run("verify", module, "--public-key", key.with_suffix(".pub")) == 1
    assert "its signature is by none of the known keys" in capsys.readouterr().err


def test_signature_of_a_stranger_is_not_trusted(
    module: Path, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("sign", "--generate-key", tmp_path / "stranger") == 0
    assert run("sign", module, "--key", tmp_path / "stranger.key") == 0
    assert run("verify", module, "--public-key", key.with_suffix(".pub")) == 1
    assert "[UNTRUSTED_MODULE]" in capsys.readouterr().err


def test_pinned_module_needs_no_signature(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("verify", module, "--pinned", "0" * 64) == 1
    capsys.readouterr()
    assert run("inspect", module) == 0
    digest = next(line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("sha256"))
    assert run("verify", module, "--pinned", digest.upper()) == 0


def test_an_existing_key_is_not_overwritten(key: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = key.read_bytes()
    assert run("sign", "--generate-key", key.with_suffix("")) == 2
    assert key.read_bytes() == before
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sign",), "a module and --key are needed"),
        (("sign", "MODULE", "--key", "MODULE"), "not an Ed25519 private key"),
        (("sign", "MODULE", "--key", "nowhere.key"), "No such file"),
        (("sign", "MODULE", "--generate-key", "name"), "make the key first"),
        (("verify", "MODULE"), "say what is trusted"),
        (("verify", "MODULE", "--pinned", "abc"), "64 lower-case hexadecimal digits"),
        (("verify", "MODULE", "--public-key", "MODULE"), "not an Ed25519 public key"),
        (("verify", "nowhere.wasm", "--pinned", "0" * 64), "no file nowhere.wasm"),
    ],
)
def test_misuse_is_one_line_and_status_2(
    module: Path, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*(str(module) if argument == "MODULE" else argument for argument in arguments)) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
