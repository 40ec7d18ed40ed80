"""Make JSON texts with everything that breaks careless readers, from a random generator."""

import random
from collections.abc import Callable

COLUMNS = ("id", "email", "name", "status", "amount", "tenant_id", "contact", "emails", "note", "tags", "a.b", "ünï")
WORDS = ("active", "deleted", "alice@example.com", "Alice", "acme", "globex", "", "x", "12345", "4111111111111111")
ODD_STRINGS = (
    r"\u0041\u00e9",
    r"\ud83d\ude00 smile",
    'quote \\" backslash \\\\ slash \\/',
    r"\b\f\n\r\t\u0000\u001f",
    "grüße 日本語 😀",
    "\u2028\u2029\u007f",
    "x" * 40,
    "naïve " * 8,
)
NUMBERS = ("0", "-0", "1", "10", "99.5", "100", "1e2", "1.50E+1", "-12.25", "9007199254740993", "0.1", "1E-7")
ODD_NUMBERS = ("123456789012345678901234567890", "-0.000", "1e400", "1e-99999", "100.00", "1E+000000000000000000000002")
BROKEN = (
    b"", b"{", b'{"a":}', b"[1,]", b"nul", b"01", b'{"a":1,}', b'"\\ud800"', b'"\\x"', b"NaN", b'{"a" 1}', b"1.", b"-",
    b'"\xff"', b'{"email":"\xed\xa0\x80"}', b'"tab\there"', b"\xef\xbb\xbf{}", b"{}{}", b"[1 2]", b"1e+", b"{'a':1}",
)  # fmt: skip


