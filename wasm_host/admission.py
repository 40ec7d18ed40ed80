"""Admission: what is checked of a module before any of its code runs.

It knows the contract's symbols (`abi.names`), not events. The order goes from cheap to dear: size, header, validation
under the proposals that guests may use, what there is to compile, compilation, imports, exports, memory, tables.
"""

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

import wasmtime

from abi.names import GUEST_EXPORTS, HOST_IMPORTS, IMPORT_MODULE, MEMORY_EXPORT, Signature
from wasm_host.dialects import DIALECTS, Dialect
from wasm_host.engine import engine_for
from wasm_host.errors import (
    ConfigError,
    ContractError,
    ForbiddenImportError,
    InvalidModuleError,
    MemoryLimitError,
    ModuleTooLargeError,
)
from wasm_host.guest_text import clean_text
from wasm_host.limits import WASM_PAGE_BYTES, Limits
from wasm_host.module import CompiledModule, compile_wasm
from wasm_host.traps import first_line
from wasm_host.wasi import WASI_IMPORT_MODULE, WASI_IMPORTS
from wasm_host.wasm_code import CodeShape, UnknownInstructionError, measure_code
from wasm_host.wasm_constants import ComputedConstantError, check_constants
from wasm_host.wasm_sections import declared_tables

_MAX_SHAPES = 4096
_shapes: dict[str, CodeShape] = {}
_MODULE_HEADER = b"\0asm\x01\0\0\0"
_COMPONENT_HEADER = b"\0asm\x0d\0\x01\0"


