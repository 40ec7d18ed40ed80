"""How the formats say no: one coded line with what was seen, where, and what is allowed.

Every text that comes from the input is hostile: it is shown escaped and bounded.
"""

from abi.errors import DecodeError, EncodeError

MAX_SHOWN_CHARS = 60


def shown(value: object) -> str:
    """Return a value as it may appear in a message: escaped, on one line, bounded.

    >>> shown("line\\nfeed")
    "'line\\\\nfeed'"
    >>> len(shown("a" * 100))
    62
    """
    text = value if isinstance(value, str) else repr(value)
    cut = text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 3] + "..."
    return ascii(cut)


def undecodable(
    name: str, reason: str, *, path: str | None = None, offset: int | None = None, hint: str | None = None
) -> DecodeError:
    """Make the error for bytes that are not a document of the format `name`."""
    where = "".join([f" at {path}" if path else "", f" (byte {offset})" if offset is not None else ""])
    details = {key: value for key, value in (("path", path), ("offset", offset)) if value is not None}
    return DecodeError(f"not a valid {name} event: {reason}{where}", hint=hint, format=name, **details)


def unencodable(name: str, reason: str, *, path: str | None = None, hint: str | None = None) -> EncodeError:
    """Make the error for an event that the format `name` cannot carry."""
    where = f" at {path}" if path else ""
    details = {"path": path} if path else {}
    return EncodeError(f"cannot write the event as {name}: {reason}{where}", hint=hint, format=name, **details)
