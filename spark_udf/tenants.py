"""`TenantTransforms`: each row goes through the modules of its own tenant, and through nobody else's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from spark_udf.admission import PlanSource
from spark_udf.apply import Options, apply_plans
from spark_udf.documents import Documents, EventFormat
from spark_udf.step import UNKNOWN, Engine, Unknown, Via, check_choice
from spark_udf.tenants_file import read_tenants_file
from spark_udf.transform import Metered, WasmTransform
from wasm_host import TrustPolicy
from wasm_host.errors import ConfigError


class TenantTransforms(Metered):
    """Transforms by tenant.

    Args:
        tenants: The transform of each tenant, or a list of transforms that is run as a chain.
        unknown: What happens to rows of tenants that are not named here: "fail" ends the job, "drop" leaves them out,
            "dead_letter" keeps them with a null event and a `failure`.
        tenant: The column or path that `apply` takes if it is not told another.
        trust: What makes a module trusted, for all tenants that have no policy of their own.
        format: The format of the events that `apply` takes if it is not told another.
        output_format: The format it gives back; the same if left out.

    Raises:
        ConfigError: an argument is not allowed.
    """

    def __init__(
        self,
        tenants: Mapping[str, WasmTransform | Sequence[WasmTransform]],
        *,
        unknown: Unknown = "fail",
        tenant: str | None = None,
        trust: TrustPolicy | None = None,
        format: EventFormat = "protobuf",
        output_format: EventFormat | None = None,
    ) -> None:
        super().__init__()
        check_choice("unknown", unknown, UNKNOWN)
        if not tenants:
            raise ConfigError("no tenants", hint="name at least one")
        for name in tenants:
            if not isinstance(name, str) or not name:
                raise ConfigError(f"the tenant {name!r} is not a name", hint="tenants are named by text")
        self._tenants = {
            name: _trusting(transform if isinstance(transform, WasmTransform) else _chain(name, transform), trust)
            for name, transform in tenants.items()
        }
        self._unknown: str = unknown
        self._tenant = tenant
        self._format, self._output_format = format, output_format
        Documents.of(format, output_format)

    @classmethod
    def from_file(cls, path: str | Path) -> "TenantTransforms":
        """Read a tenants.toml; docs/spark.md describes it.

        Raises:
            TenantsFileError: the file cannot be read or says something impossible; the message names the line.
        """
        content = read_tenants_file(path)
        tenants: dict[str, Any] = {
            name: WasmTransform.from_steps(entry.steps, on_error=entry.on_error)  # type: ignore[arg-type]  # was checked
            for name, entry in content.tenants.items()
        }
        return cls(
            tenants,
            unknown=content.unknown,  # type: ignore[arg-type]  # was checked
            tenant=content.tenant,
            format=content.format,
            output_format=content.output_format,
        )

    def __repr__(self) -> str:
        return f"TenantTransforms({len(self._tenants)} tenants, unknown={self._unknown!r})"

    @property
    def tenants(self) -> Mapping[str, WasmTransform]:
        """The transform of each tenant."""
        return dict(self._tenants)

    @property
    def unknown(self) -> str:
        """What happens to rows of tenants that are not named."""
        return self._unknown

    def documents(self, format: EventFormat | None, output_format: EventFormat | None) -> Documents:
        """The formats that a call asks for, with those of the file or the constructor where it is silent.

        Raises:
            UnknownFormatError: there is no such format.
        """
        if format is None:  # a format that the call names brings its own output
            return Documents.of(self._format, output_format or self._output_format)
        return Documents.of(format, output_format)

    def apply(
        self,
        df: DataFrame,
        tenant: str | None = None,
        *,
        column: str = "event",
        unknown: Unknown | None = None,
        via: Via = "arrow",
        engine: Engine = "wasm",
        shadow_sample: float = 0.01,
        keep: Sequence[str] | None = None,
        format: EventFormat | None = None,
        output_format: EventFormat | None = None,
        shared_folder: str | None = None,
    ) -> DataFrame:
        """Transform a column of events, each row by its tenant's transform.

        Args:
            df: Static or streaming, classic or Connect.
            tenant: The column that says whose a row is (text or whole numbers, also inside a struct), or a path into
                the event such as "schema", "after.tenant_id" or "row.tenant_id".
            column: The column of events.
            unknown: As in the constructor, and instead of it.
            via: See `WasmTransform.apply`.
            engine: See there.
            shadow_sample: See there.
            keep: See there; the tenant column need not be kept.
            format: See there; the tenants file's word if left out, else "protobuf".
            output_format: See there; the tenants file's word if left out, else the same.
            shared_folder: See there.

        Raises:
            TransformError: columns, a module, a configuration or options were refused; the message names the tenant.
        """
        tenant = tenant or self._tenant
        if tenant is None:
            raise ConfigError("no tenant column", hint='give tenant="name", or set it in the tenants file')
        unknown_policy = unknown or self._unknown
        check_choice("unknown", unknown_policy, UNKNOWN)
        options = Options(
            column=column,
            tenant=tenant,
            via=via,
            engine=engine,
            shadow_sample=shadow_sample,
            keep=keep,
            shared_folder=shared_folder,
            documents=self.documents(format, output_format),
            unknown=unknown_policy,
        )
        plans: dict[str | None, PlanSource] = {name: transform.plan for name, transform in self._tenants.items()}
        return apply_plans(df, plans, options, self._meter)


def _chain(tenant: str, transforms: Sequence[WasmTransform]) -> WasmTransform:
    policies = {transform.on_error for transform in transforms}
    if len(policies) != 1:
        raise ConfigError(
            f"the chain of tenant {tenant!r} has the policies {', '.join(sorted(policies)) or '(no steps)'}",
            hint="a chain has one on_error, and at least one step",
        )
    steps = [step for transform in transforms for step in transform.steps]
    return WasmTransform.from_steps(steps, on_error=policies.pop())  # type: ignore[arg-type]  # was checked


def _trusting(transform: WasmTransform, trust: TrustPolicy | None) -> WasmTransform:
    """The transform under a policy; the caller's own object, which may serve elsewhere, stays as it is."""
    if trust is None:
        return transform
    steps = [replace(step, trust=step.trust or trust) for step in transform.steps]
    return WasmTransform.from_steps(steps, on_error=transform.on_error)  # type: ignore[arg-type]  # was checked