class JsonMaker:
    """Documents for the images and attributes of events."""

    def __init__(self, rng: random.Random) -> None:
        self._random = rng

    def row(self) -> bytes:
        """A row image: nearly always an object, rarely something else or broken."""
        rng = self._random
        chance = rng.random()
        if chance > 0.12:
            return self._object(COLUMNS, rng.randrange(9), 0).encode()
        if chance > 0.08:
            return self._value(0).encode()
        if chance > 0.06:
            depth = rng.choice((100, 127, 128, 129, 1000))
            return b"[" * depth + b"1" + b"]" * depth
        if chance > 0.04:
            return rng.choice(BROKEN)
        if chance > 0.02:
            return self._broken(self._object(COLUMNS, rng.randrange(1, 6), 0).encode())
        return rng.choice((b"{}", b"{ }", b"[]", b"null", b' {"id":1} '))

    def similar(self, document: bytes) -> bytes:
        """The same document with another word in it, if it has one of ours."""
        for word in (b"active", b"Alice", b"12345"):
            if word in document:
                return document.replace(word, b"other", 1)
        return document

    def outbox_row(self) -> bytes:
        """A row of an outbox table, now and then without what it needs."""
        rng = self._random
        if rng.random() < 0.1:
            return self.row()
        payload: Callable[[], str] = rng.choice(
            (
                lambda: self._object(COLUMNS, 3, 1),
                lambda: '"{\\"total\\": 1.50, \\"note\\": \\"\\\\u00e9\\"}"',
                lambda: '"not json"',
                lambda: "null",
                lambda: "[1, 2]",
            )
        )
        members = [
            ("id", rng.choice(('"evt-1"', "42", '"\\u0065vt"'))),
            ("aggregatetype", rng.choice(('"order"', '"user"', '""', "7"))),
            ("aggregateid", rng.choice(('"o-1"', "9007199254740993"))),
            ("type", rng.choice(('"OrderPlaced"', '"Or\\"der"'))),
            ("payload", payload()),
        ]
        if rng.random() < 0.1:
            members.pop(rng.randrange(len(members)))
        if rng.random() < 0.1:
            members[rng.randrange(len(members))] = ("type", rng.choice(("null", "true", "{}")))
        return ("{" + ",".join(f'"{key}":{value}' for key, value in members) + "}").encode()

    def names(self) -> bytes:
        """A JSON array of column names, rarely something else."""
        rng = self._random
        if rng.random() < 0.05:
            return rng.choice((b"{}", b'"status"', b"[1, null]", b'["sta\\u0074us"]', b"[", b'{"x":"status"}'))
        return ("[" + ", ".join(f'"{name}"' for name in rng.sample(COLUMNS, rng.randrange(4))) + "]").encode()

    def cascade(self) -> bytes:
        """The cascade of a CDC 1.0 document, rarely malformed."""
        rng = self._random
        if rng.random() < 0.1:
            return rng.choice(
                (
                    b"[]",
                    b"null",
                    b'{"updated":{}}',
                    b'{"deleted":[1]}',
                    b"{",
                    b'{"updated":[{"entity_type":"","entity_id":"x"}]}',
                )
            )
        parts = [f'"{kind}": {self._entries(kind)}' for kind in ("updated", "deleted") if rng.random() < 0.8]
        if rng.random() < 0.5:
            parts.append('"invalidations":[{"query":"users","reason":"entity_deleted"}]')
        rng.shuffle(parts)
        return ("{" + ", ".join(parts) + "}").encode()

    def _entries(self, kind: str) -> str:
        rng = self._random
        if rng.random() < 0.1:
            return "null"
        entries = []
        for _ in range(rng.randrange(4)):
            members = ['"entity_type":"Post"', f'"entity_id":"99{rng.randrange(100)}\\u0061"']
            if kind == "updated" and rng.random() < 0.8:
                members.append('"changes": ["member_count", "updated_at"]')
            if rng.random() < 0.8:
                members.append('"reason":"parent \\"deleted\\""')
            if rng.random() < 0.03:
                members.pop(0)
            entries.append("{" + ",".join(members) + "}")
        return "[" + ",".join(entries) + "]"

    def _broken(self, document: bytes) -> bytes:
        rng = self._random
        at = rng.randrange(len(document))
        return rng.choice(
            (
                document[:at],
                document[:at] + document[at + 1 :],
                document[:at] + bytes((rng.randrange(256),)) + document[at:],
                document[:at] + rng.choice(b'"\\{}[],:0-.e\x00\x7f\x80\xff').to_bytes() + document[at + 1 :],
            )
        )

    def _object(self, columns: tuple[str, ...], count: int, depth: int) -> str:
        rng = self._random
        names = rng.choices(columns, k=count) if rng.random() < 0.1 else rng.sample(columns, min(count, len(columns)))
        spaces = ("",) if rng.random() < 0.7 else ("", " ", "\n  ", "\t")
        members = []
        for name in names:
            value = self._column(name, depth)
            key = name if rng.random() < 0.97 else "".join(f"\\u{ord(char):04x}" for char in name)
            members.append(
                f'{rng.choice(spaces)}"{key}"{rng.choice(spaces)}:{rng.choice(spaces)}{value}{rng.choice(spaces)}'
            )
        return "{" + (",".join(members) or rng.choice(spaces)) + "}"

    def _column(self, name: str, depth: int) -> str:
        rng = self._random
        if rng.random() < 0.2:
            return self._value(depth + 1)
        if name == "id":
            return rng.choice(NUMBERS)
        if name == "amount":
            return rng.choice(NUMBERS) if rng.random() < 0.9 else rng.choice(ODD_NUMBERS)
        if name == "contact" and depth < 3:
            return self._object(("email", "phone", "address", "name"), rng.randrange(4), depth + 1)
        if name in ("emails", "tags") and depth < 3:
            return "[" + ", ".join(self._value(depth + 1) for _ in range(rng.randrange(4))) + "]"
        return f'"{rng.choice(WORDS)}"'

    def _value(self, depth: int) -> str:
        rng = self._random
        chance = rng.random()
        if chance < 0.4:
            return f'"{rng.choice(WORDS) if rng.random() < 0.6 else rng.choice(ODD_STRINGS)}"'
        if chance < 0.6:
            return rng.choice(NUMBERS) if rng.random() < 0.7 else rng.choice(ODD_NUMBERS)
        if chance < 0.75:
            return rng.choice(("null", "null", "true", "false"))
        if chance < 0.88 and depth < 4:
            return self._object(("email", "name", "id", "x", "*"), rng.randrange(4), depth + 1)
        if depth < 4:
            return "[" + ",".join(self._value(depth + 1) for _ in range(rng.randrange(4))) + "]"
        return "{}"
