"""The packed 64-bit answer of `transform`: two bits of kind, 30 bits of pointer, 32 bits of length.

Thirty bits of pointer reach 1 GiB, above any memory limit the host accepts.
"""

from enum import IntEnum

MAX_POINTER = (1 << 30) - 1
MAX_LENGTH = (1 << 32) - 1

DROP = 0
"""The whole answer for an event that is filtered out."""


class ResultKind(IntEnum):
    """What the answer's pointer and length stand for."""

    EVENT = 0
    SEVERAL = 1
    FAILURE = 2
    RESERVED = 3


def pack_result(kind: ResultKind, pointer: int, length: int) -> int:
    """Pack an answer into an unsigned 64-bit integer.

    Raises:
        ValueError: the pointer does not fit 30 bits, or the length 32 bits.

    >>> hex(pack_result(ResultKind.FAILURE, 0x1000, 5))
    '0x8000100000000005'
    """
    if not 0 <= pointer <= MAX_POINTER:
        raise ValueError(f"pointer {pointer} is outside 0..{MAX_POINTER}")
    if not 0 <= length <= MAX_LENGTH:
        raise ValueError(f"length {length} is outside 0..{MAX_LENGTH}")
    return (int(kind) << 62) | (pointer << 32) | length


def unpack_result(packed: int) -> tuple[ResultKind, int, int]:
    """Split an answer into kind, pointer and length; signed integers, as wasmtime gives them, are taken too.

    >>> unpack_result(0x8000100000000005)
    (<ResultKind.FAILURE: 2>, 4096, 5)
    """
    bits = packed & 0xFFFF_FFFF_FFFF_FFFF
    return ResultKind(bits >> 62), (bits >> 32) & MAX_POINTER, bits & MAX_LENGTH
