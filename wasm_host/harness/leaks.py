"""Look for a secret in bytes and text, in any form that it could have taken by accident."""

import base64
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(["\\/bfnrt]))')
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def find_leak(secrets: Iterable[str], places: Iterable[tuple[str, bytes]]) -> str | None:
    """Where a secret can be read, and in which form; None when it is nowhere."""
    hays = [(place, form, hay) for place, raw in places for form, hay in _readings(raw)]
    for secret in secrets:
        for form, needle, folds in needles_of(secret):
            for place, reading, hay in hays:
                if needle in (hay.lower() if folds else hay):
                    shown = " and ".join(word for word in (form, reading) if word) or "as it is"
                    return f"{place}, {shown}"
    return None


def _readings(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """The bytes, and what they say when escapes are undone."""
    yield "", raw
    if b"\\" in raw:
        text = raw.decode("utf-8", errors="surrogateescape")
        plain = _unescape(text)
        # Log lines are escaped once more by the host, so an escape may itself be escaped.
        for undone in (plain, _unescape(plain)):
            yield "escaped", undone.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match[1] or match[2]:
        return chr(int(match[1] or match[2], 16))
    return _SHORT.get(match[3], match[3])


@lru_cache(maxsize=4096)
def needles_of(secret: str) -> tuple[tuple[str, bytes, bool], ...]:
    """Name of the form, bytes to look for, and whether upper and lower case are the same."""
    raw = secret.encode()
    found = [
        ("", raw, False),
        ("in UTF-16", secret.encode("utf-16-le"), False),
        ("in hexadecimal", raw.hex().encode(), True),
        ("percent-encoded", quote(secret, safe="").lower().encode(), True),
        ("percent-encoded", quote_plus(secret, safe="").lower().encode(), True),
        ("percent-encoded", "".join(f"%{byte:02x}" for byte in raw).encode(), True),
        ("reversed", secret[::-1].encode(), False),
    ]
    found += [("in base64", needle, False) for needle in _base64_needles(raw)]
    if secret.isdigit():
        found.append(("as a number in another notation", secret[1:].rstrip("0").encode(), False))
    return tuple(found)


def _base64_needles(raw: bytes) -> set[bytes]:
    """What of the secret's base64 does not depend on what stands before and behind it."""
    needles = set()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        start = (0, 2, 3)[shift]
        whole = (shift + len(raw)) // 3 * 4
        needles |= {encoded[start:whole], base64.urlsafe_b64encode(b"\0" * shift + raw)[start:whole]}
    return needles
