"""Finds computed constants: initial values of globals, tables and data that are more than one constant.

WebAssembly's extended constant expressions cannot be switched off in wasmtime's Python API, and wasmtime compiles them:
one of a few megabytes ends the process for want of memory. No toolchain emits them for modules that stand alone, so
guests do not get them. Only for modules that wasmtime has already validated.
"""

import re
from collections import deque
from itertools import islice

from wasm_host.wasm_sections import read_leb128, sections

_GLOBALS, _ELEMENTS, _DATA = 6, 9, 11
_NUMBER = re.compile(rb"[\x80-\xff]*+[\x00-\x7f]")
_ONE_CONSTANT = re.compile(
    rb"(?:[\x23\x41\x42\xd0\xd2][\x80-\xff]*+[\x00-\x7f]|\x43.{4}|\x44.{8}|\xfd\x0c.{16})\x0b", re.DOTALL
)


class ComputedConstantError(ValueError):
    """A constant is computed; the argument names the section."""


def check_constants(wasm: bytes) -> None:
    """Refuse constants that are computed.

    Raises:
        ComputedConstantError: there is one.
    """
    for section, content in sections(wasm):
        if section == _GLOBALS:
            _check_globals(content)
        elif section == _ELEMENTS:
            _check_elements(content)
        elif section == _DATA:
            _check_data(content)


def _constant(content: bytes, at: int, what: str) -> int:
    found = _ONE_CONSTANT.match(content, at)
    if found is None:
        raise ComputedConstantError(what)
    return found.end()


def _check_globals(content: bytes) -> None:
    count, at = read_leb128(content, 0)
    for _ in range(count):
        at = _constant(content, at + 2, "global")


def _check_elements(content: bytes) -> None:
    count, at = read_leb128(content, 0)
    for _ in range(count):
        flags, at = read_leb128(content, at)
        is_active, has_table, has_expressions = not flags & 1, flags & 2, flags & 4
        if is_active:
            if has_table:
                _, at = read_leb128(content, at)
            at = _constant(content, at, "element segment")
        if flags & 3:  # the kind or type of the elements; without it they are functions
            at += 1
        length, at = read_leb128(content, at)
        if has_expressions:
            for _ in range(length):
                at = _constant(content, at, "element segment")
        elif length:
            at = deque(islice(_NUMBER.finditer(content, at), length), maxlen=1)[0].end()


def _check_data(content: bytes) -> None:
    count, at = read_leb128(content, 0)
    for _ in range(count):
        flags, at = read_leb128(content, at)
        if flags & 2:
            _, at = read_leb128(content, at)
        if not flags & 1:
            at = _constant(content, at, "data segment")
        length, at = read_leb128(content, at)
        at += length
