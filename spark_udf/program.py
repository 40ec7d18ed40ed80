"""What runs on an executor: the function that is given to mapInArrow, and everything it needs, in a small pickle."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from spark_udf.carrier import Carrier
from spark_udf.documents import Documents
from spark_udf.errors import BundleError
from spark_udf.gather import Gatherer
from spark_udf.secret import SecretValues
from spark_udf.task import Task
from spark_udf.tenant_path import TenantPath
from spark_udf.twin import Twin

PACKAGE_VERSION = version("wasm-host")


@dataclass(frozen=True, kw_only=True, repr=False)
class Program:
    """A transform as it travels to the executors.

    Attributes:
        bundle_digest: Names the bundle of modules and tenants.
        carrier: How an executor gets it.
        secrets: Values for the references in the bundle.
        event_column: The column that is transformed.
        event_type: Its Arrow type when it comes out; None if that is the type it came in.
        output_names: Names of all columns that are given back, in order.
        tenant_column: The column that says whose a row is, or None.
        tenant_path: Where in the event the tenant stands, if it is not a column.
        tenant_count: How many tenants are configured.
        unknown: What happens to rows whose tenant is not configured.
        with_failures: Whether a failure column is given back.
        engine: "wasm", "native" or "shadow".
        twins: The native twins by module digest.
        shadow_sample: Share of events that is compared.
        documents: The formats that events come in and go out in.
        counts: Whether what is counted is sent to the driver.
        accumulator: Takes the ledger's entries in classic Spark; None means that they are rows of their own.
        package_version: The driver's; executors must have the same.
    """

    bundle_digest: str
    carrier: Carrier
    secrets: SecretValues
    event_column: str
    output_names: tuple[str, ...]
    event_type: pa.DataType | None = None
    tenant_column: str | None = None
    tenant_path: TenantPath | None = None
    tenant_count: int = 1
    unknown: str = "fail"
    with_failures: bool = False
    engine: str = "wasm"
    twins: Mapping[str, Twin] = field(default_factory=dict)
    shadow_sample: float = 0.0
    documents: Documents = field(default_factory=Documents)
    counts: bool = True
    accumulator: Any = None
    package_version: str = PACKAGE_VERSION

    def __repr__(self) -> str:
        # Spark may print a function; a configuration or a secret has no place there.
        return f"Program(bundle {self.bundle_digest[:12]}, engine {self.engine})"

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Transform the batches of one partition."""
        if self.package_version != PACKAGE_VERSION:
            raise BundleError(
                f"the driver runs wasm-host {self.package_version}, this executor {PACKAGE_VERSION}",
                hint="ship one environment to driver and executors",
            )
        task: Task | None = None
        gatherer = Gatherer(self.tenant_count)
        for batch in gatherer.gather(batches):
            # Nothing is loaded for an empty partition.
            task = task or Task(self, gatherer)
            yield from task.transform(batch)
        if task is not None:
            yield from task.flush_ledger()
