"""`wasm-host new`, then `build`, then `test`: passes at once, for every language whose compiler is here."""

from pathlib import Path

import pytest

from guest_examples.toolchains import find_toolchains
from tests.cli.command import wasm_host
from wasm_host.cli.project import LANGUAGES


@pytest.mark.toolchain
@pytest.mark.parametrize("language", LANGUAGES)
def test_new_project_builds_and_passes(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = find_toolchains().get(LANGUAGES[language].code)
    missing = "no toolchain of that name" if toolchain is None else toolchain.missing()
    if missing:
        pytest.skip(missing)
    monkeypatch.chdir(tmp_path)
    assert wasm_host("new", "only_users", "--lang", language).status == 0
    monkeypatch.chdir(tmp_path / "only_users")
    built = wasm_host("build")
    assert built.status == 0, built.err
    assert built.out.startswith("built only_users.wasm (")
    tested = wasm_host("test", "--no-save", "--examples", "50")
    assert tested.status == 0, tested.out
    assert "✓ cases        2 checks" in tested.out


def test_project_holds_what_its_readme_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wasm_host("new", "t", "--lang", "go")
    names = {str(path.relative_to(tmp_path / "t")) for path in (tmp_path / "t").rglob("*") if path.is_file()}
    assert {
        "Makefile",
        ".gitignore",
        "README.md",
        "wasm-host.toml",
        "config.toml",
        "src/main.go",
        "src/go.mod",
    } <= names
    assert {"sdk/README.md", "sdk/go.mod", "cases/keeps_its_table.json"} <= names
    readme = (tmp_path / "t" / "README.md").read_text()
    assert "@" not in readme
    assert "t.wasm --wasi" in readme


@pytest.mark.toolchain
def test_compiler_errors_are_shown_and_the_old_module_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_toolchains()["c"].missing():
        pytest.skip("no compiler")
    monkeypatch.chdir(tmp_path)
    wasm_host("new", "t", "--lang", "c")
    (tmp_path / "t" / "t.wasm").write_bytes(b"old")
    (tmp_path / "t" / "src" / "transform.c").write_text("int broken(")
    result = wasm_host("build", "t")
    assert result.status == 1
    assert "transform.c:1" in result.err
    assert result.err.splitlines()[-1].startswith("wasm-host: [BUILD_FAILED] ")
    assert (tmp_path / "t" / "t.wasm").read_bytes() == b"old"


def test_missing_compiler_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wasm_host("new", "t", "--lang", "assemblyscript")
    monkeypatch.setenv("PATH", "/nonexistent")
    result = wasm_host("build", "t")
    assert result.status == 2
    assert "Node.js" in result.err
    assert result.err.count("\n") == 1
