"""Rust through Debian's own compiler, which has the wasm32 target that a toolchain in the home folder often lacks."""

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
DEBIAN_COMPILER = "/usr/bin/rustc"
INSTALL = "apt-get install rustc libstd-rust-dev-wasm32 lld"

BUILT_WITH = "rustc 1.63.0"
"""The compiler of the committed modules (Debian 12). Another one builds as well, but not the same bytes."""


def _compiler() -> str | None:
    """The first rustc that can build for wasm32; the Debian one comes first, because PATH may hide it."""
    for candidate in (DEBIAN_COMPILER, shutil.which("rustc")):
        if candidate is None or not Path(candidate).exists():
            continue
        asked = subprocess.run(  # noqa: S603 - asks a compiler where its target's libraries are
            [candidate, "--print", "target-libdir", "--target", TARGET], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0 and Path(asked.stdout.strip()).is_dir():
            return candidate
    return None


def compiler_version() -> str | None:
    """What the compiler that builds here calls itself, for example `rustc 1.63.0`."""
    compiler = _compiler()
    if compiler is None:
        return None
    asked = subprocess.run(  # noqa: S603 - the compiler found above
        [compiler, "--version"], capture_output=True, text=True, check=True
    )
    return " ".join(asked.stdout.split()[:2])


def _missing() -> str | None:
    compiler = _compiler()
    if compiler is None:
        return f"no rustc with the target {TARGET} ({INSTALL})"
    # Other distributions of the compiler bring their linker along.
    if compiler == DEBIAN_COMPILER and shutil.which("rust-lld") is None:
        return f"no lld, the linker that rustc calls ({INSTALL})"
    return None


def _compile(source: Path, target: Path) -> None:
    compiler = _compiler()
    assert compiler is not None, "compile is called only where nothing is missing"
    relative = source.relative_to(EXAMPLES) if source.is_relative_to(EXAMPLES) else source
    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "libwasm_host.rlib"
        guest = Path(scratch) / "guest.wasm"
        sdk = ("--crate-type", "rlib", "--crate-name", "wasm_host", "-o", library, "sdk/rust/src/lib.rs")
        run([compiler, *FLAGS, *sdk], cwd=EXAMPLES)
        example = ("--crate-type", "cdylib", "-C", "lto=fat", "--extern", f"wasm_host={library}", "-o", guest, relative)
        run([compiler, *FLAGS, *example], cwd=EXAMPLES)
        target.write_bytes(guest.read_bytes())


TOOLCHAIN = Toolchain(language="rust", source="{name}/{name}.rs", missing=_missing, compile=_compile)
