"""Mutations of real guests: byte flips, truncations, swapped, doubled and dropped sections, and grown numbers."""

import random

from wasm_host.wasm_sections import sections

_HEADER = b"\0asm\x01\0\0\0"


def mutate(wasm: bytes, rng: random.Random) -> bytes:
    """One mutated module; nearly always still a header that says WebAssembly."""
    kind = rng.choice([_flip, _flip, _flip, _truncate, _swap_sections, _double_section, _drop_section, _splice])
    return kind(wasm, rng)


def _flip(wasm: bytes, rng: random.Random) -> bytes:
    changed = bytearray(wasm)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(8, len(changed))
        changed[at] = rng.choice([changed[at] ^ (1 << rng.randrange(8)), 0x00, 0x7F, 0x80, 0xFF])
    return bytes(changed)


def _truncate(wasm: bytes, rng: random.Random) -> bytes:
    return wasm[: rng.randrange(len(wasm))]


def _splice(wasm: bytes, rng: random.Random) -> bytes:
    at, start, length = rng.randrange(8, len(wasm)), rng.randrange(len(wasm)), rng.randrange(64)
    return wasm[:at] + wasm[start : start + length] + wasm[at:]


def _join(parts: list[tuple[int, bytes]]) -> bytes:
    return _HEADER + b"".join(bytes([section]) + _leb128(len(content)) + content for section, content in parts)


def _swap_sections(wasm: bytes, rng: random.Random) -> bytes:
    parts = list(sections(wasm))
    first, second = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts[first], parts[second] = parts[second], parts[first]
    return _join(parts)


def _double_section(wasm: bytes, rng: random.Random) -> bytes:
    parts = list(sections(wasm))
    parts.insert(rng.randrange(len(parts)), rng.choice(parts))
    return _join(parts)


def _drop_section(wasm: bytes, rng: random.Random) -> bytes:
    parts = list(sections(wasm))
    parts.pop(rng.randrange(len(parts)))
    return _join(parts)


def _leb128(value: int) -> bytes:
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)
