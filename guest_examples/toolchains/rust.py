"""Rust through Debian's own compiler, which has the wasm32 target that a toolchain in the home folder often lacks."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from guest_examples.toolchains.toolchain import EXAMPLES, Toolchain, run

TARGET = "wasm32-unknown-unknown"
FLAGS = (
    *("--edition", "2021"),
    *("--target", TARGET),
    *("-C", "opt-level=3"),
    *("-C", "panic=abort"),
    *("-C", "strip=symbols"),
    *("-C", "codegen-units=1"),
    *("-C", "target-feature=+bulk-memory,+simd128"),
    # Guests do not recurse over data; the default of 1 MiB would only make every instance larger.
    *("-C", "link-arg=-zstack-size=65536"),
    *("-D", "warnings"),
    # Paths end up in the messages of panics: they are the same whoever builds.
    f"--remap-path-prefix={EXAMPLES}=.",
)
INSTALL = "apt-get install rustc libstd-rust-dev-wasm32 lld"


def _compiler() -> str | None:
    """The first rustc that can build for wasm32; the Debian one comes first, because PATH may hide it."""
    for candidate in ("/usr/bin/rustc", shutil.which("rustc")):
        if candidate is None or not Path(candidate).exists():
            continue
        asked = subprocess.run(  # noqa: S603 - asks a compiler where its target's libraries are
            [candidate, "--print", "target-libdir", "--target", TARGET], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0 and Path(asked.stdout.strip()).is_dir():
            return candidate
    return None


def _missing() -> str | None:
    if _compiler() is None:
        return f"no rustc with the target {TARGET} ({INSTALL})"
    if shutil.which("rust-lld") is None and shutil.which("lld") is None:
        return f"no lld, the linker that rustc calls ({INSTALL})"
    return None


def _compile(source: Path, target: Path) -> None:
    compiler = _compiler()
    assert compiler is not None, "compile is called only where nothing is missing"
    relative = source.relative_to(EXAMPLES) if source.is_relative_to(EXAMPLES) else source
    # A proxy of rustup in PATH would ask for a toolchain; the compiler is called by its own path.
    environment = {**os.environ, "RUSTFLAGS": ""}
    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "libwasm_host.rlib"
        guest = Path(scratch) / "guest.wasm"
        run(
            [
                compiler,
                *FLAGS,
                "--crate-type",
                "rlib",
                "--crate-name",
                "wasm_host",
                "-o",
                library,
                "sdk/rust/src/lib.rs",
            ],
            cwd=EXAMPLES,
            env=environment,
        )
        run(
            [
                *(compiler, *FLAGS, "--crate-type", "cdylib", "-C", "lto=fat"),
                *("--extern", f"wasm_host={library}", "-o", guest, relative),
            ],
            cwd=EXAMPLES,
            env=environment,
        )
        target.write_bytes(guest.read_bytes())


TOOLCHAIN = Toolchain(language="rust", source="{name}/{name}.rs", missing=_missing, compile=_compile)
