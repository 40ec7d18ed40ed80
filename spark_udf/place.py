"""Where a job reads and writes: a folder or file, or a table of Spark's catalog, written `table:NAME`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, get_args

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from spark_udf.job_errors import first_line
from wasm_host.errors import ConfigError

SaveMode = Literal["error", "append", "overwrite"]
SAVE_MODES: tuple[SaveMode, ...] = get_args(SaveMode)
_TABLE = "table:"
_TABLE_FORMAT = "parquet"


@dataclass(frozen=True, slots=True)
class Place:
    """A path or a table.

    Attributes:
        name: The path, or the table's name, such as `db.events`.
        is_table: Which of both.
    """

    name: str
    is_table: bool = False

    @classmethod
    def parse(cls, text: "str | Path | Place") -> Self:
        """Read a path, or `table:NAME`.

        Raises:
            ConfigError: it is empty.
        """
        if isinstance(text, Place):
            return cls(text.name, text.is_table)
        is_table = str(text).startswith(_TABLE)
        name = str(text).removeprefix(_TABLE).strip()
        if not name:
            raise ConfigError(f"{str(text)!r} names no place", hint="write a path, or table:NAME")
        return cls(name, is_table)

    def __str__(self) -> str:
        return f"table {self.name}" if self.is_table else self.name

    @property
    def is_local(self) -> bool:
        """Whether it can be looked at without Spark."""
        return not self.is_table and "://" not in self.name

    def exists(self, spark: SparkSession) -> bool:
        """Whether it is there; a path with a scheme is Spark's to look at, and counts as there.

        Raises:
            ConfigError: the name is not one that a table can have.
        """
        if not self.is_table:
            return not self.is_local or Path(self.name).exists()
        try:
            return spark.catalog.tableExists(self.name)
        except (AnalysisException, ParseException) as error:
            raise ConfigError(
                f"{self.name!r} is no name of a table: {first_line(error)}", hint="write NAME or DATABASE.NAME"
            ) from error

    def require_source(self, spark: SparkSession) -> None:
        """Return if it can be read from.

        Raises:
            ConfigError: it is not there.
        """
        if self.exists(spark):
            return
        if self.is_table:
            raise ConfigError(
                f"the input table {self.name} does not exist in the catalog",
                hint="name a table that Spark knows; one of another metastore needs its settings in --conf",
            )
        raise ConfigError(f"the source {self.name} does not exist", hint="name a folder or file of events")

    def require_target(self, spark: SparkSession, mode: SaveMode) -> None:
        """Return if it can be written to.

        Raises:
            ConfigError: it exists, and nothing is said of adding to it.
        """
        # Nothing to ask of a path elsewhere: Spark itself refuses one that exists.
        if mode != "error" or not (self.is_table or self.is_local) or not self.exists(spark):
            return
        raise ConfigError(f"the target {self} exists", hint="name one that does not, or set the save mode")

    def read(self, spark: SparkSession, source_format: str) -> DataFrame:
        """All rows that are there now."""
        return spark.read.table(self.name) if self.is_table else spark.read.format(source_format).load(self.name)

    def read_stream(self, spark: SparkSession, source_format: str, files_per_batch: int | None) -> DataFrame:
        """The rows as a stream."""
        stream = spark.readStream
        if files_per_batch is not None:
            stream = stream.option("maxFilesPerTrigger", files_per_batch)
        if self.is_table:
            return stream.table(self.name)
        schema = self.read(spark, source_format).schema
        return stream.schema(schema).format(source_format).load(self.name)

    def write(self, rows: DataFrame, mode: SaveMode, partition: str | None) -> None:
        """Write rows once."""
        writer = rows.write.mode(mode).format(_TABLE_FORMAT)
        if partition is not None:
            writer = writer.partitionBy(partition)
        if self.is_table:
            writer.saveAsTable(self.name)
        else:
            writer.save(self.name)

    def write_stream(self, rows: DataFrame, checkpoint: str, partition: str | None) -> None:
        """Write what a stream has now, and wait for it; each row once, also when it is run again."""
        writer = rows.writeStream.format(_TABLE_FORMAT).option("checkpointLocation", checkpoint)
        writer = writer.trigger(availableNow=True)
        if partition is not None:
            writer = writer.partitionBy(partition)
        query = writer.toTable(self.name) if self.is_table else writer.start(self.name)
        query.awaitTermination()
