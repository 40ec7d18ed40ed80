"""A look at a module's functions before they are compiled: how long they are, and how much there is to compile in them.

A compiler's time does not follow from the length of its input alone: branches are dear, more so with many locals, and
most of all blocks and calls that pass many values on. Six kilobytes of such loops can take ten seconds and gigabytes.
What is counted here is called complexity: each type, function and branch is one, weighted with what makes it dear.

Only for modules that wasmtime has already validated, so the structure can be relied on. Runs of plain instructions are
skipped by one regular expression, so that looking takes a small part of the time that compiling does.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from wasm_host.wasm_sections import read_leb128, sections

LOCALS_PER_WEIGHT = 64
"""So many locals make every branch of their function as dear as one more branch."""
TARGETS_PER_WEIGHT = 4
"""So many targets of a `br_table` count as one more branch."""
FREE_VALUES = 16
"""A call may pass so many values before each further one counts as a branch."""

_TYPES, _IMPORTS, _FUNCTIONS, _CODE = 1, 2, 3, 10
_LOOP, _IF, _BR_IF, _BR_TABLE, _CALL, _CALL_INDIRECT, _BULK = 0x03, 0x04, 0x0D, 0x0E, 0x10, 0x11, 0xFC
_BLOCK, _TABLE_GET, _TABLE_SET = 0x02, 0x25, 0x26
# How many numbers follow the opcodes 0xFC 0x00 and on.
_BULK_IMMEDIATES = (0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1)
_FIRST_TABLE_BULK = 12

_NUMBER = rb"[\x80-\xff]*+[\x00-\x7f]"
_VECTOR_TAIL = (
    rb"(?:[\x00-\x0b\x5c\x5d]%b%b|[\x0c\x0d].{16}|[\x15-\x22].|[\x54-\x5b]%b%b."
    rb"|[\x0e-\x14\x23-\x53\x5e-\x7f]|[\x80-\xff]\x01)"
) % ((_NUMBER,) * 4)


@cache
def _plain(*, skips_calls: bool) -> re.Pattern[bytes]:
    """Matches a run of instructions that count nothing; blocks without values and short calls among them."""
    alternatives = (
        rb"[\x00\x01\x05\x0b\x0f\x1a\x1b\x45-\xc4\xd1]",
        rb"[\x02][\x40-\x7f]",  # a block of at most one value; anything else is the index of a type
        rb"[\x0c%b\x20-\x24\x3f-\x42\xd0\xd2]%b" % (b"\x10" if skips_calls else b"", _NUMBER),
        rb"[\x28-\x3e]%b%b" % (_NUMBER, _NUMBER),
        rb"\x1c%b." % _NUMBER,
        rb"\x43.{4}|\x44.{8}",
        rb"\xfc(?:[\x00-\x07]|[\x09\x0b]%b|[\x08\x0a]%b%b)" % (_NUMBER, _NUMBER, _NUMBER),
        rb"\xfd" + _VECTOR_TAIL,
    )
    return re.compile(rb"(?:%b)*+" % b"|".join(alternatives), re.DOTALL)


@dataclass(frozen=True, slots=True)
class CodeShape:
    """What a module gives a compiler to do.

    Attributes:
        code_bytes: Length of all functions.
        largest_function_bytes: Length of the longest.
        complexity: Of all types and functions together.
        largest_function_complexity: Of the most complex one.
    """

    code_bytes: int = 0
    largest_function_bytes: int = 0
    complexity: int = 0
    largest_function_complexity: int = 0


class UnknownInstructionError(ValueError):
    """An instruction that wasmtime takes and this module does not know."""


def measure_code(wasm: bytes) -> CodeShape:
    """Look at all functions of a valid module.

    Raises:
        UnknownInstructionError: an instruction is not one of the proposals that guests may use.
    """
    content = {section: body for section, body in sections(wasm) if section in (_TYPES, _IMPORTS, _FUNCTIONS, _CODE)}
    code = content.get(_CODE)
    values = _values_of_types(content.get(_TYPES, b"\0"))
    if code is None:
        return CodeShape(complexity=len(values))
    own = _numbers(content.get(_FUNCTIONS, b"\0"))
    reader = _FunctionReader(code, values, [*_imported_types(content.get(_IMPORTS, b"\0")), *own])
    _, at = read_leb128(code, 0)
    largest_bytes = largest = total = 0
    for type_index in own:
        size, at = read_leb128(code, at)
        complexity = reader.complexity(at, at + size, values[type_index])
        largest_bytes, largest, total = max(largest_bytes, size), max(largest, complexity), total + complexity
        at += size
    return CodeShape(len(code), largest_bytes, total + len(values), largest)


class _FunctionReader:
    def __init__(self, code: bytes, values: Sequence[int], functions: Sequence[int]) -> None:
        self._code = code
        self._values = values
        self._functions = functions
        self._skip = _plain(skips_calls=max(values, default=0) <= FREE_VALUES).match

    def complexity(self, at: int, end: int, local_count: int) -> int:
        """One for the function, and what its branches weigh; `local_count` is that of parameters and results."""
        code = self._code
        groups, at = read_leb128(code, at)
        for _ in range(groups):
            count, at = read_leb128(code, at)
            local_count += count
            at += 1
        branches = 0
        skip: Callable[[bytes, int, int], re.Match[bytes] | None] = self._skip
        while True:
            plain = skip(code, at, end)
            assert plain is not None  # it matches the empty run
            at = plain.end()
            if at == end:
                return 1 + branches + branches * local_count // LOCALS_PER_WEIGHT
            weight, at = self._weigh(at)
            if at > end:
                raise UnknownInstructionError("at the end of a function")
            branches += weight

    def _weigh(self, at: int) -> tuple[int, int]:
        """The weight of one instruction that is not plain, and where the next one begins."""
        code, opcode = self._code, self._code[at]
        first = code[at + 1]
        number, at = read_leb128(code, at + 1)
        if opcode in (_BR_IF, _TABLE_GET, _TABLE_SET):
            return 1, at
        if opcode in (_BLOCK, _LOOP, _IF):
            # One byte from 0x40 on says "nothing" or one value; the rest is the index of a type.
            passed = 0 if 0x40 <= first < 0x80 else self._values[number]
            return (opcode != _BLOCK) + passed, at
        if opcode == _BR_TABLE:
            for _ in range(number + 1):
                _, at = read_leb128(code, at)
            return 1 + (number + 1) // TARGETS_PER_WEIGHT, at
        if opcode == _CALL:
            return max(0, self._values[self._functions[number]] - FREE_VALUES), at
        if opcode == _CALL_INDIRECT:
            _, at = read_leb128(code, at)
            return 1 + max(0, self._values[number] - FREE_VALUES), at
        if opcode == _BULK and number < len(_BULK_IMMEDIATES):
            for _ in range(_BULK_IMMEDIATES[number]):
                _, at = read_leb128(code, at)
            return int(number >= _FIRST_TABLE_BULK), at
        raise UnknownInstructionError(f"0x{opcode:02x} 0x{number:02x}")


def _numbers(content: bytes) -> list[int]:
    """A vector of numbers."""
    count, at = read_leb128(content, 0)
    found = []
    for _ in range(count):
        number, at = read_leb128(content, at)
        found.append(number)
    return found


def _values_of_types(content: bytes) -> list[int]:
    """How many parameters and results each function type has."""
    count, at = read_leb128(content, 0)
    found = []
    for _ in range(count):
        parameters, at = read_leb128(content, at + 1)
        results, at = read_leb128(content, at + parameters)
        at += results
        found.append(parameters + results)
    return found


def _imported_types(content: bytes) -> list[int]:
    """The types of the imported functions, which come before the module's own."""
    count, at = read_leb128(content, 0)
    found = []
    for _ in range(count):
        for _ in range(2):
            length, at = read_leb128(content, at)
            at += length
        kind = content[at]
        at += 1
        if kind == 0:
            number, at = read_leb128(content, at)
            found.append(number)
        elif kind == 3:  # a global: type and mutability
            at += 2
        else:  # a table, which says its element type first, or a memory
            flags_at = at + (kind == 1)
            has_maximum = content[flags_at] & 1
            _, at = read_leb128(content, flags_at + 1)
            if has_maximum:
                _, at = read_leb128(content, at)
    return found
