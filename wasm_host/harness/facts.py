"""What a module is, and whether this host would take it: found without running any of it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from abi import TransformError
from wasm_host.admission import admit
from wasm_host.dialects import DIALECTS
from wasm_host.harness.binary import Outline, read_outline
from wasm_host.harness.proposals import is_wasm, proposals_used
from wasm_host.limits import WASM_PAGE_BYTES, Limits

_MAX_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason why the host does not take the module."""

    code: str
    message: str
    hint: str | None
    spec: str | None


@dataclass(slots=True)
class ModuleFacts:
    """All that can be said of a module from its bytes.

    Attributes:
        is_valid: A core module that validates when every proposal is on.
        dialect: The contract that it follows, by its exports.
        refusals: Why this host would not take it; empty when it would.
    """

    name: str
    digest: str
    size_bytes: int
    is_valid: bool
    language: str | None = None
    dialect: str | None = None
    exports: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    memory: str = "none"
    proposals: list[str] = field(default_factory=list)
    producers: dict[str, list[str]] = field(default_factory=dict)
    has_start: bool = False
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def is_taken(self) -> bool:
        """Whether this host would take it."""
        return not self.refusals


def outline_of(wasm: bytes) -> Outline | None:
    """What the module declares; None for bytes that are no module under any proposal."""
    if not is_wasm(wasm):
        return None
    try:
        return read_outline(wasm)
    except IndexError:
        # A valid module written with types of a proposal that the reader does not know.
        return Outline()


def facts_of(wasm: bytes, path: Path | None) -> ModuleFacts:
    """Gather the facts, without the reasons for a refusal (the contract section finds those)."""
    outline = outline_of(wasm)
    facts = ModuleFacts(
        name=path.name if path else "module",
        digest=hashlib.sha256(wasm).hexdigest(),
        size_bytes=len(wasm),
        is_valid=outline is not None,
    )
    if outline is None:
        return facts
    facts.language = outline.language
    facts.exports = [str(item) for item in outline.exports[:_MAX_ITEMS]]
    facts.imports = [str(item) for item in outline.imports[:_MAX_ITEMS]]
    facts.memory = describe_memory(outline)
    facts.proposals = proposals_used(wasm)
    facts.producers = outline.producers
    facts.has_start = outline.has_start
    names = {item.name for item in outline.exports}
    facts.dialect = next((dialect.name for dialect in DIALECTS if dialect.version_export in names), None)
    return facts


def describe_memory(outline: Outline) -> str:
    """The declared memories in one line."""
    parts = []
    for memory in outline.memories[:4]:
        most = "no maximum" if memory.max_pages is None else f"at most {memory.max_pages * WASM_PAGE_BYTES:,}"
        marks = [
            word
            for word, holds in (
                ("imported", memory.is_imported),
                ("shared", memory.is_shared),
                ("64-bit", memory.is_64_bit),
            )
            if holds
        ]
        parts.append(", ".join([f"{memory.min_pages * WASM_PAGE_BYTES:,} bytes", most, *marks]))
    return "; ".join(parts) or "none"


def admission_refusal(wasm: bytes, limits: Limits, *, wasi: bool) -> TransformError | None:
    """The host's own verdict: the error of its admission check, or None."""
    try:
        admit(wasm, limits, allows_wasi=wasi)
    except TransformError as error:
        return error
    return None
