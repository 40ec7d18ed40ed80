"""Conditions on fields: comparisons, combined by all, any and not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abi import Event
from guest_examples.comparison import Scalar, compare, equals, parse_scalar
from guest_examples.configuration import Reader, refuse
from guest_examples.fields import Field, Images, Value, parse_field

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "in", "prefix", "suffix", "contains", "exists")
MAX_CONDITION_DEPTH = 8
MAX_COMPARISONS = 64

_ORDERS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
_TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": str.__contains__,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison; it holds when at least one of the values that the field stands for satisfies it."""

    field: Field
    op: str
    operands: tuple[Scalar, ...]

    @property
    def reads_images(self) -> bool:
        """Whether a row image is looked at."""
        return self.field.reads_images

    def holds(self, event: Event, images: Images) -> bool:
        """Evaluate."""
        values = self.field.values(event, images)
        if self.op == "exists":
            return any(True for _ in values) == (self.operands[0].text == "true")
        return any(self._satisfies(value) for value in values)

    def _satisfies(self, value: Value) -> bool:
        operand = self.operands[0]
        if self.op in _ORDERS:
            order = compare(value, operand)
            return order is not None and _ORDERS[self.op](order)
        if self.op in _TEXT_TESTS:
            return value.kind == "string" and _TEXT_TESTS[self.op](value.text, operand.text)
        is_equal = any(equals(value, candidate) for candidate in self.operands)
        return not is_equal if self.op == "!=" else is_equal


@dataclass(frozen=True, slots=True)
class Combination:
    """Several conditions: all, any, or not (of one)."""

    combine: str
    parts: tuple["Condition", ...]

    @property
    def reads_images(self) -> bool:
        """Whether a row image is looked at."""
        return any(part.reads_images for part in self.parts)

    def holds(self, event: Event, images: Images) -> bool:
        """Evaluate."""
        results = (part.holds(event, images) for part in self.parts)
        if self.combine == "all":
            return all(results)
        return any(results) if self.combine == "any" else not any(results)


Condition = Comparison | Combination


def parse_condition(value: object, location: str) -> Condition:
    """Read a condition and count its comparisons."""
    condition = _parse(value, location, 1)
    if _count(condition) > MAX_COMPARISONS:
        refuse(location, f"has more than {MAX_COMPARISONS} comparisons")
    return condition


def _count(condition: Condition) -> int:
    return 1 if isinstance(condition, Comparison) else sum(_count(part) for part in condition.parts)


def _parse(value: Any, location: str, depth: int) -> Condition:
    if depth > MAX_CONDITION_DEPTH:
        refuse(location, f"is nested deeper than {MAX_CONDITION_DEPTH} levels")
    combine = next((key for key in ("all", "any", "not") if isinstance(value, Mapping) and key in value), None)
    if combine is None:
        return _comparison(Reader.open(value, ("field", "op", "value"), location))
    reader = Reader.open(value, (combine,), location)
    if combine == "not":
        return Combination(combine, (_parse(reader.required("not"), reader.place("not"), depth + 1),))
    return Combination(combine, tuple(_parse(part, place, depth + 1) for part, place in reader.entries(combine)))


def _comparison(reader: Reader) -> Comparison:
    field = parse_field(reader.required("field"), reader.place("field"))
    op = reader.choice("op", COMPARISONS)
    place = reader.place("value")
    if op == "in":
        operands: Sequence[Scalar] = [parse_scalar(value, entry) for value, entry in reader.entries("value")]
        return Comparison(field, op, tuple(operands))
    operand = parse_scalar(reader.required("value"), place)
    if op in _ORDERS and operand.kind not in ("string", "number"):
        refuse(place, f"must be a string or a number for {op}")
    if op in _TEXT_TESTS and operand.kind != "string":
        refuse(place, f"must be a string for {op}")
    if op == "exists" and operand.kind != "boolean":
        refuse(place, "must be true or false for exists")
    return Comparison(field, op, (operand,))
