"""The run of one partition on an executor: rows to their tenants' modules, outputs and failures back in order."""

import gc
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from spark_udf.assemble import Pieces, assemble, output_schema
from spark_udf.bundle import Bundle, BundledPlan
from spark_udf.carrier import fetch_bundle
from spark_udf.errors import EventFailedError, SchemaMismatchError, UnknownTenantError
from spark_udf.failure import FAILURE_ARROW, RowFailure
from spark_udf.gather import Gatherer
from spark_udf.ledger import LEDGER_COLUMN, WorkerLedger
from spark_udf.plan_runner import PlanOutcome, PlanRunner
from spark_udf.routing import TENANT_COLUMN, TenantRows, split_by_tenant
from wasm_host import GuestPool

if TYPE_CHECKING:
    from spark_udf.program import Program

_ENTRY_EVERY_SECONDS = 1.0

_pool = GuestPool()
"""Lives as long as the worker process, across tasks and jobs."""
_is_settled = [False]


def _settle_process() -> None:
    """Take what was imported and compiled out of garbage collections: Spark runs a whole one after each task."""
    if not _is_settled[0]:
        _is_settled[0] = True
        gc.freeze()


class Task:
    """The state of one partition's run."""

    def __init__(self, program: "Program", gatherer: Gatherer) -> None:
        self._program = program
        self._gatherer = gatherer
        self._bundle: Bundle = fetch_bundle(program.bundle_digest, program.carrier)
        self._ledger = WorkerLedger()
        self._runner = PlanRunner(
            self._bundle,
            secrets=program.secrets,
            pool=_pool,
            ledger=self._ledger,
            engine=program.engine,
            twins=program.twins,
            shadow_sample=program.shadow_sample,
        )
        self._rows_before = 0
        self._filler: pa.RecordBatch | None = None
        self._unreadable: dict[int, RowFailure] = {}
        self._entry_at = 0.0

    def transform(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Transform one batch."""
        program = self._program
        events, self._unreadable = program.documents.decode(batch.column(program.event_column))
        pieces = Pieces()
        by_tenant = self._split(batch, events)
        self._gatherer.note(len(by_tenant))
        for piece in by_tenant:
            plan = self._bundle.plan_of(piece.tenant)
            if plan is None:
                self._refuse_tenant(piece, pieces)
            else:
                self._run(plan, piece, pieces)
        kept = batch.drop_columns([TENANT_COLUMN]) if TENANT_COLUMN in batch.schema.names else batch
        outputs = assemble(
            kept,
            pieces,
            event_column=program.event_column,
            with_failures=program.with_failures,
            event_type=program.event_type,
        )
        _settle_process()
        self._rows_before += batch.num_rows
        self._keep_filler(kept, 0)
        # The entry goes out before the rows it is about: whoever reads only some rows still gets their counts.
        if time.monotonic() - self._entry_at >= _ENTRY_EVERY_SECONDS:
            yield from self.flush_ledger()
        for output in outputs:
            yield self._checked(self._with_ledger(output, None))
        self._keep_filler(kept, kept.num_rows - 1)

    def _keep_filler(self, batch: pa.RecordBatch, row: int) -> None:
        # A slice would hold the whole batch in memory; and only entries that travel as rows need one.
        if self._program.accumulator is None and self._program.counts:
            self._filler = batch.take(pa.array(np.array([row])))

    def _split(self, batch: pa.RecordBatch, events: pa.Array) -> list[TenantRows]:
        program = self._program
        if program.tenant_path is not None:
            return split_by_tenant(program.tenant_path.extract(events), events)
        if program.tenant_column is not None:
            return split_by_tenant(batch.column(program.tenant_column), events)
        return [TenantRows(None, None, events)]

    def _run(self, plan: BundledPlan, piece: TenantRows, pieces: Pieces) -> None:
        outcome = self._runner.run(plan, piece.tenant, piece.events)
        if self._unreadable:
            outcome = self._without_unreadable(outcome, piece)
        outcome = self._program.documents.encode(outcome)
        rows = outcome.rows if piece.rows is None else piece.rows[outcome.rows]
        pieces.add(outcome.events, rows)
        if not outcome.failures:
            return
        self._count_refusals(outcome.failures, piece.tenant)
        if plan.on_error == "fail":
            self._raise_failed(outcome.failures[0], piece)
        if plan.on_error == "dead_letter":
            pieces.dead.extend(_moved(failure, piece) for failure in outcome.failures)

    def _without_unreadable(self, outcome: PlanOutcome, piece: TenantRows) -> PlanOutcome:
        """Documents that could not be read went in as null; they come out as failures."""
        positions = np.arange(len(piece.events)) if piece.rows is None else piece.rows
        failures = [
            replace(self._unreadable[row], row=position)
            for position, row in enumerate(positions.tolist())
            if row in self._unreadable
        ]
        unreadable = np.fromiter((failure.row for failure in failures), np.int64, len(failures))
        kept = np.flatnonzero(~np.isin(outcome.rows, unreadable))
        together = sorted([*outcome.failures, *failures], key=lambda failure: failure.row)
        return PlanOutcome(outcome.events.take(pa.array(kept)), outcome.rows[kept], together)

    def _count_refusals(self, failures: list[RowFailure], tenant: str | None) -> None:
        """Count failures of reading and writing; those of modules are counted where they run."""
        for failure in failures:
            if failure.module is None:
                counters = self._ledger.of(tenant, None)
                counters.events_failed += 1
                counters.add_failure(failure.code)

    def _refuse_tenant(self, piece: TenantRows, pieces: Pieces) -> None:
        count = len(piece.events)
        shown = "null" if piece.tenant is None else repr(piece.tenant[:100])
        message = f"the tenant {shown} is not configured"
        if self._program.unknown == "fail":
            raise UnknownTenantError(
                f"{message} ({count} rows of a batch)",
                hint='add it to the tenants, or apply with unknown="dead_letter" or "drop"',
            )
        # Names of unknown tenants come from the data and may be many: they are counted under one name.
        counters = self._ledger.of("(unknown)", None)
        counters.events_in += count
        if self._program.unknown == "drop":
            counters.events_dropped += count
            return
        counters.events_failed += count
        counters.add_failure(UnknownTenantError.code, count)
        rows = range(count) if piece.rows is None else piece.rows.tolist()
        code = UnknownTenantError.code
        pieces.dead.extend(RowFailure(row, code, message, None, piece.tenant, None) for row in rows)

    def _raise_failed(self, failure: RowFailure, piece: TenantRows) -> None:
        row = _moved(failure, piece).row + self._rows_before
        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        tenant = f" of tenant {piece.tenant!r}" if piece.tenant is not None else ""
        what = f"module {failure.module[:12]}" if failure.module else "the format"
        raise EventFailedError(
            f"{what}{tenant} failed on row {row} of partition {partition}: {failure.code}: {failure.message}",
            hint='to see the event, apply with on_error="dead_letter"; split_failures() then has it in failure.event',
            failure_code=failure.code,
        )

    def flush_ledger(self) -> Iterator[pa.RecordBatch]:
        """Send what was counted; a row of its own where there is no accumulator."""
        self._entry_at = time.monotonic()
        entry = self._ledger.take_entry()
        if entry is None or not self._program.counts:
            return
        if self._program.accumulator is not None:
            self._program.accumulator.add([entry])
            return
        yield self._checked(self._with_ledger(self._ledger_row(), entry))

    def _ledger_row(self) -> pa.RecordBatch:
        """A row for an entry to ride on. It repeats a real one, because a column may be declared as never null."""
        assert self._filler is not None
        program, filler = self._program, self._filler
        columns = list(filler.columns)
        position = filler.schema.get_field_index(program.event_column)
        columns[position] = pa.nulls(1, program.event_type or columns[position].type)
        if program.with_failures:
            columns.append(pa.nulls(1, FAILURE_ARROW))
        schema = output_schema(filler.schema, program.event_column, program.with_failures, program.event_type)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _with_ledger(self, batch: pa.RecordBatch, entry: str | None) -> pa.RecordBatch:
        if LEDGER_COLUMN not in self._program.output_names:
            return batch
        column = pa.array([entry], pa.string()) if entry is not None else pa.nulls(batch.num_rows, pa.string())
        return batch.append_column(LEDGER_COLUMN, column)

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        # Spark matches what comes back by position only; a column under a wrong name would pass unseen.
        if tuple(batch.schema.names) != self._program.output_names:
            raise SchemaMismatchError(
                f"about to give back the columns {', '.join(batch.schema.names)}; "
                f"declared are {', '.join(self._program.output_names)}",
                hint="this is a fault of wasm-host; please report it",
            )
        return batch


def _moved(failure: RowFailure, piece: TenantRows) -> RowFailure:
    """The same failure with its row as a position in the whole batch."""
    row = failure.row if piece.rows is None else int(piece.rows[failure.row])
    return replace(failure, row=row, tenant=piece.tenant)
