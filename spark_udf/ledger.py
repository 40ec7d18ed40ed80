"""How counts get from the executors to the driver, exactly once for each piece of work that Spark accepted.

A task sends entries; each names its stage, partition and attempt (and, in a stream, query and batch). The driver's
book keeps one attempt of each partition, so tasks that Spark ran twice count once. In classic Spark entries travel in
an accumulator, which costs nothing per row; Spark Connect has none, so there an entry is a row of its own, with the
text in a column that `observe` collects and that is removed again.
"""

import base64
import json
import threading
import zlib
from collections import OrderedDict
from typing import Any

from pyspark import TaskContext
from pyspark.accumulators import AccumulatorParam

from spark_udf.counters import Counters

LEDGER_COLUMN = "__wasm_host_ledger"
LEDGER_METRIC = "entries"

Key = tuple[str, str]
"""Tenant ("" where there are none) and module digest ("" for rows that reached no module)."""

_QUERY_PROPERTY = "sql.streaming.queryId"
_BATCH_PROPERTY = "streaming.sql.batchId"
_COMPRESS_OVER_CHARACTERS = 4096
_ZLIB_MARK = "zlib:"
_MAX_OPEN_GROUPS = 64
_MAX_ENTRY_CHARACTERS = 64 * 1024 * 1024


class WorkerLedger:
    """Counts of a task since its last entry."""

    def __init__(self) -> None:
        self._counters: dict[Key, Counters] = {}
        context = TaskContext.get()
        self._place: dict[str, Any] = {}
        if context is not None:
            self._place = {
                "stage": context.stageId(),
                "partition": context.partitionId(),
                "attempt": context.taskAttemptId(),
            }
            query = context.getLocalProperty(_QUERY_PROPERTY)
            if query:
                self._place["query"] = query
                self._place["batch"] = context.getLocalProperty(_BATCH_PROPERTY)

    def of(self, tenant: str | None, digest: str | None) -> Counters:
        """The record of a tenant's module, made on first use."""
        key = (tenant or "", digest or "")
        counters = self._counters.get(key)
        if counters is None:
            counters = self._counters[key] = Counters()
        return counters

    def take_entry(self) -> str | None:
        """Write what was counted since the last call as text, and start over; None if nothing was."""
        if not self._counters:
            return None
        rows = [[tenant, digest, counters.to_plain()] for (tenant, digest), counters in self._counters.items()]
        self._counters = {}
        text = json.dumps({**self._place, "rows": rows}, separators=(",", ":"))
        if len(text) > _COMPRESS_OVER_CHARACTERS:
            text = _ZLIB_MARK + base64.b64encode(zlib.compress(text.encode(), 1)).decode("ascii")
        return text


def _decode_entry(text: str) -> dict[str, Any]:
    if text.startswith(_ZLIB_MARK):
        packed = base64.b64decode(text[len(_ZLIB_MARK) :])
        text = zlib.decompressobj().decompress(packed, _MAX_ENTRY_CHARACTERS).decode()
    entry = json.loads(text)
    assert isinstance(entry, dict)
    return entry


class Book:
    """All counts on the driver."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed: dict[Key, Counters] = {}
        # Group (a stage, or a query's batch) -> partition -> attempt and its counts.
        self._open: OrderedDict[tuple[str, str], dict[int, tuple[int, dict[Key, Counters]]]] = OrderedDict()

    def absorb(self, text: str) -> None:
        """Take one entry. A later attempt of a partition replaces an earlier one, an earlier one is ignored."""
        entry = _decode_entry(text)
        query, batch = entry.get("query", ""), entry.get("batch") if "query" in entry else entry.get("stage", 0)
        group = (str(query), str(batch))
        partition, attempt = int(entry.get("partition", 0)), int(entry.get("attempt", 0))
        with self._lock:
            partitions = self._open.setdefault(group, {})
            known_attempt, counts = partitions.get(partition, (attempt, {}))
            if attempt < known_attempt:
                return
            if attempt > known_attempt:
                counts = {}
            _add_rows(counts, entry["rows"])
            partitions[partition] = (attempt, counts)
            while len(self._open) > _MAX_OPEN_GROUPS:
                self._close_oldest()

    def _close_oldest(self) -> None:
        _, partitions = self._open.popitem(last=False)
        for _, counts in partitions.values():
            _merge(self._closed, counts)

    def totals(self) -> dict[Key, Counters]:
        """Sum everything that was absorbed."""
        with self._lock:
            sums: dict[Key, Counters] = {}
            _merge(sums, self._closed)
            for partitions in self._open.values():
                for _, counts in partitions.values():
                    _merge(sums, counts)
            return sums

    def of_batch(self, query: str, batch: int) -> dict[Key, Counters]:
        """The counts of one batch of a stream, as long as it is among the last ones."""
        with self._lock:
            sums: dict[Key, Counters] = {}
            for _, counts in self._open.get((query, str(batch)), {}).values():
                _merge(sums, counts)
            return sums

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._closed.clear()
            self._open.clear()


def _add_rows(counts: dict[Key, Counters], rows: list[Any]) -> None:
    for tenant, digest, plain in rows:
        counts.setdefault((tenant, digest), Counters()).add(Counters.from_plain(plain))


def _merge(into: dict[Key, Counters], counts: dict[Key, Counters]) -> None:
    for key, counters in counts.items():
        into.setdefault(key, Counters()).add(counters)


class BookParam(AccumulatorParam[Any]):
    """Lets a book be an accumulator: on executors the value is a list of entries, on the driver it is the book."""

    def zero(self, value: Any) -> list[str]:  # noqa: ARG002 (the base class names it)
        """What an executor starts with."""
        return []

    def addInPlace(self, value1: Any, value2: Any) -> Any:  # noqa: N802 (the base class names it)
        """Add entries to the list, or to the book."""
        if isinstance(value1, Book):
            for text in value2:
                value1.absorb(text)
            return value1
        value1.extend(value2)
        return value1
