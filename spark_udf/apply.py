"""Puts admitted plans on a DataFrame. The two public classes, with and without tenants, come together here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812 (the name everybody uses)

from spark_udf.admission import PlanSource, admit
from spark_udf.carrier import ship_bundle
from spark_udf.documents import Documents
from spark_udf.errors import SchemaMismatchError
from spark_udf.ledger import LEDGER_COLUMN
from spark_udf.meter import Meter
from spark_udf.pandas_way import map_in_pandas
from spark_udf.program import Program
from spark_udf.schema import plan_layout
from spark_udf.step import ENGINES, VIA, check_choice
from wasm_host.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a transform is applied; see `WasmTransform.apply`."""

    column: str
    tenant: str | None
    via: str
    engine: str
    shadow_sample: float
    keep: Sequence[str] | None
    shared_folder: str | None
    documents: Documents
    unknown: str = "fail"

    def check(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            ConfigError: a value is not allowed.
        """
        check_choice("via", self.via, VIA)
        check_choice("engine", self.engine, ENGINES)
        if not 0 < self.shadow_sample <= 1:
            raise ConfigError(
                f"shadow_sample is {self.shadow_sample!r}; allowed is more than 0 up to 1",
                hint="0.01 compares one event in a hundred",
            )


def apply_plans(df: DataFrame, plans: Mapping[str | None, PlanSource], options: Options, meter: Meter) -> DataFrame:
    """Check everything on the driver, ship the modules and map the DataFrame.

    Raises:
        TransformError: columns, modules, configuration or options were refused.
    """
    options.check()
    if not isinstance(df.columns, list):
        raise SchemaMismatchError(f"apply needs a DataFrame, not a {type(df).__name__}")
    dead_letters = options.unknown == "dead_letter" or any(plan.on_error == "dead_letter" for plan in plans.values())
    layout = plan_layout(
        df,
        column=options.column,
        tenant=options.tenant,
        keep=options.keep,
        with_failures=dead_letters,
        documents=options.documents,
    )
    admitted = admit(plans, engine=options.engine)
    is_text = isinstance(layout.event_type, T.StringType)
    spark = df.sparkSession
    accumulator = meter.accumulator(spark)
    output = layout.output(with_failures=dead_letters, with_ledger=accumulator is None)
    program = Program(
        bundle_digest=admitted.bundle_digest,
        carrier=ship_bundle(spark, admitted.bundle_digest, admitted.blob, shared_folder=options.shared_folder),
        secrets=admitted.secrets,
        event_column=options.column,
        event_type=pa.binary() if layout.event_type != df.schema[options.column].dataType else None,
        documents=options.documents.as_text() if is_text else options.documents,
        output_names=tuple(output.names),
        tenant_column=layout.tenant_name,
        tenant_path=layout.tenant_path,
        tenant_count=len(plans),
        unknown=options.unknown,
        with_failures=dead_letters,
        engine=options.engine,
        twins=admitted.twins,
        shadow_sample=options.shadow_sample,
        accumulator=accumulator,
    )
    selected = layout.select(df)
    mapped = (
        map_in_pandas(selected, program, output) if options.via == "pandas" else selected.mapInArrow(program, output)
    )
    return meter.observe(mapped) if LEDGER_COLUMN in output.names else mapped
