"""Every built example, in every language, as something a test can load."""

from typing import Any

import wasm_host
from guest_examples import NAMES, languages_of, load_wasm
from guest_examples.toolchains import find_toolchains
from wasm_host import Guest, Limits

BUILDS = [(name, language) for name in NAMES for language in languages_of(name)]

# The examples are ordinary guests, but some of them meet 10 MB images here.
_LIMITS = Limits(fuel_per_event=2_000_000_000, max_output_bytes_per_event=64 << 20)


def load_example(name: str, language: str, config: dict[str, Any]) -> Guest:
    """Load a built example with a configuration."""
    needs_wasi = find_toolchains()[language].needs_wasi
    return wasm_host.load(load_wasm(name, language), config=config, limits=_LIMITS, wasi=needs_wasi)
