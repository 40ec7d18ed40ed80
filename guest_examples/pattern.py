"""Names with an optional star at the end: `public.users`, `audit_*`."""

from collections.abc import Sequence


def matches(pattern: str, text: str) -> bool:
    """Whether the text is the pattern, or begins with what stands before the star at its end.

    >>> matches("api_*", "api_update"), matches("api", "api_update")
    (True, False)
    """
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def matches_any(patterns: Sequence[str], text: str) -> bool:
    """Whether at least one pattern matches."""
    return any(matches(pattern, text) for pattern in patterns)