def read_module(source: bytes | str | Path, limits: Limits) -> bytes:
    """Read the bytes of a module, refusing early what is too large.

    Raises:
        ConfigError: the path is not a readable file.
        ModuleTooLargeError: more than `max_module_bytes`.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        wasm = bytes(source)
        size = len(wasm)
    elif isinstance(source, (str, Path)):
        wasm, size = _read_file(Path(source), limits.max_module_bytes)
    else:
        raise ConfigError(
            f"the module is a {type(source).__name__}; allowed is a path or bytes", hint="give a .wasm file"
        )
    if size > limits.max_module_bytes:
        raise ModuleTooLargeError(
            f"the module has {size:,} bytes; max_module_bytes is {limits.max_module_bytes:,}",
            hint="strip it, or raise Limits.max_module_bytes",
            observed=size,
            limit=limits.max_module_bytes,
        )
    return wasm


def _read_file(path: Path, max_bytes: int) -> tuple[bytes, int]:
    """The content and its size; no content if it is too large."""
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise ConfigError(f"cannot read the module {str(path)!r}: it is not a file", hint="give a .wasm file")
        return (path.read_bytes() if info.st_size <= max_bytes else b""), info.st_size
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
        raise ConfigError(f"cannot read the module {str(path)!r}: {reason}", hint="give a .wasm file") from error


def admit(wasm: bytes, limits: Limits, *, allows_wasi: bool = False) -> CompiledModule:
    """Check and compile a module.

    Raises:
        InvalidModuleError: not a module under the proposals that guests may use.
        ModuleTooLargeError: there is more to compile than the limits allow.
        ForbiddenImportError: it imports something outside the allow-list.
        ContractError: exports are missing or of another type.
        MemoryLimitError: it declares more memory than it may have.
    """
    digest = hashlib.sha256(wasm).hexdigest()
    sandbox = engine_for(limits.max_stack_bytes)
    _check_header(wasm, digest)
    try:
        sandbox.validate_guest(wasm)
        _check_code(wasm, digest, limits)
        compiled = compile_wasm(wasm, digest, sandbox)
    except wasmtime.WasmtimeError as error:
        raise InvalidModuleError(
            f"module {digest[:12]} is not valid WebAssembly for this host: {_validation_reason(error)}",
            hint="build for plain wasm32 without the proposal named here",
            digest=digest,
        ) from error
    uses_wasi = _check_imports(compiled, digest, allows_wasi=allows_wasi)
    exports = {export.name: export.type for export in compiled.exports}
    dialect = _dialect_of(exports, digest)
    _check_functions(exports, dialect, digest)
    minimum, maximum = _check_memory(exports, limits, digest)
    _check_tables(wasm, limits, digest)
    names = {symbol.name for symbol in GUEST_EXPORTS} | {dialect.version_export}
    return CompiledModule(
        digest=digest,
        size_bytes=len(wasm),
        dialect=dialect,
        exports=frozenset(names & exports.keys()),
        imports=tuple((item.module, item.name or "") for item in compiled.imports),
        uses_wasi=uses_wasi,
        memory_min_bytes=minimum,
        memory_max_bytes=maximum,
        sandbox=sandbox,
        compiled=compiled,
    )


def _check_header(wasm: bytes, digest: str) -> None:
    if wasm.startswith(_MODULE_HEADER):
        return
    if wasm.startswith(_COMPONENT_HEADER):
        seen, hint = "a component", "hand in a core module (for example wasm32-unknown-unknown, not wasm32-wasip2)"
    elif wasm.lstrip().startswith(b"(module"):
        seen, hint = "WebAssembly text", "assemble it first, for example with wasmtime.wat2wasm"
    elif not wasm:
        seen, hint = "empty", "the build wrote no bytes"
    else:
        seen, hint = f"not WebAssembly (it begins with {wasm[:8].hex(' ')})", "hand in a .wasm file"
    raise InvalidModuleError(f"module {digest[:12]} is {seen}; allowed is a core module", hint=hint, digest=digest)


def _shape_of(wasm: bytes, digest: str) -> CodeShape:
    """What there is to compile; looked at once, because a worker loads one module for many tenants."""
    shape = _shapes.get(digest)
    if shape is None:
        check_constants(wasm)
        shape = measure_code(wasm)
        if len(_shapes) >= _MAX_SHAPES:
            _shapes.clear()
        _shapes[digest] = shape
    return shape


def _check_code(wasm: bytes, digest: str, limits: Limits) -> None:
    """Refuse what would take a compiler too long; afterwards it is too late to ask."""
    try:
        shape = _shape_of(wasm, digest)
    except (ComputedConstantError, UnknownInstructionError) as error:
        is_constant = isinstance(error, ComputedConstantError)
        reason = f"a {error} has a computed constant" if is_constant else f"the instruction {error} is not known here"
        raise InvalidModuleError(
            f"module {digest[:12]} is not valid WebAssembly for this host: {reason}",
            hint="build for plain wasm32 without extended constant expressions or newer proposals",
            digest=digest,
        ) from error
    for name, seen, what in (
        ("max_function_bytes", shape.largest_function_bytes, "a function of so many bytes"),
        ("max_function_complexity", shape.largest_function_complexity, "a function of the complexity"),
        ("max_code_bytes", shape.code_bytes, "functions of so many bytes together"),
        ("max_module_complexity", shape.complexity, "the complexity (types, functions, weighted branches)"),
    ):
        limit = getattr(limits, name)
        if seen > limit:
            raise ModuleTooLargeError(
                f"module {digest[:12]} has {what}: {seen:,}; {name} is {limit:,}",
                hint=f"split or simplify it, or raise Limits.{name}",
                limit_name=name,
                observed=seen,
                limit=limit,
            )


def _validation_reason(error: wasmtime.WasmtimeError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # wasmtime puts the cause below "Caused by:"; the headline alone only says that validation failed.
    causes = [line.split(":", 1)[-1].strip() if line[:1].isdigit() else line for line in lines[1:]]
    causes = [cause for cause in causes if cause != "Caused by:"]
    # The validator quotes names out of the module, and those are its author's.
    return clean_text(" / ".join([first_line(error), *causes]).encode(), max_bytes=400)


def _signature(type_: wasmtime.FuncType) -> Signature:
    return Signature(tuple(str(item) for item in type_.params), tuple(str(item) for item in type_.results))


def _check_imports(compiled: wasmtime.Module, digest: str, *, allows_wasi: bool) -> bool:
    allowed = {(IMPORT_MODULE, symbol.name): symbol.signature for symbol in HOST_IMPORTS}
    wasi = {(WASI_IMPORT_MODULE, symbol.name): symbol.signature for symbol in WASI_IMPORTS}
    uses_wasi = False
    for item in compiled.imports:
        key = (item.module, item.name or "")
        shown = f"{item.module[:64]!r}.{(item.name or '')[:64]!r}"
        if key in wasi and not allows_wasi:
            raise ForbiddenImportError(
                f"module {digest[:12]} imports {shown}, and WASI is off for it",
                hint="load it with wasi=True (a deterministic stub without files, clock or randomness)",
                digest=digest,
            )
        expected = allowed.get(key) or wasi.get(key)
        if expected is None:
            names = ", ".join(f"env.{symbol.name}" for symbol in HOST_IMPORTS)
            hint = "build without WASI and without imported memories, tables or globals"
            if item.module == WASI_IMPORT_MODULE and allows_wasi:
                hint = "the WASI stub has neither files nor sockets: leave out what opens them (in Go: os.Open, net)"
            raise ForbiddenImportError(
                f"module {digest[:12]} imports {shown}; allowed are {names}", hint=hint, digest=digest
            )
        uses_wasi = uses_wasi or key in wasi
        if not isinstance(item.type, wasmtime.FuncType) or _signature(item.type) != expected:
            seen = _signature(item.type) if isinstance(item.type, wasmtime.FuncType) else type(item.type).__name__
            raise ForbiddenImportError(
                f"module {digest[:12]} imports {shown} as {seen}; it is a function {expected}",
                hint="declare the import with that signature",
                digest=digest,
            )
    return uses_wasi


def _dialect_of(exports: Mapping[str, object], digest: str) -> Dialect:
    for dialect in DIALECTS:
        if dialect.version_export in exports:
            return dialect
    names = " or ".join(dialect.version_export for dialect in DIALECTS)
    raise ContractError(
        f"module {digest[:12]} does not export {names}, so its contract is unknown",
        hint=f"export a function {DIALECTS[0].version_export}() -> i32 that returns {DIALECTS[0].version}",
        digest=digest,
    )


def _check_functions(exports: Mapping[str, object], dialect: Dialect, digest: str) -> None:
    for symbol in GUEST_EXPORTS:
        name = dialect.version_export if symbol is GUEST_EXPORTS[0] else symbol.name
        found = exports.get(name)
        if found is None and not symbol.required:
            continue
        seen: object = "nothing of that name" if found is None else type(found).__name__
        if isinstance(found, wasmtime.FuncType):
            seen = _signature(found)
            if seen == symbol.signature:
                continue
        raise ContractError(
            f"module {digest[:12]} must export the function {name} {symbol.signature}; it exports {seen}",
            hint=f"see the entry {symbol.name} in abi/SPEC.md",
            digest=digest,
            symbol=name,
        )


def _check_memory(exports: Mapping[str, object], limits: Limits, digest: str) -> tuple[int, int | None]:
    memory = exports.get(MEMORY_EXPORT)
    if not isinstance(memory, wasmtime.MemoryType):
        raise ContractError(
            f"module {digest[:12]} must export its memory as {MEMORY_EXPORT!r}",
            hint="see the entry memory in abi/SPEC.md",
            digest=digest,
            symbol=MEMORY_EXPORT,
        )
    minimum = memory.limits.min * WASM_PAGE_BYTES
    maximum = None if memory.limits.max is None else memory.limits.max * WASM_PAGE_BYTES
    if minimum > limits.max_memory_bytes:
        raise MemoryLimitError(
            f"module {digest[:12]} declares {minimum:,} bytes of memory; max_memory_bytes is "
            f"{limits.max_memory_bytes:,}",
            hint="lower the module's initial memory, or raise Limits.max_memory_bytes",
            limit_name="max_memory_bytes",
            limit=limits.max_memory_bytes,
            observed=minimum,
        )
    return minimum, maximum


def _check_tables(wasm: bytes, limits: Limits, digest: str) -> None:
    tables = declared_tables(wasm)
    largest = max((table.min_elements for table in tables), default=0)
    for name, seen in (("max_tables", len(tables)), ("max_table_elements", largest)):
        limit = getattr(limits, name)
        if seen > limit:
            what = "tables" if name == "max_tables" else "elements in a table"
            raise MemoryLimitError(
                f"module {digest[:12]} declares {seen:,} {what}; {name} is {limit:,}",
                hint=f"raise Limits.{name}",
                limit_name=name,
                limit=limit,
                observed=seen,
            )
