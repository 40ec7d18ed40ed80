"""`wasm-host build`: compile the project of the current folder."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from wasm_host.cli.errors import BuildFailed
from wasm_host.cli.misuse import refuse
from wasm_host.cli.project import Project, read_project

_RUST_TARGET = "wasm32-unknown-unknown"
_EXPORTS = ("wasm_host_abi_version", "alloc", "dealloc", "init", "transform")


@click.command("build", epilog="Example: wasm-host new only_users --lang zig && cd only_users && wasm-host build.")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
def command(folder: Path) -> None:
    """Compile the project in FOLDER (by default the current one), or say what has to be installed."""
    project = read_project(folder)
    missing = _missing(project)
    if missing:
        refuse(f"cannot compile {project.language.title} here", missing)
    try:
        build_project(project)
    except BuildFailed as failure:
        # The compiler's own lines first: that is what the author works through.
        if failure.details.get("output"):
            click.echo(failure.details["output"], err=True)
        raise
    click.echo(f"built {project.module.name} ({project.module.stat().st_size:,} bytes)")


def build_project(project: Project) -> None:
    """Compile; the module is replaced only when that succeeds.

    Raises:
        BuildFailed: the compiler refused.
    """
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / "guest.wasm"
        _BUILDERS[project.language.name](project, built)
        # Beside the old one first: an interrupted copy must not leave half a module.
        beside = project.module.with_name(f".{project.module.name}.new")
        try:
            shutil.copyfile(built, beside)
            beside.replace(project.module)
        finally:
            beside.unlink(missing_ok=True)


def _missing(project: Project) -> str | None:
    """Why the compiler cannot be used here."""
    from guest_examples.toolchains import find_toolchains

    toolchain = find_toolchains().get(project.language.code)
    return "this installation has no toolchain for it" if toolchain is None else toolchain.missing()


def _build_zig(project: Project, built: Path) -> None:
    root = project.folder.resolve()
    command = [sys.executable, "-m", "ziglang", "build-exe", "-target", "wasm32-freestanding"]
    command += ["-mcpu", "generic+simd128+bulk_memory"]
    # Bounds checks stay in: a transform reads what strangers wrote.
    command += ["-O", "ReleaseSafe", "-fno-entry", "-fstrip", "--stack", "65536", f"-femit-bin={built}"]
    command += [f"--export={name}" for name in _EXPORTS]
    command += ["--dep", "sdk", f"-Mroot={root / project.language.source}", f"-Msdk={root / 'sdk' / 'sdk.zig'}"]
    _run(command, built.parent)


def _build_c(project: Project, built: Path) -> None:
    command = [sys.executable, "-m", "ziglang", "cc", "-std=c17", "-target", "wasm32-freestanding"]
    command += [
        "-mcpu=generic+simd128+bulk_memory",
        "-nostdlib",
        "-O2",
        "-s",
        "-Wall",
        "-Wextra",
        "-Wno-unused-function",
    ]
    command += ["-Wl,--no-entry", "-Wl,-z,stack-size=65536", "-I", "sdk", project.language.source, "-o", str(built)]
    _run(command, project.folder, {"ZIG_LOCAL_CACHE_DIR": str(built.parent)})


def _build_rust(project: Project, built: Path) -> None:
    compiler = _rust_compiler()
    library = str(built.parent / "libwasm_host.rlib")
    flags = [
        "--edition",
        "2021",
        "--target",
        _RUST_TARGET,
        "-C",
        "opt-level=3",
        "-C",
        "panic=abort",
        "-C",
        "strip=symbols",
    ]
    flags += ["-C", "target-feature=+bulk-memory,+simd128", "-C", "link-arg=-zstack-size=65536"]
    _run(
        [compiler, *flags, "--crate-type", "rlib", "--crate-name", "wasm_host", "-o", library, "sdk/src/lib.rs"],
        project.folder,
    )
    guest = ["--crate-type", "cdylib", "-C", "lto=fat", "--extern", f"wasm_host={library}", "-o", str(built)]
    _run([compiler, *flags, *guest, project.language.source], project.folder)


def _rust_compiler() -> str:
    """The rustc that has the target's libraries; a proxy in PATH may hide the one that does."""
    for candidate in filter(None, ("/usr/bin/rustc", shutil.which("rustc"))):
        asked = subprocess.run(  # noqa: S603 - asks a compiler where its libraries are
            [candidate, "--print", "target-libdir", "--target", _RUST_TARGET],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode == 0 and Path(asked.stdout.strip()).is_dir():
            return candidate
    raise BuildFailed(f"no rustc with the target {_RUST_TARGET}", hint=f"rustup target add {_RUST_TARGET}")


def _build_assemblyscript(project: Project, built: Path) -> None:
    compiler = project.folder / "node_modules" / "assemblyscript" / "bin" / "asc.js"
    if not compiler.exists():
        _run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], project.folder)
    options = ["-O3", "--runtime", "incremental", "--outFile", str(built)]
    _run(["node", str(compiler.relative_to(project.folder)), project.language.source, *options], project.folder)


def _build_go(project: Project, built: Path) -> None:
    compiler = shutil.which("go", path=str(Path(sys.executable).parent)) or shutil.which("go") or "go"
    settings = {"GOOS": "wasip1", "GOARCH": "wasm", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    options = ["-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(built), "."]
    _run([compiler, "build", *options], project.source.parent, settings)


_BUILDERS: dict[str, Callable[[Project, Path], None]] = {
    "zig": _build_zig,
    "c": _build_c,
    "rust": _build_rust,
    "assemblyscript": _build_assemblyscript,
    "go": _build_go,
}


def _run(arguments: Sequence[str], cwd: Path, settings: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(  # noqa: S603 - a compiler, on the caller's own project
        list(arguments), cwd=cwd, env={**os.environ, **(settings or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildFailed(
            f"{Path(arguments[0]).name} ended with status {done.returncode}",
            hint="correct the source as the compiler says; the module that was there is still there",
            output=(done.stderr or done.stdout).strip(),
        )
