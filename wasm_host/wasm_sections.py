"""A look into a module's binary that wasmtime's API does not give: sections, and the tables it declares.

Only for modules that wasmtime has already validated, so the structure can be relied on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

_HEADER_BYTES = 8
_TABLE_SECTION = 4
_HAS_MAXIMUM = 0x01
_HAS_INITIAL_EXPRESSION = 0x40


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """A table of the module's own."""

    min_elements: int
    max_elements: int | None


def sections(wasm: bytes) -> Iterator[tuple[int, bytes]]:
    """Walk the sections: id and content."""
    at = _HEADER_BYTES
    while at < len(wasm):
        section = wasm[at]
        size, at = read_leb128(wasm, at + 1)
        yield section, wasm[at : at + size]
        at += size


def declared_tables(wasm: bytes) -> list[DeclaredTable]:
    """The tables that a valid module declares."""
    for section, content in sections(wasm):
        if section == _TABLE_SECTION:
            return list(_tables(content))
    return []


def _tables(content: bytes) -> Iterator[DeclaredTable]:
    count, at = read_leb128(content, 0)
    for _ in range(count):
        if content[at] == _HAS_INITIAL_EXPRESSION:
            # Only the function-references proposal writes this form, and guests do not get that proposal.
            return
        flags = content[at + 1]
        minimum, at = read_leb128(content, at + 2)
        maximum = None
        if flags & _HAS_MAXIMUM:
            maximum, at = read_leb128(content, at)
        yield DeclaredTable(minimum, maximum)


def read_leb128(data: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned LEB128 number; returns it and the position behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
