"""Dead letters as OpenCDC records, for a queue that other systems read."""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)
from pyspark.sql import types as T  # noqa: N812

from abi.errors import AbiError
from abi.formats import Format, dead_letter_opencdc
from abi.formats.opencdc import Wire
from spark_udf.documents import CANONICAL, EventFormat, find_format
from spark_udf.errors import SchemaMismatchError
from spark_udf.failure import FAILURE_COLUMN, require_failures
from spark_udf.step import check_choice

_WIRES = ("json", "protobuf")
_FIELDS = ("code", "message", "module", "tenant", "event")


def to_opencdc_letters(
    df: DataFrame,
    column: str = "record",
    *,
    format: EventFormat = "protobuf",
    wire: Wire = "json",
    node_id: str = "wasm-host",
) -> DataFrame:
    """Add a column in which each failed event is an OpenCDC record that says why and where it failed.

    The record's metadata has `conduit.dlq.nack.error` ("[CODE] message") and `conduit.dlq.nack.node.id` (the node, the
    tenant and the module's digest). What a record has no place for travels whole, as raw data in `payload.after`.

    Args:
        df: The dead letters of `split_failures`, or any DataFrame with a `failure` column; rows without a failure get
            a null.
        column: Name of the new column: text for records in JSON, binary for protobuf.
        format: The format that the events came in, as it was given to `apply`.
        wire: "json" or "protobuf".
        node_id: What stands first in the node's id.

    Raises:
        SchemaMismatchError: there is no failure column, or `column` exists.
        ConfigError: `wire` is unknown.
        UnknownFormatError: there is no such format.
    """
    check_choice("wire", wire, _WIRES)
    require_failures(df)
    if column in df.columns:
        raise SchemaMismatchError(f"the DataFrame has a column {column!r} already", hint="give column= another name")
    return df.withColumn(column, _writer(find_format(format), wire, node_id)(F.col(FAILURE_COLUMN)))


def _writer(read: Format, wire: Wire, node_id: str) -> Callable[[Column], Column]:
    def write(failures: pa.Array) -> pa.Array:
        # flatten() gives each field the nulls of the struct above it.
        columns = dict(zip((field.name for field in failures.type), failures.flatten(), strict=True))
        rows = zip(*(columns[name].to_pylist() for name in _FIELDS), strict=True)
        records = [None if row[0] is None else _record(read, wire, node_id, *row) for row in rows]
        return pa.array(records, pa.binary()).cast(pa.string() if wire == "json" else pa.binary())

    result = T.StringType() if wire == "json" else T.BinaryType()
    udf: Callable[[Column], Column] = F.arrow_udf(write, result)  # type: ignore[attr-defined] # stubs lag behind
    return udf


def _record(
    read: Format,
    wire: Wire,
    node_id: str,
    code: str,
    message: str | None,
    module: str | None,
    tenant: str | None,
    event: bytes | None,
) -> bytes:
    node = "".join([node_id, f"/{tenant}" if tenant is not None else "", f"@{module}" if module is not None else ""])
    document = event or b""
    error = f"[{code}] {message or ''}"
    if read.name == CANONICAL:
        return dead_letter_opencdc(document, error=error, node_id=node, wire=wire)
    try:
        return dead_letter_opencdc(read.decode(document), error=error, node_id=node, wire=wire)
    except AbiError:  # what cannot be read is what most letters are about; it travels as the bytes it is
        return dead_letter_opencdc(document, error=error, node_id=node, wire=wire)
