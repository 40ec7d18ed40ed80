"""Many protobuf messages walked at once: every step reads one field of every message that has one left.

As many steps as the longest message has fields, each a handful of numpy operations on all messages. What a step cannot
make sense of (a group, a length past the end) marks its message; the caller gives those to the `protobuf` package.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

_MAX_STEPS = 5000
"""Messages with more fields than this are marked too: a few of them must not make all others wait."""
PADDING = 16
"""Bytes that must follow the last message in the buffer, so that reading a varint at its end stays inside."""


class Found(NamedTuple):
    """All occurrences of one field: the message each stands in, and its payload or value, in the order of the wire."""

    rows: "np.ndarray"
    starts: "np.ndarray"
    ends: "np.ndarray"
    values: "np.ndarray"


def scan(
    data: "np.ndarray", starts: "np.ndarray", ends: "np.ndarray", wire_types: dict[int, int], odd: "np.ndarray"
) -> dict[int, Found]:
    """Find the fields of the messages `data[starts[i]:ends[i]]`.

    Args:
        data: Bytes, with `PADDING` zeros behind the last message.
        starts: Where each message begins.
        ends: Where each message ends.
        wire_types: The fields wanted, and the wire type that each must have to count.
        odd: A mask over the messages; those that cannot be walked are marked in it.
    """
    import numpy as np

    parts: dict[int, list[Found]] = {}
    rows = np.nonzero((starts < ends) & ~odd)[0]
    position = starts[rows]
    for _ in range(_MAX_STEPS):
        if not len(rows):
            break
        limit = ends[rows]
        tags, position, bad = _varints(data, position)
        numbers, kinds = tags >> np.uint64(3), tags & np.uint64(7)
        values, behind, bad_value = _varints(data, position)
        is_varint, is_bytes = kinds == 0, kinds == 2
        begin = np.where(is_bytes, behind, position)
        size = np.where(is_bytes, np.minimum(values, 1 << 40).astype(np.int64), np.where(kinds == 1, 8, 4))
        finish = np.where(is_varint, behind, begin + size)
        bad |= (bad_value & (is_varint | is_bytes)) | ~np.isin(kinds, (0, 1, 2, 5)) | (finish > limit)
        bad |= (numbers == 0) | (numbers >= 1 << 29)
        odd[rows[bad]] = True
        for number in np.unique(numbers[~bad]).tolist():
            wanted = wire_types.get(number)
            if wanted is not None:
                hit = (numbers == number) & (kinds == wanted) & ~bad
                parts.setdefault(number, []).append(Found(rows[hit], begin[hit], finish[hit], values[hit]))
        going = ~bad & (finish < limit)
        rows, position = rows[going], finish[going]
    odd[rows] = True
    return {
        number: Found(*(np.concatenate(column) for column in zip(*found, strict=True)))
        for number, found in parts.items()
    }


def _varints(data: "np.ndarray", position: "np.ndarray") -> tuple["np.ndarray", "np.ndarray", "np.ndarray"]:
    """Read a varint at each position; return values, positions behind them, and a mask of those too long."""
    import numpy as np

    position = np.minimum(position, len(data) - PADDING)
    first = data[position]
    values = (first & 0x7F).astype(np.uint64)
    behind = position + 1
    more = np.nonzero(first >= 0x80)[0]
    for shift in range(7, 70, 7):
        if not len(more):
            break
        byte = data[behind[more]]
        values[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        behind[more] += 1
        more = more[byte >= 0x80]
    too_long = np.zeros(len(values), bool)
    too_long[more] = True
    return values, behind, too_long
