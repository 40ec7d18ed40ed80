"""`WasmTransform`: one module, or a chain of them, on a column of events."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from spark_udf.admission import PlanSource
from spark_udf.apply import Options, apply_plans
from spark_udf.documents import Documents, EventFormat
from spark_udf.meter import Meter, MetricsListener, OnBatch
from spark_udf.metrics import ModuleMetrics
from spark_udf.step import ON_ERROR, Engine, NativeFactory, OnError, Step, Via, check_choice
from wasm_host import Isolation, Limits, TrustPolicy
from wasm_host.errors import ConfigError

Module = str | Path | bytes


class Metered:
    """What every transform can say about the work it did."""

    def __init__(self) -> None:
        self._meter = Meter()

    def metrics(self) -> list[ModuleMetrics]:
        """What all actions so far counted, by tenant and module.

        In classic Spark every action counts. In Spark Connect the first action on each result of `apply` counts. Tasks
        that Spark ran twice count once. An action that reads only some rows (`limit`, `show`) counts what was read.
        """
        return self._meter.metrics()

    def metrics_text(self) -> str:
        """The same in the text format that Prometheus scrapes."""
        return self._meter.metrics_text()

    def reset_metrics(self) -> None:
        """Count from zero again."""
        self._meter.reset()

    def listener(self, on_batch: OnBatch | None = None) -> MetricsListener:
        """A listener for streams, to be given to `spark.streams.addListener`.

        Args:
            on_batch: Called after each batch with the query's id, the batch's number and its counts. Without it the
                counts are logged under `spark_udf.metrics`; in Spark Connect a listener is needed for `metrics()` too.
        """
        return MetricsListener(self._meter, on_batch)


class WasmTransform(Metered):
    """A module with its configuration and limits, ready to be applied to DataFrames.

    Args:
        module: Path of a `.wasm` on the driver, its bytes, or a chain: a sequence of paths, bytes and WasmTransforms,
            which run one after the other without leaving the worker.
        config: The transform's configuration, given to the guest's `init`; values may be `Secret` references.
        limits: What the guest may use.
        on_error: What happens to an event that fails: "fail" ends the job, "drop" leaves the row out, "dead_letter"
            keeps the row with a null event and a `failure` struct.
        isolation: How long an instance lives; see `wasm_host.load`.
        wasi: Whether the module may import the deterministic part of WASI.
        native: The twin in plain Python, for engine "native" and "shadow".
        sha256: The digest that the module must have.
        trust: What makes a module trusted, checked on the driver and again in each worker; None takes all.
        signature: Content of the module's signature file; for a path, `<path>.sig` is read if this is left out.

    Raises:
        ConfigError: an argument is not allowed.
    """

    def __init__(
        self,
        module: "Module | Sequence[Module | WasmTransform]",
        *,
        config: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        on_error: OnError = "fail",
        isolation: Isolation = "worker",
        wasi: bool = False,
        native: str | NativeFactory | None = None,
        sha256: str | None = None,
        trust: TrustPolicy | None = None,
        signature: bytes | None = None,
    ) -> None:
        super().__init__()
        check_choice("on_error", on_error, ON_ERROR)
        self.on_error: str = on_error
        if isinstance(module, (str, Path, bytes)):
            step = Step(
                module=_source(module),
                config=dict(config or {}),
                limits=limits or Limits(),
                isolation=isolation,
                wasi=wasi,
                native=native,
                sha256=sha256,
                trust=trust,
                signature=signature,
            )
            self.steps: tuple[Step, ...] = (step,)
            return
        if any(given is not None for given in (config, native, sha256, signature)):
            raise ConfigError(
                "config, native, sha256 or signature given for a chain of modules",
                hint="make the chain of WasmTransforms, each with its own",
            )
        self.steps = tuple(
            step
            for part in module
            for step in (
                part.steps
                if isinstance(part, WasmTransform)
                else (
                    Step(module=_source(part), limits=limits or Limits(), isolation=isolation, wasi=wasi, trust=trust),
                )
            )
        )
        if not self.steps:
            raise ConfigError("an empty chain of modules", hint="name at least one")

    @classmethod
    def from_steps(cls, steps: Sequence[Step], *, on_error: OnError) -> "WasmTransform":
        """Make a transform of steps that were read from a file."""
        transform = cls.__new__(cls)
        Metered.__init__(transform)
        transform.steps, transform.on_error = tuple(steps), on_error
        return transform

    def __repr__(self) -> str:
        return f"WasmTransform({' → '.join(step.label for step in self.steps)}, on_error={self.on_error!r})"

    @property
    def plan(self) -> PlanSource:
        """The steps and the policy, for admission."""
        return PlanSource(self.steps, self.on_error)

    def documents(self, format: EventFormat | None, output_format: EventFormat | None) -> Documents:
        """The formats that a call asks for.

        Raises:
            UnknownFormatError: there is no such format.
        """
        return Documents.of("protobuf" if format is None else format, output_format)

    def apply(
        self,
        df: DataFrame,
        column: str = "event",
        *,
        via: Via = "arrow",
        engine: Engine = "wasm",
        shadow_sample: float = 0.01,
        keep: Sequence[str] | None = None,
        format: EventFormat = "protobuf",
        output_format: EventFormat | None = None,
        shared_folder: str | None = None,
    ) -> DataFrame:
        """Transform a column of events.

        Everything is checked here, on the driver; the work is done by the action that follows.

        Args:
            df: Static or streaming, classic or Connect.
            column: The column of events.
            via: "arrow" (mapInArrow) or "pandas" (mapInPandas).
            engine: "wasm"; "native" runs the twin instead; "shadow" runs wasm, and the twin on a sample to compare.
            shadow_sample: The share that is compared.
            keep: The other columns to keep; by default all. Each one costs a trip to Python and back.
            format: The format of the events, a name of `abi.formats` or, with options, what `abi.formats.get` returns;
                guests always see the canonical event. Formats of text may be in a text column.
            output_format: The format to give back; the same if left out.
            shared_folder: A folder that driver and executors see under the same path, to carry the modules.

        Returns:
            The same columns with the event replaced; rows of dropped events are gone, rows of an event that became
            several are repeated; with on_error "dead_letter" a column `failure` is added.

        Raises:
            TransformError: columns, module, configuration or options were refused.
        """
        options = Options(
            column=column,
            tenant=None,
            via=via,
            engine=engine,
            shadow_sample=shadow_sample,
            keep=keep,
            shared_folder=shared_folder,
            documents=self.documents(format, output_format),
        )
        return apply_plans(df, {None: self.plan}, options, self._meter)


def _source(module: Module) -> Path | bytes:
    return module if isinstance(module, bytes) else Path(module)
