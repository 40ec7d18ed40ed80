"""Compare values of an event with values of a configuration: exact decimals, Unicode text, booleans and null.

The rules are in `sdk/SEMANTICS.md` ("Comparing").
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guest_examples.configuration import Reader, refuse
from guest_examples.fields import Value

MAX_EXPONENT = 10**18
"""Exponents beyond this count as this, so that every language can hold them."""

_DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")
_SCALAR = 'must be a string, an integer, a boolean, nil or {"decimal": text}'


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value given in a configuration; `text` is a number's decimal text, a string, `true`, `false` or `null`."""

    kind: str
    text: str


def parse_scalar(value: object, location: str) -> Scalar:
    """Read a scalar. Fractions are given as `{"decimal": "12.5"}`, because a binary float is not exact."""
    if value is None:
        return Scalar("null", "null")
    if isinstance(value, bool):
        return Scalar("boolean", "true" if value else "false")
    if isinstance(value, int):
        return Scalar("number", str(value))
    if isinstance(value, str):
        return Scalar("string", value)
    if not isinstance(value, Mapping):
        refuse(location, _SCALAR)
    reader = Reader.open(value, ("decimal",), location)
    text = reader.string("decimal")
    if not _DECIMAL.fullmatch(text):
        refuse(reader.place("decimal"), "must be a JSON number")
    return Scalar("number", text)


def equals(value: Value, scalar: Scalar) -> bool:
    """Whether kind and value are the same; numbers as exact decimals."""
    if value.kind != scalar.kind:
        return False
    if value.kind == "number":
        return compare_decimals(value.text, scalar.text) == 0
    return value.text == scalar.text


def compare(value: Value, scalar: Scalar) -> int | None:
    """Order of two strings (by UTF-8 bytes) or two numbers: -1, 0 or 1; `None` where there is none."""
    if value.kind != scalar.kind:
        return None
    if value.kind == "number":
        return compare_decimals(value.text, scalar.text)
    if value.kind == "string":
        left, right = value.text.encode(errors="surrogateescape"), scalar.text.encode()
        return (left > right) - (left < right)
    return None


def compare_decimals(left: str, right: str) -> int:
    """Order of two JSON numbers by their exact value.

    >>> compare_decimals("1.50e1", "15"), compare_decimals("-1e400", "0"), compare_decimals("9007199254740993", "9e15")
    (0, -1, 1)
    """
    a, b = _ordinal(left), _ordinal(right)
    return (a > b) - (a < b)


def _ordinal(text: str) -> tuple[Any, ...]:
    """Something that Python orders as the number: sign, exponent, and digits without zeros at either end."""
    match = _DECIMAL.fullmatch(text)
    assert match is not None
    minus, whole, fraction, exponent_sign, exponent_digits = match.groups()
    digits = whole + (fraction or "")
    stripped = digits.lstrip("0")
    if not stripped:
        return (0,)
    exponent_text = (exponent_digits or "").lstrip("0") or "0"
    exponent = int(exponent_text) if len(exponent_text) <= 18 else MAX_EXPONENT
    exponent = -exponent if exponent_sign == "-" else exponent
    # The number is 0.stripped times ten to the power of `magnitude`.
    magnitude = exponent + len(whole) - (len(digits) - len(stripped))
    significant = stripped.rstrip("0")
    if not minus:
        return (1, magnitude, significant)
    # Among negative numbers the larger magnitude is the smaller; "~" sorts after every digit and ends the text.
    return (-1, -magnitude, significant.translate(str.maketrans("0123456789", "9876543210")) + "~")
