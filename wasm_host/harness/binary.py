"""A module's own words about itself: types, imports, exports, memories, producers, read from its binary.

wasmtime gives some of this, but only for modules that this host compiles; a person whose module was refused wants to
see it all the more. Only for bytes that a validator with every proposal on has accepted, so that structure holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from abi.names import Signature
from wasm_host.wasm_sections import read_leb128, sections

_CUSTOM, _TYPE, _IMPORT, _FUNCTION, _TABLE, _MEMORY, _EXPORT, _START = 0, 1, 2, 3, 4, 5, 7, 8
_KINDS = {0: "function", 1: "table", 2: "memory", 3: "global", 4: "tag"}
_VALUE_TYPES = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64", 0x7B: "v128", 0x70: "funcref", 0x6F: "externref"}
_PLAIN_FUNCTION = 0x60
_MAX_NAME_BYTES = 256


@dataclass(frozen=True, slots=True)
class Item:
    """One import or export; `signature` is None for what is no function, or of a type of newer proposals."""

    name: str
    kind: str
    signature: Signature | None = None
    module: str = ""

    def __str__(self) -> str:
        name = f"{self.module}.{self.name}" if self.module else self.name
        return f"{name} {self.signature}" if self.signature else f"{name} ({self.kind})"


@dataclass(frozen=True, slots=True)
class DeclaredMemory:
    """A memory, in units of its pages."""

    min_pages: int
    max_pages: int | None
    is_shared: bool
    is_64_bit: bool
    is_imported: bool = False


@dataclass(slots=True)
class Outline:
    """What a module declares.

    Attributes:
        producers: From the custom section of that name: field to list of "tool version".
        custom_sections: Names and sizes.
    """

    imports: list[Item] = field(default_factory=list)
    exports: list[Item] = field(default_factory=list)
    memories: list[DeclaredMemory] = field(default_factory=list)
    has_start: bool = False
    producers: dict[str, list[str]] = field(default_factory=dict)
    custom_sections: list[tuple[str, int]] = field(default_factory=list)

    @property
    def language(self) -> str | None:
        """What the module says it was written in, if it says so."""
        said = self.producers.get("language")
        if said:
            return ", ".join(said)
        tools = self.producers.get("processed-by")
        return f"unknown, made by {', '.join(tools)}" if tools else None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    @property
    def is_done(self) -> bool:
        return self.at >= len(self._data)

    def byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def number(self) -> int:
        value, self.at = read_leb128(self._data, self.at)
        return value

    def name(self) -> str:
        size = self.number()
        raw = self._data[self.at : self.at + size]
        self.at += size
        text = raw[:_MAX_NAME_BYTES].decode("utf-8", errors="backslashreplace")
        # Names are the author's and go to terminals and pages: nothing that moves a cursor or hides text.
        return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)

    def memory(self, *, is_imported: bool = False) -> DeclaredMemory:
        flags = self.byte()
        minimum = self.number()
        maximum = self.number() if flags & 1 else None
        if flags & 8:  # custom page sizes
            self.number()
        return DeclaredMemory(minimum, maximum, bool(flags & 2), bool(flags & 4), is_imported)


def read_outline(wasm: bytes) -> Outline:
    """Read what a valid module declares."""
    outline = Outline()
    types: list[Signature | None] = []
    functions: list[int] = []
    exports: list[tuple[str, int, int]] = []
    for section, content in sections(wasm):
        reader = _Reader(content)
        if section == _CUSTOM:
            _read_custom(reader, content, outline)
        elif section == _TYPE:
            types = list(_read_types(reader))
        elif section == _IMPORT:
            _read_imports(reader, types, functions, outline)
        elif section == _FUNCTION:
            functions += [reader.number() for _ in range(reader.number())]
        elif section == _MEMORY:
            outline.memories += [reader.memory() for _ in range(reader.number())]
        elif section == _EXPORT:
            exports = [(reader.name(), reader.byte(), reader.number()) for _ in range(reader.number())]
        elif section == _START:
            outline.has_start = True
    for name, kind, index in exports:
        is_known = kind == 0 and index < len(functions) and functions[index] < len(types)
        signature = types[functions[index]] if is_known else None
        outline.exports.append(Item(name, _KINDS.get(kind, "unknown"), signature))
    return outline


def _read_types(reader: _Reader) -> Iterator[Signature | None]:
    for _ in range(reader.number()):
        if reader.byte() != _PLAIN_FUNCTION:
            return  # garbage collection's types; from here on positions are not known
        sides = []
        for _side in range(2):
            names = [_VALUE_TYPES.get(reader.byte()) for _ in range(reader.number())]
            if None in names:
                return
            sides.append(tuple(name for name in names if name))
        yield Signature(sides[0], sides[1])


def _read_imports(reader: _Reader, types: list[Signature | None], functions: list[int], outline: Outline) -> None:
    for _ in range(reader.number()):
        module, name, kind = reader.name(), reader.name(), reader.byte()
        signature = None
        if kind == 0:
            index = reader.number()
            functions.append(index)
            signature = types[index] if index < len(types) else None
        elif kind == 1:
            reader.byte()
            reader.memory()  # the limits of a table are written like those of a memory
        elif kind == 2:
            outline.memories.append(reader.memory(is_imported=True))
        elif kind == 3:
            reader.byte()
            reader.byte()
        else:
            reader.byte()
            reader.number()
        outline.imports.append(Item(name, _KINDS.get(kind, "unknown"), signature, module))


def _read_custom(reader: _Reader, content: bytes, outline: Outline) -> None:
    """Custom sections are not validated, so anything may be in there."""
    try:
        name = reader.name()
        outline.custom_sections.append((name, len(content)))
        if name != "producers":
            return
        for _ in range(min(reader.number(), 8)):
            said = outline.producers.setdefault(reader.name(), [])
            for _ in range(min(reader.number(), 32)):
                said.append(f"{reader.name()} {reader.name()}".strip())
    except IndexError:
        return
