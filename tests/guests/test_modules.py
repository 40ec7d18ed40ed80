"""The built modules: what they import and export, how large they are, and that they are what the sources give."""

from pathlib import Path

import pytest
import wasmtime

from abi.names import GUEST_EXPORTS, HOST_IMPORTS, IMPORT_MODULE, MEMORY_EXPORT
from guest_examples import LANGUAGES, NAMES, languages_of, load_wasm, path
from guest_examples.build import build_one, main
from guest_examples.toolchains import find_toolchains
from tests.guests.examples import BUILDS

REPRODUCIBLE = [(name, language) for name, language in BUILDS if find_toolchains()[language].is_reproducible]


@pytest.mark.parametrize(("name", "language"), [build for build in BUILDS if build[1] != "go"])
def test_module_imports_nothing_outside_the_allow_list(name: str, language: str) -> None:
    module = wasmtime.Module(wasmtime.Engine(), load_wasm(name, language))
    allowed = {(IMPORT_MODULE, symbol.name) for symbol in HOST_IMPORTS}
    assert {(item.module, item.name) for item in module.imports} <= allowed


@pytest.mark.parametrize(("name", "language"), BUILDS)
def test_module_exports_the_contract_and_little_else(name: str, language: str) -> None:
    module = wasmtime.Module(wasmtime.Engine(), load_wasm(name, language))
    exported = {item.name for item in module.exports}
    functions = {item.name for item in module.exports if isinstance(item.type, wasmtime.FuncType)}
    known = {symbol.name for symbol in GUEST_EXPORTS} | {MEMORY_EXPORT}
    assert {symbol.name for symbol in GUEST_EXPORTS if symbol.required} | {MEMORY_EXPORT} <= exported
    # Linkers also export numbers (where the data ends); they give nobody anything.
    assert functions <= known


@pytest.mark.parametrize(("name", "language"), BUILDS)
def test_module_is_not_larger_than_its_language_may_be(name: str, language: str) -> None:
    assert path(name, language).stat().st_size <= find_toolchains()[language].max_module_bytes
    assert language == "go" or path(name, language).stat().st_size < 100_000


@pytest.mark.toolchain
@pytest.mark.parametrize(("name", "language"), REPRODUCIBLE)
def test_rebuilding_gives_the_committed_bytes(name: str, language: str, tmp_path: Path) -> None:
    toolchain = find_toolchains()[language]
    reason = toolchain.missing()
    if reason is not None:
        pytest.skip(reason)
    built = build_one(toolchain, name, tmp_path / "guest.wasm")
    assert built.read_bytes() == load_wasm(name, language), (
        f"run: python -m guest_examples.build {name} --lang {language}"
    )


def test_every_example_is_built_in_zig_or_wat() -> None:
    assert [name for name in NAMES if not path(name).exists()] == []
    assert [name for name in NAMES if name != "drop_all" and "zig" not in languages_of(name)] == []


def test_promised_languages_are_built() -> None:
    for name, languages in {
        "mask_pii": ("rust", "c", "as", "go"),
        "filter_rows": ("rust", "c"),
        "pass_through": ("as", "go"),
    }.items():
        assert set(languages) <= set(languages_of(name)), name


def test_languages_are_those_of_the_toolchains() -> None:
    assert set(find_toolchains()) == set(LANGUAGES)


def test_build_refuses_a_name_that_is_no_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["mask_pi"])
    assert caught.value.code == 2
    assert "no example called mask_pi" in capsys.readouterr().err


def test_unknown_example_and_language_are_named() -> None:
    with pytest.raises(ValueError, match="no example called 'nothing'"):
        path("nothing")
    with pytest.raises(ValueError, match="no language called 'cobol'"):
        path("mask_pii", "cobol")
