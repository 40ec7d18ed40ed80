"""Passes what guests log on to Python's logging on the executor, no more than so many lines a second."""

import logging
import time
from collections import Counter
from collections.abc import Sequence

from spark_udf.secret import SecretValues
from wasm_host.result import LogLine

_LEVELS = {"trace": 5, "debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_BURST_LINES = 200
_LINES_PER_SECOND = 20.0

logger = logging.getLogger("wasm_host.guest")


class _Allowance:
    """A token bucket, shared by all guests of the process: one that floods its log cannot fill the disk."""

    def __init__(self) -> None:
        self._tokens = float(_BURST_LINES)
        self._at = time.monotonic()

    def take(self, wanted: int) -> int:
        now = time.monotonic()
        self._tokens = min(_BURST_LINES, self._tokens + (now - self._at) * _LINES_PER_SECOND)
        self._at = now
        granted = min(wanted, int(self._tokens))
        self._tokens -= granted
        return granted


_allowance = _Allowance()


def pass_on(lines: Sequence[LogLine], *, tenant: str | None, digest: str, secrets: SecretValues) -> int:
    """Log a batch's lines under the logger `wasm_host.guest`; lines that are alike are logged once, with their number.

    Returns:
        How many lines were left out because there were too many.
    """
    # A line that no handler wants costs nothing and is not lost.
    wanted = Counter(
        (level, line.text) for line in lines if logger.isEnabledFor(level := _LEVELS.get(line.level, logging.ERROR))
    )
    granted = _allowance.take(len(wanted))
    for (level, text), times in list(wanted.items())[:granted]:
        repeated = f" ({times} times)" if times > 1 else ""
        logger.log(level, "module %s tenant %s: %s%s", digest[:12], tenant, secrets.redact(text), repeated)
    return sum(list(wanted.values())[granted:])
