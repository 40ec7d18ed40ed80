"""C through the clang inside the PyPI package `ziglang`: no libc, no sanitizer, the same bytes wherever it is built."""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

from guest_examples.toolchains.toolchain import EXAMPLES, Toolchain, run

SDK = EXAMPLES / "sdk" / "c"

FLAGS = (
    "-std=c17",
    "-target",
    "wasm32-freestanding",
    "-mcpu=generic+simd128+bulk_memory",
    "-nostdlib",
    "-O2",
    "-s",
    "-Wall",
    "-Wextra",
    "-Werror",
    # One header serves every guest, so each guest leaves some of it unused.
    "-Wno-unused-function",
    "-Wl,--no-entry",
    # Guests do not recurse over data; the default of 1 MiB would only make every instance larger.
    "-Wl,-z,stack-size=65536",
)


def _missing() -> str | None:
    if importlib.util.find_spec("ziglang") is None:
        return "the Python package ziglang is not installed"
    return None


def _compile(source: Path, target: Path) -> None:
    # zig keeps what it has compiled: a folder of our own holds, and then forgets, what belongs to this build only.
    with tempfile.TemporaryDirectory() as cache:
        run(
            [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-I", SDK, source, "-o", target],
            env={**os.environ, "ZIG_LOCAL_CACHE_DIR": cache},
        )


TOOLCHAIN = Toolchain(language="c", source="{name}/{name}.c", missing=_missing, compile=_compile, is_reproducible=True)
