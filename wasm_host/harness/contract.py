"""Section 1: does the module follow the contract? Everything that can be told without events.

Each check names its part of `abi/SPEC.md`. The host's own admission has the last word, so this list can never be kinder
than the host is.
"""

from abi import TransformError
from abi.names import GUEST_EXPORTS, HOST_IMPORTS, IMPORT_MODULE, MEMORY_EXPORT
from wasm_host.dialects import DIALECTS, Dialect
from wasm_host.errors import ContractError, ModuleError
from wasm_host.harness.binary import Item, Outline
from wasm_host.harness.facts import (
    ModuleFacts,
    Refusal,
    admission_refusal,
    describe_memory,
    facts_of,
    outline_of,
)
from wasm_host.harness.proposals import ALLOWED, proposals_used
from wasm_host.harness.report import Check, Section
from wasm_host.harness.subject import Subject
from wasm_host.limits import WASM_PAGE_BYTES
from wasm_host.wasi import WASI_IMPORT_MODULE, WASI_IMPORTS

_ADMISSION = "SPEC.md 1"
_EXPORTS = "SPEC.md 2"
_IMPORTS = "SPEC.md 3"
_LIMITS = "SPEC.md 10"
_RUSTCDC = "SPEC.md 12"
_WASI = "SPEC.md 13"
_RESERVED_PREFIX = "wasm_host_"


def check_contract(subject: Subject) -> Section:
    """Look at the module without running it."""
    section = Section("contract")
    _check_size(subject, section)
    outline = outline_of(subject.wasm)
    refusal = admission_refusal(subject.wasm, subject.limits, wasi=subject.wasi)
    if outline is None:
        message = refusal.message if refusal else "not valid WebAssembly under any proposal"
        section.failed("core module", _with_hint(message, refusal), spec=_ADMISSION)
        return section
    section.passed("core module", f"{len(subject.wasm):,} bytes")
    _check_proposals(subject, section, refusal)
    _check_imports(subject, section, outline)
    dialect = _check_dialect(section, outline)
    if dialect is not None:
        _check_exports(section, outline, dialect)
    _check_memory(subject, section, outline)
    if refusal is not None and section.status != "fail":
        section.failed("admission", _with_hint(f"[{refusal.code}] {refusal.message}", refusal), spec=_spec_of(refusal))
    elif refusal is None:
        section.passed("admission", "this host takes the module")
    return section


def check_version(subject: Subject, section: Section) -> None:
    """Run the start-up code far enough to hear the version; what else goes wrong there is the lifecycle's matter."""
    try:
        subject.load().close()
    except ContractError as error:
        section.failed("ABI version", _with_hint(error.message, error), spec=f"{_EXPORTS} and 11")
    except TransformError:
        return
    else:
        section.passed("ABI version", "answers the version that this host speaks")


def inspect(subject: Subject) -> ModuleFacts:
    """The module's facts with all reasons for a refusal; nothing of it is run."""
    facts = facts_of(subject.wasm, subject.path)
    refusal = admission_refusal(subject.wasm, subject.limits, wasi=subject.wasi)
    if refusal is None:
        return facts
    checks = [check for check in check_contract(subject).checks if check.status == "fail"]
    facts.refusals = [Refusal(refusal.code, check.detail, None, check.spec) for check in checks]
    return facts


def _check_size(subject: Subject, section: Section) -> None:
    limit = subject.limits.max_module_bytes
    if len(subject.wasm) > limit:
        section.failed("size", f"{len(subject.wasm):,} bytes; max_module_bytes is {limit:,}", spec=_LIMITS)


def _check_proposals(subject: Subject, section: Section, refusal: TransformError | None) -> None:
    used = proposals_used(subject.wasm)
    wrong = [name for name in used if name not in ALLOWED]
    if wrong:
        reason = f": {refusal.message}" if isinstance(refusal, ModuleError) else ""
        section.failed("proposals", f"uses {', '.join(wrong)}, which guests may not{reason}", spec=_ADMISSION)
    else:
        section.passed("proposals", ", ".join(used) or "none beyond the first version")


