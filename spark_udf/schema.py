"""Checks the DataFrame's columns on the driver and decides which of them go to Python."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name everybody uses)
from pyspark.sql import types as T  # noqa: N812

from spark_udf.documents import Documents
from spark_udf.errors import SchemaMismatchError
from spark_udf.failure import FAILURE_COLUMN, FAILURE_SPARK
from spark_udf.ledger import LEDGER_COLUMN
from spark_udf.routing import TENANT_COLUMN
from spark_udf.tenant_path import TenantPath

_TENANT_TYPES = (T.StringType, T.ByteType, T.ShortType, T.IntegerType, T.LongType)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns go in, and what comes out.

    Attributes:
        event: Name of the event column.
        event_type: Its type when it comes out.
        kept: Fields of the columns that are given back, the event among them.
        tenant_name: The column of the input that holds the tenant, or None.
        tenant_expression: Computes that column, if it is not one of those kept.
        tenant_path: Where in the event the tenant stands, if it is not a column.
    """

    event: str
    event_type: T.DataType
    kept: tuple[T.StructField, ...]
    tenant_name: str | None = None
    tenant_expression: Column | None = None
    tenant_path: TenantPath | None = None

    def select(self, df: DataFrame) -> DataFrame:
        """Leave only what Python needs."""
        columns = [F.col(quote(field.name)) for field in self.kept]
        if self.tenant_expression is not None:
            columns.append(self.tenant_expression.alias(TENANT_COLUMN))
        return df.select(*columns)

    def output(self, *, with_failures: bool, with_ledger: bool) -> T.StructType:
        """The schema of what comes back."""
        fields = [
            T.StructField(field.name, self.event_type, True, field.metadata) if field.name == self.event else field
            for field in self.kept
        ]
        if with_failures:
            fields.append(T.StructField(FAILURE_COLUMN, FAILURE_SPARK, True))
        if with_ledger:
            fields.append(T.StructField(LEDGER_COLUMN, T.StringType(), True))
        return T.StructType(fields)


def quote(name: str) -> str:
    """Write a column name so that dots and other signs in it are taken literally."""
    return "`" + name.replace("`", "``") + "`"


def plan_layout(
    df: DataFrame,
    *,
    column: str,
    tenant: str | None,
    keep: Sequence[str] | None,
    with_failures: bool,
    documents: Documents,
) -> Layout:
    """Check columns and plan what goes to Python.

    Raises:
        SchemaMismatchError: a column is missing, of the wrong type, or in the way of ours.
        ConfigError: the tenant is neither a column nor a path.
    """
    fields = {field.name: field for field in df.schema.fields}
    if len(fields) < len(df.schema.fields):
        names = [field.name for field in df.schema.fields]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SchemaMismatchError(f"the DataFrame has several columns named {', '.join(twice)}", hint="rename them")
    event = require_documents(df, column, documents)
    for name in (TENANT_COLUMN, LEDGER_COLUMN, *((FAILURE_COLUMN,) if with_failures else ())):
        if name in fields:
            raise SchemaMismatchError(
                f"the DataFrame has a column {name!r}, which is a name that the transform uses", hint="rename it"
            )
    kept_names = list(fields) if keep is None else [*dict.fromkeys([*keep, column])]
    kept = tuple(_require(fields, name, "a column of keep=") for name in kept_names)
    # The order of the DataFrame, whatever the order in keep=.
    kept = tuple(field for field in fields.values() if field in kept)
    layout = Layout(column, documents.output_type(event.dataType), kept)
    return layout if tenant is None else _with_tenant(df, layout, tenant)


def require_documents(df: DataFrame, column: str, documents: Documents) -> T.StructField:
    """Find the event column, of a type that can hold its format.

    Raises:
        SchemaMismatchError: it is missing, or of another type.
    """
    event = _require({field.name: field for field in df.schema.fields}, column, "the event column")
    if not documents.accepts(event.dataType):
        raise SchemaMismatchError(
            f"the event column {column!r} has the type {event.dataType.simpleString()}; {documents.allowed}",
            hint=documents.hint,
        )
    return event


def _require(fields: dict[str, T.StructField], name: str, what: str) -> T.StructField:
    if name in fields:
        return fields[name]
    close = difflib.get_close_matches(name, fields, 1, 0.5)
    raise SchemaMismatchError(
        f"{what} {name!r} does not exist; the DataFrame has {', '.join(fields)}",
        hint=f"did you mean {close[0]!r}?" if close else "name one of these",
    )


def _with_tenant(df: DataFrame, layout: Layout, tenant: str) -> Layout:
    found = _find_field(df.schema, tenant)
    if found is None:
        if not {"schema", "table"} & {tenant} and "." not in tenant:
            _require({field.name: field for field in df.schema.fields}, tenant, "the tenant column")
        return replace(layout, tenant_path=TenantPath.parse(tenant))
    column, data_type = found
    if not isinstance(data_type, _TENANT_TYPES):
        raise SchemaMismatchError(
            f"the tenant column {tenant!r} has the type {data_type.simpleString()}; allowed are text and whole numbers",
            hint="cast it to string first",
        )
    is_kept = any(field.name == tenant for field in layout.kept)
    if is_kept and isinstance(data_type, T.StringType):
        return replace(layout, tenant_name=tenant)
    return replace(layout, tenant_name=TENANT_COLUMN, tenant_expression=column.cast("string"))


def _find_field(schema: T.StructType, name: str) -> tuple[Column, T.DataType] | None:
    """Find a column, or a field inside struct columns by a dotted name."""
    for field in schema.fields:
        if field.name == name:
            return F.col(quote(name)), field.dataType
    parts = name.split(".")
    data_type: T.DataType = schema
    for part in parts:
        inner = {field.name: field for field in data_type.fields} if isinstance(data_type, T.StructType) else {}
        if part not in inner:
            return None
        data_type = inner[part].dataType
    return F.col(".".join(quote(part) for part in parts)), data_type
