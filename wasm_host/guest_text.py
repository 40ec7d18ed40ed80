"""Guest text is hostile: bound it, escape it, and only then show it to anybody.

What comes out is one line of printable text. It is never used as a format string, evaluated or unpickled.
"""

import unicodedata

# Other, control, format (bidirectional overrides hide text), surrogate, private use, line and paragraph separators.
_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def clean_text(raw: bytes, *, max_bytes: int, encoding: str = "utf-8") -> str:
    """Decode guest bytes to one printable line of at most `max_bytes` bytes of input; what is cut shows as `…`.

    >>> clean_text(b"a\\nb\\xff", max_bytes=100)
    'a\\\\nb\\\\xff'
    """
    kept = raw[:max_bytes]
    text = kept.decode(encoding, errors="backslashreplace")
    escaped = "".join(_escape(char) for char in text)
    return f"{escaped}…" if len(raw) > max_bytes else escaped


def _escape(char: str) -> str:
    if unicodedata.category(char) in _ESCAPED_CATEGORIES:
        return char.encode("unicode_escape").decode("ascii")
    return char
