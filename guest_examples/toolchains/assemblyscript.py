"""AssemblyScript, from npm. The compiler is fetched on first use into `.cache/`, which is never committed."""

import os
import shutil
from pathlib import Path

from guest_examples.toolchains.toolchain import EXAMPLES, BuildError, Toolchain, run

VERSION = "0.28.20"
"""Exact: another compiler gives other bytes."""

_FOLDER = EXAMPLES.parent / ".cache" / "assemblyscript"
_COMPILER = _FOLDER / "node_modules" / "assemblyscript" / "bin" / "asc.js"
_OPTIONS = ("-O3", "--runtime", "incremental")


class FetchError(BuildError):
    """The compiler is not here and npm could not bring it."""


def _missing() -> str | None:
    for command in ("node", "npm"):
        if shutil.which(command) is None:
            return f"{command} is not installed (Node.js 20 or later, with npm)"
    return None


def _fetch_compiler() -> None:
    _FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        run(["npm", "install", "--no-save", "--no-audit", "--no-fund", f"assemblyscript@{VERSION}"], cwd=_FOLDER)
    except BuildError as exc:
        raise FetchError(f"npm could not fetch assemblyscript@{VERSION}: {exc}") from None


def _compile(source: Path, target: Path) -> None:
    manifest = _COMPILER.parent.parent / "package.json"
    if not manifest.exists() or f'"version": "{VERSION}"' not in manifest.read_text():
        _fetch_compiler()
    # A relative name: the module holds the names of its sources, and must be the same wherever it is built.
    name = os.path.relpath(source, EXAMPLES)
    run(["node", _COMPILER, name, *_OPTIONS, "--outFile", target.absolute()], cwd=EXAMPLES)


TOOLCHAIN = Toolchain("as", "{name}/{name}.ts", _missing, _compile)