def _check_imports(subject: Subject, section: Section, outline: Outline) -> None:
    allowed = {(IMPORT_MODULE, symbol.name): symbol.signature for symbol in HOST_IMPORTS}
    wasi = {(WASI_IMPORT_MODULE, symbol.name): symbol.signature for symbol in WASI_IMPORTS}
    wrong: list[Check] = []
    for item in outline.imports:
        key = (item.module, item.name)
        expected = allowed.get(key) or wasi.get(key)
        if expected is None:
            names = ", ".join(f"env.{symbol.name}" for symbol in HOST_IMPORTS)
            wrong.append(Check("imports", "fail", f"{item} is not offered; allowed are {names}", _IMPORTS))
        elif key in wasi and not subject.wasi:
            wrong.append(Check("imports", "fail", f"{item} is WASI, which is off; see --wasi", _WASI))
        elif item.signature != expected:
            detail = f"{item} has another type; it is a function {expected}"
            wrong.append(Check("imports", "fail", detail, _WASI if key in wasi else f"{_IMPORTS} `{item.name}`"))
    if wrong:
        section.checks += wrong[:20]
    else:
        section.passed("imports", ", ".join(f"{item.module}.{item.name}" for item in outline.imports) or "none")


def _check_dialect(section: Section, outline: Outline) -> Dialect | None:
    names = {item.name for item in outline.exports}
    for dialect in DIALECTS:
        if dialect.version_export in names:
            return dialect
    shown = " or ".join(dialect.version_export for dialect in DIALECTS)
    section.failed("exports", f"exports neither {shown}, so its contract is unknown", spec=f"{_EXPORTS} and 11")
    return None


def _check_exports(section: Section, outline: Outline, dialect: Dialect) -> None:
    found: dict[str, Item] = {item.name: item for item in outline.exports}
    failures = 0
    for symbol in GUEST_EXPORTS:
        name = dialect.version_export if symbol is GUEST_EXPORTS[0] else symbol.name
        item = found.get(name)
        if item is None:
            if symbol.required:
                failures += 1
                section.failed("exports", f"{name} {symbol.signature} is missing", spec=f"{_EXPORTS} `{symbol.name}`")
            continue
        if item.signature != symbol.signature:
            failures += 1
            section.failed("exports", f"{item} must be {symbol.signature}", spec=f"{_EXPORTS} `{symbol.name}`")
    known = {symbol.name for symbol in GUEST_EXPORTS}
    for name in found:
        if name.startswith(_RESERVED_PREFIX) and name not in known:
            failures += 1
            section.failed("exports", f"{name} begins with {_RESERVED_PREFIX}, which is reserved", spec=_EXPORTS)
    if not failures:
        optional = [symbol.name for symbol in GUEST_EXPORTS if not symbol.required and symbol.name in found]
        note = f"; also {', '.join(optional)}" if optional else ""
        section.passed("exports", f"{dialect.name}{note}")


def _check_memory(subject: Subject, section: Section, outline: Outline) -> None:
    spec = f"{_EXPORTS} and 10"
    exported = any(item.name == MEMORY_EXPORT and item.kind == "memory" for item in outline.exports)
    shown = describe_memory(outline)
    limit = subject.limits.max_memory_bytes
    if not exported:
        section.failed("memory", f"no memory is exported as {MEMORY_EXPORT!r} (declared: {shown})", spec=spec)
    elif any(memory.is_imported or memory.is_shared or memory.is_64_bit for memory in outline.memories):
        section.failed("memory", f"must be its own, 32-bit and not shared; declared: {shown}", spec=spec)
    elif len(outline.memories) > 1:
        section.failed("memory", f"only one is allowed; declared: {shown}", spec=spec)
    elif outline.memories[0].min_pages * WASM_PAGE_BYTES > limit:
        section.failed("memory", f"declares {shown}; max_memory_bytes is {limit:,}", spec=spec)
    else:
        section.passed("memory", shown)


def _spec_of(error: TransformError) -> str:
    return _LIMITS if "limit" in error.details else _ADMISSION


def _with_hint(message: str, error: TransformError | None) -> str:
    return f"{message}; hint: {error.hint}" if error is not None and error.hint else message
