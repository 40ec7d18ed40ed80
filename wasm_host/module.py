"""A compiled module, and the caches of compiled code: this process's, and the disk's beneath it."""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache

import wasmtime

from wasm_host.code_cache import CodeCache
from wasm_host.dialects import Dialect
from wasm_host.engine import SandboxEngine

_MAX_MODULES_PER_PROCESS = 512


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """A module that passed admission, compiled for one engine.

    Attributes:
        digest: SHA-256 of the bytes, in hexadecimal; the module's name everywhere.
        size_bytes: Length of the bytes.
        dialect: How it speaks.
        exports: Names of its functions that belong to the contract.
        imports: (module, name) of each import, in order.
        uses_wasi: Whether it imports the deterministic WASI stub.
        memory_min_bytes: Declared size of its memory.
        memory_max_bytes: Declared maximum, if any.
    """

    digest: str
    size_bytes: int
    dialect: Dialect
    exports: frozenset[str]
    imports: tuple[tuple[str, str], ...]
    uses_wasi: bool
    memory_min_bytes: int
    memory_max_bytes: int | None
    sandbox: SandboxEngine
    compiled: wasmtime.Module

    def __repr__(self) -> str:
        return f"CompiledModule({self.digest[:12]}, {self.dialect.name}, {self.size_bytes:,} bytes)"


_modules: OrderedDict[tuple[str, object], wasmtime.Module] = OrderedDict()
_code_cache: list[CodeCache] = []


def code_cache() -> CodeCache:
    """This process's view of the code on disk."""
    if not _code_cache:
        _code_cache.append(CodeCache())
    return _code_cache[0]


def compile_wasm(wasm: bytes, digest: str, sandbox: SandboxEngine) -> wasmtime.Module:
    """Compile, or take from this process's cache, or from the disk's.

    Raises:
        wasmtime.WasmtimeError: the bytes do not compile.
    """
    # The engine itself is part of the key: after a fork there is a new one, and old code is not found.
    key = (digest, sandbox)
    module = _modules.get(key)
    if module is None:
        disk_key = f"{digest}-{sandbox.settings.fingerprint()}"
        module = code_cache().load(disk_key, sandbox.engine)
        if module is None:
            module = wasmtime.Module(sandbox.engine, wasm)
            code_cache().store(disk_key, module)
        _modules[key] = module
        while len(_modules) > _MAX_MODULES_PER_PROCESS:
            _modules.popitem(last=False)
    _modules.move_to_end(key)
    return module


@cache
def _digest_of_host_module(wasm: bytes) -> str:
    return hashlib.sha256(wasm).hexdigest()


def compile_host_module(wasm: bytes, sandbox: SandboxEngine) -> wasmtime.Module:
    """Compile one of the host's own modules, or take it from a cache."""
    return compile_wasm(wasm, _digest_of_host_module(wasm), sandbox)
