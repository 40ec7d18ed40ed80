"""What people would write in Spark instead: functions for mapInArrow and mapInPandas, a UDF, and SQL expressions."""

from collections.abc import Iterator
from typing import Any

import orjson
import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)
from pyspark.sql.types import BinaryType

import guest_examples
from abi import Event
from wasm_host.native import Pipeline

FIELDS = ("email", "phone")
REDACT: dict[str, Any] = {"rules": [{"path": path, "action": "redact"} for path in FIELDS]}
IMAGE_SCHEMA = (
    "id bigint, name string, email string, phone string, address struct<street: string, city: string>, iban string, "
    "status string, segment string, balance decimal(18,2), version int"
)


def identity_arrow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Nothing, through mapInArrow."""
    yield from batches


def identity_pandas(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Nothing, through mapInPandas."""
    yield from frames


def native_pandas(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """The native pipeline (the guest's twin) in mapInPandas."""
    pipeline = Pipeline([guest_examples.twin("mask_pii").build(REDACT)])
    for frame in frames:
        result = pipeline.transform(frame["event"].tolist())
        assert not result.failures
        frame["event"] = result.events.to_pylist()
        yield frame


def redact_fast(data: bytes) -> bytes:
    """One event, as quickly as Python can: upb and orjson, nothing between."""
    event = Event.FromString(data)
    if event.HasField("before"):
        row = orjson.loads(event.before)
        if row.get("email") is not None:
            row["email"] = "***"
        if row.get("phone") is not None:
            row["phone"] = "***"
        event.before = orjson.dumps(row)
    if event.HasField("after"):
        row = orjson.loads(event.after)
        if row.get("email") is not None:
            row["email"] = "***"
        if row.get("phone") is not None:
            row["phone"] = "***"
        event.after = orjson.dumps(row)
    return event.SerializeToString()


def strongest_python(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """mapInArrow with `redact_fast`: the fastest honest Python that we know to write."""
    for batch in batches:
        position = batch.schema.get_field_index("event")
        events = pa.array([redact_fast(data) for data in batch.column(position).to_pylist()], pa.binary())
        yield batch.set_column(position, batch.schema.field(position), events)


def plain_udf(rows: DataFrame) -> DataFrame:
    """A Python UDF for each row, as most tutorials have it."""
    return rows.withColumn("event", F.udf(redact_fast, BinaryType(), useArrow=False)("event"))


def sql_json(columns: DataFrame) -> DataFrame:
    """On the JVM: row images are JSON in text columns, parsed with a schema, changed and written again."""

    # Parsed in a projection of its own: an expression that is used several times would be evaluated several times.
    parsed = columns.withColumns({image: F.from_json(image, IMAGE_SCHEMA) for image in ("before", "after")})
    return sql_flat(parsed).withColumns({image: F.to_json(image) for image in ("before", "after")})


def sql_regex(columns: DataFrame) -> DataFrame:
    """On the JVM: a regular expression over the JSON text (quick, and wrong where a value has an escaped quote)."""

    def mask(name: str) -> Column:
        return F.regexp_replace(name, '"(email|phone)":"[^"]*"', '"$1":"***"')

    return columns.withColumn("before", mask("before")).withColumn("after", mask("after"))


def sql_flat(flat: DataFrame) -> DataFrame:
    """On the JVM: every column of the row is a column of the table already, so masking is a constant."""
    for image in ("before", "after"):
        masked = F.col(image)
        for field in FIELDS:
            masked = masked.withField(field, F.when(F.col(f"{image}.{field}").isNotNull(), F.lit("***")))
        flat = flat.withColumn(image, masked)
    return flat


def as_columns(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The envelope as columns and the row images as text, to make the input of the SQL variants."""
    for batch in batches:
        events = [Event.FromString(data) for data in batch.column("event").to_pylist()]
        texts = {
            image: [getattr(event, image).decode() if event.HasField(image) else None for event in events]
            for image in ("before", "after")
        }
        yield pa.RecordBatch.from_pydict(
            {
                "id": batch.column("id"),
                "tenant_id": batch.column("tenant_id"),
                "op": [int(event.op) for event in events],
                "ts": [event.ts for event in events],
                "source_offset": [event.source.offset for event in events],
                **texts,
            },
            schema=pa.schema(
                [
                    ("id", pa.int64()),
                    ("tenant_id", pa.string()),
                    ("op", pa.int32()),
                    ("ts", pa.int64()),
                    ("source_offset", pa.string()),
                    ("before", pa.string()),
                    ("after", pa.string()),
                ]
            ),
        )


COLUMNS_SCHEMA = "id bigint, tenant_id string, op int, ts bigint, source_offset string, before string, after string"
