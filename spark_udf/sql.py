"""Makes a transform a function of SQL: `SELECT mask_pii(event) FROM ...`."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as T  # noqa: N812 (the name everybody uses)
from pyspark.sql.pandas.functions import arrow_udf

from spark_udf.admission import PlanSource, admit
from spark_udf.carrier import ship_bundle
from spark_udf.documents import EventFormat
from spark_udf.errors import EventFailedError
from spark_udf.failure import FAILURE_ARROW, FAILURE_COLUMN, FAILURE_SPARK
from spark_udf.program import Program
from spark_udf.tenants import TenantTransforms
from spark_udf.transform import WasmTransform
from wasm_host.errors import ConfigError

_EVENT = "event"
_ROW = "row"
_TENANT = "tenant"


def register(
    spark: SparkSession,
    name: str,
    transform: WasmTransform | TenantTransforms,
    *,
    several: bool = False,
    format: EventFormat | None = None,
    output_format: EventFormat | None = None,
    as_text: bool = False,
) -> None:
    """Register a transform as a SQL function of the session.

    A function gives exactly one value for each row, so a dropped event is NULL. With on_error "dead_letter" the value
    is a struct of `event` and `failure`. For tenants the function takes the tenant as second argument. Counts of a
    function do not reach `metrics()`; use `apply` where they matter.

    Args:
        spark: The session, classic or Connect.
        name: The function's name.
        transform: What to run.
        several: Give an array of all events that an event became, for `explode`; otherwise more than one is a failure.
        format: The format of the events, as in `WasmTransform.apply`; formats of text take text and binary. Left out,
            it is the tenants' own, else "protobuf".
        output_format: The format to give back; the same if left out.
        as_text: Give a STRING instead of a BINARY, for formats of text. What comes in is not known before a query
            calls the function, so this does not follow from it.

    Raises:
        TransformError: the name, a module, a configuration or a format was refused.
    """
    if not name.isidentifier():
        raise ConfigError(f"the function name {name!r} is not a name", hint="use letters, digits and underscores")
    by_tenant = isinstance(transform, TenantTransforms)
    documents = transform.documents(format, output_format)
    if as_text:
        documents = documents.as_text()
    plans: dict[str | None, PlanSource]
    if isinstance(transform, TenantTransforms):
        plans = {tenant: part.plan for tenant, part in transform.tenants.items()}
        unknown = transform.unknown
    else:
        plans, unknown = {None: transform.plan}, "fail"
    admitted = admit(plans, engine="wasm")
    with_failures = admitted.has_dead_letters or unknown == "dead_letter"
    program = Program(
        bundle_digest=admitted.bundle_digest,
        carrier=ship_bundle(spark, admitted.bundle_digest, admitted.blob),
        secrets=admitted.secrets,
        event_column=_EVENT,
        output_names=(_EVENT, _ROW, *((_TENANT,) if by_tenant else ()), *((FAILURE_COLUMN,) if with_failures else ())),
        tenant_column=_TENANT if by_tenant else None,
        unknown=unknown,
        with_failures=with_failures,
        documents=documents,
        counts=False,
    )
    one: T.DataType = T.StringType() if as_text else T.BinaryType()
    value = T.ArrayType(one) if several else one
    if with_failures:
        value = T.StructType([T.StructField(_EVENT, value), T.StructField(FAILURE_COLUMN, FAILURE_SPARK)])
    function = ScalarProgram(program, several, pa.string() if as_text else pa.binary()).function(by_tenant)
    # The signatures that Spark declares do not know functions of iterators that return structs; Spark itself does.
    spark.udf.register(name, arrow_udf(function, value))  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class ScalarProgram:
    """A program as a function from columns to a column of the same length."""

    program: Program
    several: bool
    event_type: pa.DataType

    def function(self, by_tenant: bool):  # type: ignore[no-untyped-def]  # Spark reads the annotations of what is returned
        """Make the function that Spark registers."""
        run = self._run

        def of_events(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
            for events in batches:
                yield run(events, None)

        def of_events_and_tenants(batches: Iterator[tuple[pa.Array, pa.Array]]) -> Iterator[pa.Array]:
            for events, tenants in batches:
                yield run(events, tenants)

        return of_events_and_tenants if by_tenant else of_events

    def _run(self, events: pa.Array, tenants: pa.Array | None) -> pa.Array:
        self.program.documents.check_arrow(events.type)
        # What comes out of the program has the type of what went in; bytes can carry every format.
        columns, names = [events.cast(pa.binary()), pa.array(np.arange(len(events)))], [_EVENT, _ROW]
        if tenants is not None:
            columns.append(tenants.cast(pa.string()))
            names.append(_TENANT)
        batch = pa.RecordBatch.from_arrays(columns, names=names)
        outputs = list(self.program(iter([batch])))
        if not outputs:
            return self._nothing(len(events))
        merged = pa.Table.from_batches(outputs).combine_chunks()
        rows, values = merged[_ROW].to_numpy(), _flat(merged[_EVENT])
        if not self.program.with_failures:
            return self._values(values, rows, len(events))
        failures = _flat(merged[FAILURE_COLUMN])
        is_good = failures.is_null().to_numpy(zero_copy_only=False)
        result = self._values(values.filter(pa.array(is_good)), rows[is_good], len(events))
        dead = _first_positions(rows[~is_good], len(events))
        failure = failures.filter(pa.array(~is_good)).take(dead)
        return pa.StructArray.from_arrays([result, failure], names=[_EVENT, FAILURE_COLUMN])

    def _values(self, values: pa.Array, rows: np.ndarray, length: int) -> pa.Array:
        counts = np.bincount(rows, minlength=length)
        values = values.cast(self.event_type)
        if self.several:
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
            return pa.ListArray.from_arrays(pa.array(offsets), values)
        if counts.max(initial=0) > 1:
            raise EventFailedError(
                f"an event became {counts.max()} events, and a SQL function gives one value for a row",
                hint="register with several=True and use explode, or apply the transform to the DataFrame",
            )
        return values.take(_first_positions(rows, length))

    def _nothing(self, length: int) -> pa.Array:
        empty = self._values(pa.array([], pa.binary()), np.empty(0, np.int64), length)
        if not self.program.with_failures:
            return empty
        return pa.StructArray.from_arrays([empty, pa.nulls(length, FAILURE_ARROW)], names=[_EVENT, FAILURE_COLUMN])


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)


def _first_positions(rows: np.ndarray, length: int) -> pa.Array:
    """For each input row the position of its first output, null where it has none."""
    positions = np.zeros(length, np.int64)
    absent = np.ones(length, bool)
    # Written from the end, so that the first one stays.
    positions[rows[::-1]] = np.arange(len(rows))[::-1]
    absent[rows] = False
    return pa.array(positions, mask=absent)
