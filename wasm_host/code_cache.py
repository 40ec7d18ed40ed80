"""Compiled code on disk, shared by the processes of one host.

Safety: a file here is machine code that wasmtime runs without looking, so the folder must belong to this user and be
closed to everybody else; a folder that is not so is not used. A checksum in front of the code tells a damaged file,
which is then rebuilt; it does not protect against somebody who may write here.

Several processes may write at once: each writes a file of its own and renames it into place. A cache that cannot be
used (full disk, read-only, deleted under us) costs a compilation and a warning, never a job.
"""

import hashlib
import logging
import os
import stat
import tempfile
from pathlib import Path

import wasmtime

_LOGGER = logging.getLogger(__name__)
_MAGIC = b"wasm-host code 1\n"
_DIGEST_BYTES = 32
_MAX_CACHE_BYTES = 1 << 30
# Looking at the whole folder costs more than writing one file.
_STORES_PER_PRUNE = 32
CACHE_DIR_VARIABLE = "WASM_HOST_CACHE_DIR"


def default_cache_dir() -> Path:
    """The folder from the environment, else the user's cache folder, else a private one among temporary files."""
    named = os.environ.get(CACHE_DIR_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "wasm-host"
    try:
        home = Path.home()
    except RuntimeError:
        home = Path("/nonexistent")  # a container's user number that is in no password file
    if home.is_dir() and os.access(home, os.W_OK):
        return home / ".cache" / "wasm-host"
    return Path(tempfile.gettempdir()) / f"wasm-host-{os.getuid()}"


class CodeCache:
    """A folder of compiled modules, by key."""

    def __init__(self, folder: Path | None = None, *, max_bytes: int = _MAX_CACHE_BYTES) -> None:
        self.folder = folder or default_cache_dir()
        self._max_bytes = max_bytes
        self._warned: set[str] = set()
        self._stored = 0
        self.hits = 0
        self.misses = 0

    def load(self, key: str, engine: wasmtime.Engine) -> wasmtime.Module | None:
        """The module compiled earlier under `key`, or None when there is none that can be used."""
        path = self._path(key)
        module = None
        try:
            if self._is_private():
                module = _deserialize(path.read_bytes(), engine)
                if module is None:
                    self._warn("damaged", f"compiled code {path.name} is damaged and is made again")
        except FileNotFoundError:
            pass
        except OSError as error:
            self._warn("read", f"the code cache {self.folder} cannot be read ({error.strerror}); modules are compiled")
        if module is None:
            self.misses += 1
        else:
            self.hits += 1
        return module

    def store(self, key: str, module: wasmtime.Module) -> None:
        """Keep a compiled module. Failing to is a warning, because the job can go on."""
        code = bytes(module.serialize())
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_private():
                return
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".writing-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_MAGIC + hashlib.sha256(code).digest() + code)
                os.replace(name, self._path(key))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._stored += 1
            if self._stored % _STORES_PER_PRUNE == 1:
                self._prune()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            self._warn("write", f"the code cache {self.folder} cannot be written ({reason}); compiled code is not kept")

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.cwasm"

    def _is_private(self) -> bool:
        info = self.folder.stat()
        is_private = info.st_uid == os.getuid() and not info.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        if not is_private:
            self._warn(
                "private",
                f"the code cache {self.folder} is open to other users (mode {stat.S_IMODE(info.st_mode):o}, owner "
                f"{info.st_uid}) and is not used; make it yours with mode 700, or name another in {CACHE_DIR_VARIABLE}",
            )
        return is_private

    def _prune(self) -> None:
        """Remove what was used longest ago until the folder is below its size."""
        entries = []
        for path in self.folder.glob("*.cwasm"):
            try:
                info = path.stat()
            except FileNotFoundError:
                continue  # another process removed it first
            entries.append((max(info.st_atime, info.st_mtime), info.st_size, path))
        excess = sum(size for _, size, _ in entries) - self._max_bytes
        for _, size, path in sorted(entries):
            if excess <= 0:
                break
            path.unlink(missing_ok=True)
            excess -= size

    def _warn(self, kind: str, message: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            _LOGGER.warning("%s", message)


def _deserialize(content: bytes, engine: wasmtime.Engine) -> wasmtime.Module | None:
    header = len(_MAGIC) + _DIGEST_BYTES
    code = content[header:]
    if content[: len(_MAGIC)] != _MAGIC or hashlib.sha256(code).digest() != content[len(_MAGIC) : header]:
        return None
    try:
        return wasmtime.Module.deserialize(engine, code)
    except wasmtime.WasmtimeError:
        # Code of another wasmtime under our key cannot happen by the key's making, but costs only a compilation.
        return None
