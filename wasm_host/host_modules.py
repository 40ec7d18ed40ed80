"""The host's own WebAssembly: the services a guest imports, and the driver that runs a batch through it.

The text lies in `wat/`, one concern a file, and is assembled by wasmtime itself, so installing needs no toolchain.
"""

import functools
import re
from importlib import resources

import wasmtime

from wasm_host.driver_state import FIELD_OFFSETS

_DRIVER_PARTS = ("layout", "journal", "metrics", "validator", "emit", "driver")
_FIELD = re.compile(r"@([a-z_]+)")


def _text(name: str) -> str:
    return resources.files("wasm_host").joinpath("wat", f"{name}.wat").read_text(encoding="utf-8")


def with_field_offsets(text: str) -> str:
    """Replace each `@name` by the offset of that field in the state block.

    Raises:
        KeyError: the text names a field that `DriverState` does not have.
    """
    code_lines = (line.split(";;", 1)[0] for line in text.splitlines())
    return "\n".join(_FIELD.sub(lambda match: str(FIELD_OFFSETS[match[1]]), line) for line in code_lines)


@functools.cache
def driver_wasm() -> bytes:
    """Assemble the driver module from its parts."""
    parts = "\n".join(with_field_offsets(_text(part)) for part in _DRIVER_PARTS)
    return bytes(wasmtime.wat2wasm(f"(module\n{parts}\n)"))


@functools.cache
def services_wasm() -> bytes:
    """Assemble the module that a guest's imports come from, with the staging memory."""
    return bytes(wasmtime.wat2wasm(_text("services")))
