"""The multi-tenant job as one call: read events, run each tenant's transforms, write good rows and dead letters.

Batch or stream, one pass: both outcomes go to one folder, partitioned by the column `outcome` ("good" or "dead"), so a
stream has one checkpoint and each event arrives exactly once, dead letters too.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_udf.documents import EventFormat
from spark_udf.errors import SchemaMismatchError
from spark_udf.failure import FAILURE_COLUMN, OUTCOME_COLUMN, label_failures, split_failures
from spark_udf.metrics import ModuleMetrics
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
    master: str = "local[2]",
    spark: SparkSession | None = None,
) -> JobReport:
    """Run a multi-tenant job over files.

    Args:
        source: Folder or file of rows with a binary column of events.
        target: Folder for Parquet; must not exist, except for a stream that goes on.
        tenants: A tenants.toml, or transforms that were read already.
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
        master: Where to run, if no session is given.
        spark: The session to use; otherwise one is started and stopped.

    Raises:
        TransformError: the tenants, a module, a column or an option was refused.
    """
    transforms = tenants if isinstance(tenants, TenantTransforms) else TenantTransforms.from_file(tenants)
    if checkpoint is None and Path(target).exists():
        raise ConfigError(f"the target {target} exists", hint="name a folder that does not, or remove it")
    session = spark or make_session("wasm-host", master=master)
    try:
        rows = _read(session, source, source_format, is_stream=checkpoint is not None, files_per_batch=files_per_batch)
        out = transforms.apply(
            rows,
            tenant,
            column=column,
            via=via,
            engine=engine,
            unknown=unknown,
            format=format,
            output_format=output_format,
        )
        labelled = label_failures(out) if FAILURE_COLUMN in out.columns else out
        started = time.perf_counter()
        if checkpoint is None:
            writer = labelled.write
            (writer.partitionBy(OUTCOME_COLUMN) if OUTCOME_COLUMN in labelled.columns else writer).parquet(str(target))
        else:
            _run_stream(labelled, str(target), str(checkpoint))
        seconds = time.perf_counter() - started
        return JobReport(seconds, transforms.metrics(), transforms.metrics_text())
    finally:
        if spark is None:
            session.stop()


def _read(
    spark: SparkSession, source: str | Path, source_format: str, *, is_stream: bool, files_per_batch: int | None
) -> DataFrame:
    if not Path(source).exists():
        raise ConfigError(f"the source {source} does not exist", hint="name a folder or file of events")
    rows = spark.read.format(source_format).load(str(source))
    if not is_stream:
        return rows
    stream = spark.readStream.schema(rows.schema).format(source_format)
    if files_per_batch is not None:
        stream = stream.option("maxFilesPerTrigger", files_per_batch)
    return stream.load(str(source))


def _run_stream(out: DataFrame, target: str, checkpoint: str) -> None:
    writer = out.writeStream.format("parquet").option("path", target).option("checkpointLocation", checkpoint)
    if OUTCOME_COLUMN in out.columns:
        writer = writer.partitionBy(OUTCOME_COLUMN)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()


def read_output(spark: SparkSession, target: str | Path) -> tuple[DataFrame, DataFrame | None]:
    """Read what a job wrote, the way Spark reads it: good rows, and dead letters if the job kept them.

    Raises:
        SchemaMismatchError: the folder was not written by a job.
    """
    out = spark.read.parquet(str(target))
    if OUTCOME_COLUMN not in out.columns:
        return out, None
    if FAILURE_COLUMN not in out.columns:
        raise SchemaMismatchError(f"{target} has a column {OUTCOME_COLUMN!r} but no {FAILURE_COLUMN!r}")
    good, dead = split_failures(out.drop(OUTCOME_COLUMN))
    return good, dead
