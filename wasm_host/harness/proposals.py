"""Which WebAssembly proposals a module uses: those without which it is no longer valid."""

import functools

import wasmtime

# Reference types cannot be told this way: wasmtime ends the process when they are off beside what it has always on.
_NEEDS: dict[str, tuple[str, ...]] = {
    "bulk memory": (),
    "multi-value": (),
    "simd": (),
    "relaxed simd": ("simd",),
    "threads": (),
    "tail calls": (),
    "64-bit memory": (),
    "several memories": (),
    "exceptions": (),
    "function references": (),
    "garbage collection": ("function references",),
    "wide arithmetic": (),
}
_SETTINGS = {
    "bulk memory": "wasm_bulk_memory",
    "multi-value": "wasm_multi_value",
    "simd": "wasm_simd",
    "relaxed simd": "wasm_relaxed_simd",
    "threads": "wasm_threads",
    "tail calls": "wasm_tail_call",
    "64-bit memory": "wasm_memory64",
    "several memories": "wasm_multi_memory",
    "exceptions": "wasm_exceptions",
    "function references": "wasm_function_references",
    "garbage collection": "wasm_gc",
    "wide arithmetic": "wasm_wide_arithmetic",
}
ALLOWED = ("bulk memory", "multi-value", "simd")
"""Those that guests may use; a test holds this to what the engine is set to."""


def is_wasm(wasm: bytes) -> bool:
    """Whether the bytes are a valid module when every proposal is on."""
    return _is_valid(wasm, frozenset())


def proposals_used(wasm: bytes) -> list[str]:
    """The proposals that a valid module needs, in a fixed order."""
    return [name for name in _NEEDS if not _is_valid(wasm, _without(name))]


def _without(name: str) -> frozenset[str]:
    """A proposal and those that build on it: they cannot be on alone."""
    return frozenset({name, *(other for other, needs in _NEEDS.items() if name in needs)})


@functools.cache
def _engine(off: frozenset[str]) -> wasmtime.Engine:
    config = wasmtime.Config()
    # Components are told by their header; left on, it would ask for reference types and abort the process.
    config.wasm_component_model = False
    for name, setting in _SETTINGS.items():
        setattr(config, setting, name not in off)
    return wasmtime.Engine(config)


def _is_valid(wasm: bytes, off: frozenset[str]) -> bool:
    try:
        wasmtime.Module.validate(_engine(off), wasm)
    except wasmtime.WasmtimeError:
        return False
    return True
