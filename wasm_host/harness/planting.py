"""Events with secrets in them: random values planted at the paths that must be masked, everywhere a row can be.

Both images, every operation, every attribute that repeats row values (SPEC.md 7.3), escaped keys and values, duplicate
keys, arrays, numbers, whole objects, and images that break off behind the value, where careless guests quote them.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from abi import Event, Operation
from wasm_host.harness.dotted_path import Pairs, Path

_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_SPICES = ('"', "\\", "/", "é", "日", "😀", " ", "+", "%", "<", "&", "\t", "\u0001", "@example.com")
_ROW_SETS = (("before",), ("after",), ("before", "after"))
CHANGED_VALUES, KEY, TOMBSTONE = "cdc.operation.changed_field_values", "opencdc.key", "debezium.tombstone"


@dataclass(frozen=True, slots=True)
class Planted:
    """An event and the values in it that nobody may see again."""

    event: bytes
    secrets: tuple[str, ...]


class Planter:
    """Makes planted events from a seed."""

    def __init__(self, paths: Sequence[Path], seed: int) -> None:
        self._paths = paths
        self._random = random.Random(seed)
        self._secrets: list[str] = []

    def make(self, count: int) -> list[Planted]:
        """Events over all operations and both images in turn."""
        operations = Operation.values()
        return [
            self._event(operations[number % len(operations)], _ROW_SETS[number // len(operations) % len(_ROW_SETS)])
            for number in range(count)
        ]

    def _event(self, operation: Any, images: tuple[str, ...]) -> Planted:
        rng = self._random
        self._secrets = []
        event = Event(op=operation, table=rng.choice(("users", "orders")), primary_key=["id"], envelope_version=1, ts=1)
        is_broken = rng.random() < 0.15
        for image in images:
            text = self._write(self._row())
            # Cut behind the row's last value, so that the secrets are in what is left.
            setattr(event, image, (text[:-1] if is_broken else text).encode())
        if rng.random() < 0.3:
            self._plant_attribute(event)
        return Planted(event.SerializeToString(deterministic=True), tuple(self._secrets))

    def _plant_attribute(self, event: Event) -> None:
        key = self._random.choice((CHANGED_VALUES, KEY, TOMBSTONE))
        row = self._row()
        if key == CHANGED_VALUES:
            row = Pairs((name, Pairs([("before", value), ("after", value)])) for name, value in row)
        elif key == TOMBSTONE:
            row = Pairs([("before", row), ("op", "d")])
        event.attributes[key] = self._write(row).encode()

    def _row(self) -> Pairs:
        rng = self._random
        row = Pairs([("id", 1), ("status", "active")])
        for path in self._paths:
            _merge(row, self._chain(path))
        if rng.random() < 0.1:
            _duplicate(row, self._chain(self._paths[0]))
        if rng.random() < 0.5:
            rng.shuffle(row)
        return row

    def _chain(self, path: Path) -> Any:
        rng = self._random
        if not path:
            return self._value()
        if path[0] is not None:
            return Pairs([(path[0], self._chain(path[1:]))])
        if rng.random() < 0.6:
            return [self._chain(path[1:]) for _ in range(rng.randint(1, 3))]
        return Pairs((f"k{number}", self._chain(path[1:])) for number in range(rng.randint(1, 3)))

    def _value(self) -> Any:
        rng = self._random
        chance = rng.random()
        if chance < 0.15:
            digits = str(rng.randint(10**14, 10**16 - 1))
            self._secrets.append(digits)
            return int(digits)
        if chance < 0.25:
            return Pairs([("inner", self._text()), ("list", [self._text()])])
        return self._text()

    def _text(self) -> str:
        rng = self._random
        text = "".join(rng.choice(_LETTERS) for _ in range(rng.randint(10, 18)))
        for _ in range(rng.choice((0, 0, 1, 3))):
            at = rng.randint(1, len(text) - 1)
            text = text[:at] + rng.choice(_SPICES) + text[at:]
        self._secrets.append(text)
        return text

    def _write(self, value: Any) -> str:
        rng = self._random
        space = " " if rng.random() < 0.2 else ""
        if isinstance(value, Pairs):
            members = (f"{space}{self._quote(key)}{space}:{space}{self._write(below)}" for key, below in value)
            return "{" + ",".join(members) + "}"
        if isinstance(value, list):
            return "[" + f",{space}".join(self._write(below) for below in value) + "]"
        return self._quote(value) if isinstance(value, str) else json.dumps(value)

    def _quote(self, text: str) -> str:
        chance = self._random.random()
        if chance < 0.06:
            units = text.encode("utf-16-be")
            return '"' + "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)) + '"'
        return json.dumps(text, ensure_ascii=chance < 0.3)


def _merge(row: Pairs, other: Any) -> None:
    """Put the members of `other` into a row, going down where both have an object."""
    if not isinstance(other, Pairs):
        return
    for key, value in other:
        mine = next((below for name, below in row if name == key), None)
        if isinstance(mine, Pairs) and isinstance(value, Pairs):
            _merge(mine, value)
        elif mine is None:
            row.append((key, value))


def _duplicate(row: Pairs, other: Any) -> None:
    if isinstance(other, Pairs):
        row.extend(other)
