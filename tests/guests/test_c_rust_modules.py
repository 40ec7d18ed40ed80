"""The built C and Rust modules themselves: what they import, how large they are, what they give away."""

import re

import pytest
import wasmtime

from guest_examples import load_wasm
from guest_examples.toolchains import EXAMPLES, find_toolchains
from guest_examples.toolchains.toolchain import Toolchain

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
def test_rebuilt_rust_module_does_not_depend_on_where_it_is_built(tmp_path_factory: pytest.TempPathFactory) -> None:
    toolchain = _available("rust")
    built = []
    for place in ("here", "there"):
        target = tmp_path_factory.mktemp(place) / "guest.wasm"
        toolchain.compile(EXAMPLES / "pass_through" / "pass_through.rs", target)
        built.append(target.read_bytes())
    assert built[0] == built[1]


def _available(language: str) -> Toolchain:
    toolchain = find_toolchains()[language]
    reason = toolchain.missing()
    if reason is not None:
        pytest.skip(reason)
    return toolchain
