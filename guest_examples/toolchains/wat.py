"""WebAssembly text: wasmtime itself is the assembler, so nothing more is needed."""

import importlib
import importlib.util
from pathlib import Path

from guest_examples.toolchains.toolchain import BuildError, Toolchain


def _missing() -> str | None:
    return None if importlib.util.find_spec("wasmtime") else "the Python package wasmtime is not installed"


def _compile(source: Path, target: Path) -> None:
    # Imported late and by name: examples know no wasm engine, only this one build step does.
    wasmtime = importlib.import_module("wasmtime")
    try:
        target.write_bytes(wasmtime.wat2wasm(source.read_text()))
    except wasmtime.WasmtimeError as exc:
        raise BuildError(str(exc)) from None


TOOLCHAIN = Toolchain("wat", "{name}/{name}.wat", _missing, _compile, is_reproducible=True)
