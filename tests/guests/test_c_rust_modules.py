"""The built C and Rust modules themselves: what they import, how large they are, what they give away."""

import re
from pathlib import Path

import pytest
import wasmtime

from guest_examples import load_wasm
from guest_examples.toolchains import find_toolchains
from guest_examples.toolchains.rust import BUILT_WITH, compiler_version

MODULES = [(name, lang) for name in ("filter_rows", "mask_pii", "pass_through") for lang in ("c", "rust")]
IMPORTS = {("env", "log"), ("env", "record_metric"), ("env", "get_metric")}


@pytest.mark.parametrize(("name", "lang"), MODULES)
def test_module_imports_nothing_but_log_and_metrics(name: str, lang: str) -> None:
    module = wasmtime.Module(wasmtime.Engine(), load_wasm(name, lang))
    assert {(entry.module, entry.name) for entry in module.imports} <= IMPORTS


@pytest.mark.parametrize(("name", "lang"), MODULES)
def test_module_is_small_and_names_no_folder_of_its_builder(name: str, lang: str) -> None:
    module = load_wasm(name, lang)
    assert len(module) < 100_000
    assert re.search(rb"/(?:home|root|work|tmp|Users)/", module) is None


@pytest.mark.toolchain
def test_rebuilt_rust_module_has_the_committed_bytes(tmp_path: Path) -> None:
    toolchain = find_toolchains()["rust"]
    reason = toolchain.missing()
    if reason is not None:
        pytest.skip(reason)
    if compiler_version() != BUILT_WITH:
        pytest.skip(f"the committed modules were built with {BUILT_WITH}, here is {compiler_version()}")
    target = tmp_path / "guest.wasm"
    toolchain.compile(toolchain.source_of("mask_pii"), target)
    assert target.read_bytes() == load_wasm("mask_pii", "rust")
