"""Connects a transform's book to Spark: an accumulator in classic Spark, `observe` in Spark Connect."""

import logging
import threading
import uuid
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)
from pyspark.sql.streaming.listener import StreamingQueryListener

from spark_udf.carrier import is_connect
from spark_udf.ledger import LEDGER_COLUMN, LEDGER_METRIC, Book, BookParam
from spark_udf.metrics import ModuleMetrics, report, to_prometheus

OnBatch = Callable[[str, int, list[ModuleMetrics]], None]
"""Called with the query's id, the batch's number and what was counted in that batch."""

logger = logging.getLogger("spark_udf.metrics")


class Meter:
    """Collects the counts of one transform over all its DataFrames."""

    def __init__(self) -> None:
        self.book = Book()
        self._lock = threading.Lock()
        self._accumulators: dict[str, Any] = {}
        self._observations: list[Observation] = []
        self._stream_names: set[str] = set()

    def accumulator(self, spark: SparkSession) -> Any:
        """The accumulator of this application, or None in Spark Connect."""
        if is_connect(spark):
            return None
        context = spark.sparkContext
        with self._lock:
            if context.applicationId not in self._accumulators:
                self._accumulators[context.applicationId] = context.accumulator(self.book, BookParam())
            return self._accumulators[context.applicationId]

    def observe(self, df: DataFrame) -> DataFrame:
        """Collect and remove the ledger's rows and column; for Spark Connect."""
        entries = F.collect_list(LEDGER_COLUMN).alias(LEDGER_METRIC)
        if df.isStreaming:
            name = f"wasm_host_{uuid.uuid4().hex}"
            self._stream_names.add(name)
            observed = df.observe(name, entries)
        else:
            observation = Observation()
            with self._lock:
                self._observations.append(observation)
            observed = df.observe(observation, entries)
        return observed.where(F.col(LEDGER_COLUMN).isNull()).drop(LEDGER_COLUMN)

    def metrics(self) -> list[ModuleMetrics]:
        """What was counted so far."""
        self._absorb_observations()
        return report(self.book.totals())

    def metrics_text(self) -> str:
        """The same for Prometheus."""
        return to_prometheus(self.metrics())

    def reset(self) -> None:
        """Start from zero."""
        self._absorb_observations()
        self.book.clear()

    def _absorb_observations(self) -> None:
        with self._lock:
            waiting = []
            for observation in self._observations:
                # In Spark Connect this is empty until an action has run; it never waits.
                found = observation.get
                if LEDGER_METRIC not in found:
                    waiting.append(observation)
                for entry in found.get(LEDGER_METRIC) or ():
                    self.book.absorb(entry)
            self._observations = waiting

    def absorb_progress(self, observed: dict[str, Any]) -> None:
        """Take the entries from a stream's progress; in classic Spark they came by accumulator already."""
        for name in self._stream_names & set(observed):
            for entry in observed[name][LEDGER_METRIC] or ():
                self.book.absorb(entry)


class MetricsListener(StreamingQueryListener):
    """Reports the counts of each batch of a stream; add it with `spark.streams.addListener(...)`."""

    def __init__(self, meter: Meter, on_batch: OnBatch | None = None) -> None:
        super().__init__()
        self._meter = meter
        self._on_batch = on_batch

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 (the base class names it)
        """Nothing to do."""

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Nothing to do."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """Nothing to do."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """Take the batch's counts and pass them on."""
        progress = event.progress
        self._meter.absorb_progress(dict(progress.observedMetrics or {}))
        query, batch = str(progress.id), int(progress.batchId)
        records = report(self._meter.book.of_batch(query, batch))
        if not records:
            return
        for record in records:
            counters = record.counters
            logger.info(
                "query %s batch %d tenant %s module %s: in %d out %d dropped %d failed %d",
                query, batch, record.tenant, (record.module or "")[:12],
                counters.events_in, counters.events_out, counters.events_dropped, counters.events_failed,
            )  # fmt: skip
        if self._on_batch is not None:
            self._on_batch(query, batch, records)
