"""The multi-tenant job as one call: read events, run each tenant's transforms, write good rows and dead letters.

Batch or stream, one pass: both outcomes go to one place, partitioned by the column `outcome` ("good" or "dead"), so a
stream has one checkpoint and each event arrives exactly once, dead letters too. Dead letters that have a place of their
own cost more: in a batch the result is kept until both are written; in a stream each place is a query with a checkpoint
of its own, and the transforms run for each.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_udf.documents import EventFormat
from spark_udf.errors import SchemaMismatchError
from spark_udf.failure import FAILURE_COLUMN, OUTCOME_COLUMN, label_failures, split_failures
from spark_udf.metrics import ModuleMetrics
from spark_udf.place import Place, SaveMode
from spark_udf.session import make_session
from spark_udf.step import Engine, Unknown, Via
from spark_udf.tenants import TenantTransforms
from wasm_host.errors import ConfigError


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a job did.

    Attributes:
        seconds: Wall time of reading, transforming and writing; without the start of Spark.
        metrics: Counts by tenant and module.
        metrics_text: The same for Prometheus.
    """

    seconds: float
    metrics: list[ModuleMetrics]
    metrics_text: str

    @property
    def events_in(self) -> int:
        """Events that were given to the first module of each tenant, and rows of unknown tenants."""
        return sum(record.counters.events_in for record in self.metrics)


def run_job(
    *,
    source: str | Path,
    target: str | Path,
    tenants: str | Path | TenantTransforms,
    dead_letters: str | Path | None = None,
    mode: SaveMode = "error",
    tenant: str | None = None,
    column: str = "event",
    source_format: str = "parquet",
    format: EventFormat | None = None,
    output_format: EventFormat | None = None,
    via: Via = "arrow",
    engine: Engine = "wasm",
    unknown: Unknown | None = None,
    checkpoint: str | Path | None = None,
    files_per_batch: int | None = None,
    master: str | None = None,
    spark: SparkSession | None = None,
) -> JobReport:
    """Run a multi-tenant job over files or tables.

    Args:
        source: Folder or file of rows with a column of events, or `table:NAME`.
        target: Folder for Parquet, or `table:NAME`.
        tenants: A tenants.toml, or transforms that were read already.
        dead_letters: Another folder or `table:NAME` for rows that failed; `target` then holds good rows only.
        mode: What happens if a target exists: "error", "append" or "overwrite". A stream always goes on.
        tenant: The tenant's column or path, if the tenants file does not name it.
        column: The column of events.
        source_format: A format that Spark reads, such as "parquet" or "orc".
        format: The format of the events in the column, a name of `abi.formats`; the tenants file's word if left out.
        output_format: The format to write them in; the same if left out.
        via: "arrow" or "pandas".
        engine: "wasm", "native" or "shadow".
        unknown: What happens to rows of unknown tenants; the tenants file's word if left out.
        checkpoint: Makes it a stream: what is there is processed once, and a later run goes on where this one ended.
        files_per_batch: At most so many files in one batch of a stream.
        master: Where to run, if no session is given; see `start_session`.
        spark: The session to use; otherwise one is started and stopped.

    Raises:
        TransformError: the tenants, a module, a column or an option was refused.
    """
    session = spark or start_session(master=master)
    try:
        places = _Places(Place.parse(source), Place.parse(target), Place.parse(dead_letters) if dead_letters else None)
        places.require(session, None if checkpoint else mode)

        def transformed(transforms: TenantTransforms) -> DataFrame:
            is_stream = checkpoint is not None
            out = transforms.apply(
                places.source.read_stream(session, source_format, files_per_batch)
                if is_stream
                else places.source.read(session, source_format),
                tenant,
                column=column,
                via=via,
                engine=engine,
                unknown=unknown,
                format=format,
                output_format=output_format,
            )
            if places.dead_letters is not None and FAILURE_COLUMN not in out.columns:
                raise ConfigError(
                    "no tenant keeps its dead letters, so none can be written to a place of their own",
                    hint='set on_error = "dead_letter" in the tenants file, or leave the place out',
                )
            return out

        transforms = _read_tenants(tenants)
        out = transformed(transforms)
        started = time.perf_counter()
        if checkpoint is None:
            _write(out, places, mode)
        else:
            # The second query has transforms of its own, so that nothing is counted twice.
            _write_stream(out, places, str(checkpoint), lambda: transformed(_read_tenants(tenants)))
        seconds = time.perf_counter() - started
        return JobReport(seconds, transforms.metrics(), transforms.metrics_text())
    finally:
        if spark is None:
            session.stop()


def start_session(*, master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session for a job: under spark-submit the one that was asked for there, otherwise one of our own.

    Args:
        master: Where to run; under spark-submit what it was told, otherwise all cores of this machine.
        conf: Settings of Spark.
    """
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return make_session("wasm-host", master=master or "local[*]", conf=conf)
    builder = SparkSession.builder.appName("wasm-host")
    if master is not None:
        builder = builder.master(master)
    for name, value in (conf or {}).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@dataclass(frozen=True, slots=True)
class _Places:
    source: Place
    target: Place
    dead_letters: Place | None

    def require(self, spark: SparkSession, mode: SaveMode | None) -> None:
        """Look at everything before anything runs; without a mode, for a stream that may go on."""
        self.source.require_source(spark)
        targets = [place for place in (self.target, self.dead_letters) if place is not None]
        if len({self.source, *targets}) <= len(targets):
            raise ConfigError("input, output and dead letters must be different places", hint="name another")
        for place in targets:
            if mode is not None:
                place.require_target(spark, mode)


def _read_tenants(tenants: str | Path | TenantTransforms) -> TenantTransforms:
    return tenants if isinstance(tenants, TenantTransforms) else TenantTransforms.from_file(tenants)


def _write(out: DataFrame, places: _Places, mode: SaveMode) -> None:
    if places.dead_letters is None:
        is_labelled = FAILURE_COLUMN in out.columns
        places.target.write(label_failures(out) if is_labelled else out, mode, OUTCOME_COLUMN if is_labelled else None)
        return
    out.persist()
    try:
        good, dead = split_failures(out)
        places.target.write(good, mode, None)
        places.dead_letters.write(dead, mode, None)
    finally:
        out.unpersist()


def _write_stream(out: DataFrame, places: _Places, checkpoint: str, again: Callable[[], DataFrame]) -> None:
    if places.dead_letters is None:
        is_labelled = FAILURE_COLUMN in out.columns
        rows = label_failures(out) if is_labelled else out
        places.target.write_stream(rows, checkpoint, OUTCOME_COLUMN if is_labelled else None)
        return
    places.target.write_stream(split_failures(out)[0], f"{checkpoint}/good", None)
    places.dead_letters.write_stream(split_failures(again())[1], f"{checkpoint}/dead", None)


def read_output(spark: SparkSession, target: str | Path) -> tuple[DataFrame, DataFrame | None]:
    """Read what a job wrote, the way Spark reads it: good rows, and dead letters if the job kept them.

    Raises:
        SchemaMismatchError: the folder was not written by a job.
    """
    out = Place.parse(target).read(spark, "parquet")
    if OUTCOME_COLUMN not in out.columns:
        return out, None
    if FAILURE_COLUMN not in out.columns:
        raise SchemaMismatchError(f"{target} has a column {OUTCOME_COLUMN!r} but no {FAILURE_COLUMN!r}")
    good, dead = split_failures(out.drop(OUTCOME_COLUMN))
    return good, dead
