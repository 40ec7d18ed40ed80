"""Zig, from PyPI (`ziglang`, pinned: a test compares the bytes of rebuilt guests)."""

import importlib.util
import sys
import tempfile
from pathlib import Path

from guest_examples.toolchains.toolchain import EXAMPLES, Toolchain, run

EXPORTS = ("wasm_host_abi_version", "alloc", "dealloc", "init", "transform")
"""By name: `-rdynamic` would export the stack pointer as well."""

_OWN_CODE = {"filter_rows": "ReleaseSmall"}
"""How an example's own code is optimised. This one parses nothing itself and is large."""


def _missing() -> str | None:
    if importlib.util.find_spec("ziglang"):
        return None
    return "the Python package ziglang is not installed (pip install ziglang==0.17.0)"


def _compile(source: Path, target: Path) -> None:
    sdk = EXAMPLES / "sdk" / "zig" / "sdk.zig"
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / "guest.wasm"
        run(
            [
                sys.executable,
                *(
                    "-m",
                    "ziglang",
                    "build-exe",
                    "-target",
                    "wasm32-freestanding",
                    "-mcpu",
                    "generic+simd128+bulk_memory",
                ),
                *("-fno-entry", "-fstrip", "--stack", "65536"),
                *(f"--export={name}" for name in EXPORTS),
                f"-femit-bin={built}",
                *("-O", _OWN_CODE.get(source.stem, "ReleaseSafe"), "--dep", "sdk", f"-Mroot={source}"),
                # Bounds checks stay in: this is what parses bytes that a stranger may have written.
                *("-O", "ReleaseSafe", f"-Msdk={sdk}"),
            ],
            cwd=Path(scratch),
        )
        target.write_bytes(built.read_bytes())


TOOLCHAIN = Toolchain("zig", "{name}/{name}.zig", _missing, _compile, is_reproducible=True)
