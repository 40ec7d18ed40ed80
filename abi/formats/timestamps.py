"""Milliseconds since 1970, which the canonical event counts in, and the ISO 8601 text that documents carry."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_MILLISECONDS = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
"""The last millisecond of the year 9999."""

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,12})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_MILLISECOND = timedelta(milliseconds=1)


@lru_cache(maxsize=4096)
def milliseconds_of(text: str) -> int | None:
    """Return the milliseconds of an RFC 3339 time, cut (not rounded) to whole ones; None if it is not such a time.

    >>> milliseconds_of("1970-01-01T01:00:01.234567+01:00")
    1234
    """
    if not _RFC_3339.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    milliseconds = (moment - EPOCH) // _MILLISECOND
    return milliseconds if milliseconds >= 0 else None


@lru_cache(maxsize=4096)
def text_of(milliseconds: int) -> str:
    """Write a time the way we write it: UTC, three decimals.

    >>> text_of(1234)
    '1970-01-01T00:00:01.234Z'
    """
    moment = EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"
