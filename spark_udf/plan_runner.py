"""Runs the modules of one tenant over that tenant's events: one step or a chain, in wasm, natively, or both.

All or nothing: an input row that fails in any step of a chain gives one failure and no output, even if an earlier step
had made several events of it and only one of them failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from spark_udf.bundle import Bundle, BundledPlan, BundledStep
from spark_udf.counters import Counters
from spark_udf.failure import RowFailure
from spark_udf.guest_log import pass_on
from spark_udf.guest_request import GuestRequest
from spark_udf.ledger import WorkerLedger
from spark_udf.secret import SecretValues
from spark_udf.shadow import Shadow
from spark_udf.twin import Twin, build_twin
from wasm_host import GuestPool, HostError
from wasm_host.native import Pipeline
from wasm_host.result import BatchResult


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """What a tenant's events became; rows count from 0 in the events given."""

    events: pa.Array
    rows: np.ndarray
    failures: list[RowFailure]


class PlanRunner:
    """Runs plans of one bundle in a worker process."""

    def __init__(
        self,
        bundle: Bundle,
        *,
        secrets: SecretValues,
        pool: GuestPool,
        ledger: WorkerLedger,
        engine: str = "wasm",
        twins: Mapping[str, Twin] | None = None,
        shadow_sample: float = 0.0,
    ) -> None:
        self._bundle = bundle
        self._secrets = secrets
        self._pool = pool
        self._ledger = ledger
        self._engine = engine
        self._twins = twins or {}
        self._shadow = Shadow(shadow_sample) if engine == "shadow" else None
        self._pipelines: dict[tuple[int, int], Pipeline] = {}
        self._requests: dict[tuple[str | None, int, int], GuestRequest] = bundle.requests.setdefault(
            secrets.fingerprint, {}
        )

    def run(self, plan: BundledPlan, tenant: str | None, events: pa.Array) -> PlanOutcome:
        """Run all steps of a plan."""
        rows: np.ndarray | None = None  # of the input, for each event; None while they are the same
        failures: list[RowFailure] = []
        for position, step in enumerate(plan.steps):
            result = self._run_step(plan, position, step, tenant, events)
            if result.failures:
                for failure in result.failures:
                    failures.append(
                        RowFailure(
                            row=failure.row if rows is None else int(rows[failure.row]),
                            code=failure.code,
                            message=self._secrets.redact(failure.message),
                            module=step.digest,
                            tenant=tenant,
                            fuel=failure.fuel,
                        )
                    )
            events, numbers = result.events, result.row_numbers
            rows = numbers.astype(np.int64) if rows is None else rows[numbers]
        if rows is None:  # a plan without steps
            rows = np.arange(len(events), dtype=np.int64)
        if failures and len(plan.steps) > 1:
            failures, events, rows = _all_or_nothing(failures, events, rows)
        return PlanOutcome(events, rows, failures)

    def _run_step(
        self, plan: BundledPlan, position: int, step: BundledStep, tenant: str | None, events: pa.Array
    ) -> BatchResult:
        counters = self._ledger.of(tenant, step.digest)
        if self._engine == "native":
            result = self._pipeline(plan, position, step).transform(events)
        else:
            result = self._run_guest(plan, position, step, tenant, events, counters)
            if self._shadow is not None:
                self._shadow.compare(events, result, self._pipeline(plan, position, step), counters)
        counters.add_stats(result.stats)
        for failure in result.failures:
            counters.add_failure(failure.code)
        if result.metrics:
            counters.add_guest_metrics({self._secrets.redact(name): value for name, value in result.metrics.items()})
        if result.logs:
            counters.log_lines_lost += pass_on(result.logs, tenant=tenant, digest=step.digest, secrets=self._secrets)
        return result

    def _run_guest(
        self,
        plan: BundledPlan,
        position: int,
        step: BundledStep,
        tenant: str | None,
        events: pa.Array,
        counters: Counters,
    ) -> BatchResult:
        place = (tenant, plan.key, position)
        request = self._requests.get(place)
        if request is None:
            code = self._bundle.modules[step.digest]
            request = self._requests[place] = GuestRequest.of(tenant, step, code, self._secrets)
        hits_before = self._pool.hits
        guest = self._pool.get(request.key, request.load)
        was_ready = self._pool.hits > hits_before
        counters.cache_hits += was_ready
        counters.cache_misses += not was_ready
        try:
            result = guest.transform(events)
        except HostError:
            # The machine had no room for it. An event's outcome does not depend on the run, so the batch may run again.
            if not self._pool.make_room(request.key):
                raise
            result = guest.transform(events)
        self._pool.settle(request.key)
        return result

    def _pipeline(self, plan: BundledPlan, position: int, step: BundledStep) -> Pipeline:
        pipeline = self._pipelines.get((plan.key, position))
        if pipeline is None:
            twin = build_twin(self._twins[step.digest], self._secrets.fill(step.config))
            pipeline = self._pipelines[plan.key, position] = Pipeline([twin])
        return pipeline


def _all_or_nothing(
    failures: list[RowFailure], events: pa.Array, rows: np.ndarray
) -> tuple[list[RowFailure], pa.Array, np.ndarray]:
    first: dict[int, RowFailure] = {}
    for failure in failures:
        first.setdefault(failure.row, failure)
    kept = np.flatnonzero(~np.isin(rows, np.fromiter(first, np.int64, len(first))))
    ordered = [first[row] for row in sorted(first)]
    return ordered, events.take(pa.array(kept)), rows[kept]
