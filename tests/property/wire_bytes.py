"""Random bytes in the shape of protobuf's wire format: mostly events, often bent, sometimes broken.

Written without the protobuf package, because what that package never writes is what has to be tried: overlong varints,
fields of the wrong wire type, groups, lengths that lie, nesting at the limit.
"""

import random

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)

# Field numbers by what they hold; a message is named by its key in this table.
STRINGS = {"event": (6, 7, 8, 13, 14), "source": (1, 2), "snapshot": (1,), "transaction": (), "attribute": (1,)}
NUMBERS = {"event": (3, 5, 11, 12), "source": (3,), "snapshot": (2, 3), "transaction": (1, 2, 3), "attribute": ()}
BYTES = {"event": (1, 2), "source": (), "snapshot": (), "transaction": (), "attribute": (2,)}
MESSAGES = {4: "source", 9: "snapshot", 10: "transaction", 1000: "attribute"}
ODD_NUMBERS = (0, 1, 4, 7, 15, 16, 17, 31, 32, 33, 36, 39, 64, 999, 1000, 1001, 2**28, 2**29 - 1)

# First bytes, continuation bytes and their neighbours: every boundary of UTF-8.
UTF8_EDGES = bytes.fromhex("00417f80818f909fa0bfc0c1c2c3dfe0e1ecedeeeff0f1f3f4f5f7f8fbfcfdfeff")


def varint(value: int, padding: int = 0) -> bytes:
    """A varint, made longer by `padding` bytes that add nothing to its value."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    if padding:
        out[-1] |= 0x80
        out += b"\x80" * (padding - 1) + b"\x00"
    return bytes(out)


def tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def delimited(number: int, content: bytes) -> bytes:
    return tag(number, DELIMITED) + varint(len(content)) + content


class WireBytes:
    """A seeded source of inputs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def event(self) -> bytes:
        """A message in the shape of an Event, valid unless one of its rare oddities makes it malformed."""
        return self.message("event", self.random.choice((1, 3, 8, 16)))

    def message(self, name: str, max_fields: int) -> bytes:
        return b"".join(self.field(name) for _ in range(self.random.randint(0, max_fields)))

    def field(self, name: str) -> bytes:
        choice = self.random.random()
        if choice < 0.12:
            return self.odd_field()
        if name == "event" and choice < 0.35:
            number = self.random.choice(tuple(MESSAGES))
            return self.tag(number, DELIMITED) + self.sized(self.message(MESSAGES[number], 4))
        if choice < 0.6 and STRINGS[name]:
            return self.tag(self.random.choice(STRINGS[name]), DELIMITED) + self.sized(self.text())
        if choice < 0.75 and BYTES[name]:
            content = self.random.randbytes(self.random.choice((0, 1, 7, 90, 127, 128, 300)))
            return self.tag(self.random.choice(BYTES[name]), DELIMITED) + self.sized(content)
        if NUMBERS[name]:
            return self.tag(self.random.choice(NUMBERS[name]), VARINT) + self.number()
        return self.odd_field()

    def odd_field(self) -> bytes:
        """Any number with any wire type: unknown fields, known ones of the wrong type, groups, what is reserved."""
        number = self.random.choice(ODD_NUMBERS) if self.random.random() < 0.5 else self.random.randint(1, 16)
        if number == 0 and self.random.random() < 0.8:
            number = 3  # nearly always malformed, so keep it rare
        return self.value(number, self.random.choices(range(8), (4, 2, 4, 3, 0.1, 2, 0.1, 0.1))[0], 3)

    def value(self, number: int, wire_type: int, levels: int) -> bytes:
        head = self.tag(number, wire_type)
        if wire_type == VARINT:
            return head + self.number()
        if wire_type == FIXED64:
            return head + self.random.randbytes(8)
        if wire_type == FIXED32:
            return head + self.random.randbytes(4)
        if wire_type == DELIMITED:
            return head + self.sized(self.random.randbytes(self.random.choice((0, 1, 5, 130))))
        if wire_type == START_GROUP:
            return head + self.group_body(levels) + self.tag(number, END_GROUP)
        return head

    def group_body(self, levels: int) -> bytes:
        wire_types = (VARINT, FIXED64, DELIMITED, START_GROUP, FIXED32) if levels else (VARINT, DELIMITED)
        return b"".join(
            self.value(self.random.choice(ODD_NUMBERS), self.random.choice(wire_types), levels - 1)
            for _ in range(self.random.randint(0, 2))
        )

    def tag(self, number: int, wire_type: int) -> bytes:
        return varint(number << 3 | wire_type, self.rare_padding(4))

    def sized(self, content: bytes) -> bytes:
        size = len(content)
        if self.random.random() < 0.004:
            size = self.random.choice(
                (max(size - 1, 0), size + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1)
            )
        return varint(size, self.rare_padding(4)) + content

    def number(self) -> bytes:
        if self.random.random() < 0.03:
            return b"\x80" * self.random.randint(7, 10) + bytes([self.random.choice((0, 1, 2, 0x7F))])
        return varint(
            self.random.getrandbits(self.random.choice((1, 7, 8, 14, 31, 32, 41, 56, 63, 64))), self.rare_padding(9)
        )

    def rare_padding(self, most: int) -> int:
        return self.random.randint(1, most) if self.random.random() < 0.01 else 0

    def text(self) -> bytes:
        """Mostly UTF-8 of mixed widths and lengths around the sixteen bytes that are looked at together."""
        choice = self.random.random()
        if choice < 0.5:
            return bytes(self.random.choices(range(0x20, 0x7F), k=self.random.choice((0, 1, 2, 8, 15, 16, 17, 33))))
        if choice < 0.99:
            points = self.random.choices(
                (0, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF), k=6
            )
            return "".join(map(chr, points)).encode() + b"a" * self.random.randint(0, 20)
        return bytes(self.random.choices(UTF8_EDGES, k=self.random.randint(1, 20)))

    def mutated(self, data: bytes, other: bytes) -> bytes:
        """The data after one to three small accidents; `other` is what pieces are spliced in from."""
        out = bytearray(data)
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(out))
            length = self.random.choice((1, 1, 2, 4, 9))
            match self.random.randrange(6):
                case 0 if at < len(out):
                    out[at] ^= 1 << self.random.randrange(8)
                case 1 if at < len(out):
                    out[at] = self.random.choice((0x00, 0x04, 0x7F, 0x80, 0xFF, 0x22, 0x23, 0x24, 0x3A))
                case 2:
                    del out[at:]
                case 3:
                    del out[at : at + length]
                case 4:
                    start = self.random.randint(0, len(other))
                    out[at:at] = other[start : start + length * 3]
                case _:
                    out[at:at] = out[at : at + length]
        return bytes(out)
