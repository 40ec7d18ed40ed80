"""One batch through one guest, under the law of failures.

    The outcome of an event is what a fresh instance of its module would give it, whatever batch it came in.

The batch is cut into chunks by rows and bytes, which are staged, and a chunk into segments by fuel. A segment has the
fuel of *one* event, so a segment that ends tells that no event in it used more; when it runs out, the events before are
good and the one under way starts the next segment. An event that fails on an instance that has served others is tried
once more as the first of a fresh one, and only then is it a failure. The wall clock fails the call, never an event.
"""

import time

import wasmtime

from abi.failures import DRIVER_CODES, FailureCode
from wasm_host.driver_state import RunStatus
from wasm_host.engine import EPOCH_TICK_MS
from wasm_host.errors import DeadlineExceededError, LimitExceededError
from wasm_host.event_sink import EventSink
from wasm_host.event_source import EventSource
from wasm_host.failure_text import describe_contract_failure, describe_trap
from wasm_host.guest_store import GuestStore
from wasm_host.instance import GuestInstance, GuestRecipe
from wasm_host.journal import Journal
from wasm_host.limits import KIB, MIB
from wasm_host.result import BatchStats, Failure
from wasm_host.staging import CHUNK_BYTES, CHUNK_ROWS
from wasm_host.traps import TrapReport

# A fresh store has fresh memory, and each page of it costs a page fault: chunks start small and grow.
_FIRST_CHUNK_BYTES = 64 * KIB
# Each event's output is bounded, and so must their sum be, or many small events could fill the worker's memory. Like
# the wall clock it fails the call: no event is to blame, and none may fail for what came before it in the batch.
MAX_OUTPUT_BYTES_PER_BATCH = 512 * MIB
# Until it is known what events cost.
_FIRST_SEGMENT_ROWS = 256


class BatchRun:
    """Runs events through instances and gathers what they give. `instance` is left for the next batch, or None."""

    def __init__(self, recipe: GuestRecipe, instance: GuestInstance | None, *, fresh_per_event: bool) -> None:
        self._recipe = recipe
        self.instance = instance
        self._home: GuestStore | None = None
        self._fresh_per_event = fresh_per_event
        self.stats = BatchStats()
        self.failures: list[Failure] = []
        self.journal = Journal(recipe.limits)
        self._started = time.monotonic()
        self._fuel_per_row = 0.0
        self._bytes_wanted = _FIRST_CHUNK_BYTES
        if instance is not None:
            # Pages that earlier batches have touched can be used again at once.
            self._bytes_wanted = min(max(instance.home.touched_bytes // 2, _FIRST_CHUNK_BYTES), CHUNK_BYTES)
            instance.home.meter.set_deadline(self._ticks_left())
            self.journal.limit_log(instance)

    def run(self, sources: list[EventSource], sink: EventSink) -> None:
        """Run all events.

        Raises:
            DeadlineExceededError: the batch took longer than `max_wall_ms_per_batch`.
            GuestError: a fresh instance could not be brought up.
        """
        self._sink = sink
        for source in sources:
            too_large = source.rows_longer_than(self._recipe.limits.max_memory_bytes)
            start = 0
            for row in [*too_large, source.count]:
                self._run_rows(source, start, row)
                if row < source.count:
                    self._fail_too_large(source, row)
                start = row + 1
        if self.instance is not None:
            self.journal.drain(self.instance)
            if self.instance.home.holds_too_much:
                self.discard_instance(orderly=True)

    def _run_rows(self, source: EventSource, start: int, stop: int) -> None:
        while start < stop:
            end = min(stop, source.end_of_chunk(start, max_rows=CHUNK_ROWS, max_bytes=self._bytes_wanted))
            self._run_chunk(source, start, end)
            self._bytes_wanted = min(2 * self._bytes_wanted, CHUNK_BYTES)
            start = end

    def _run_chunk(self, source: EventSource, start: int, stop: int) -> None:
        """Stage a chunk and run it, in as many segments as fuel and failures make of it.

        A failed instance's successor finds the chunk where it is, in the same staging memory.
        """
        staged_in: GuestStore | None = None
        index = 0  # of the chunk
        is_retry = False
        while index < stop - start:
            instance = self.instance or self.fresh_instance()
            if instance.home is not staged_in:
                start += index
                index = 0
                staged_in = instance.home
                staged_in.stage_chunk(source, start, stop)
            count = stop - start
            end = index + 1 if is_retry or self._fresh_per_event else min(count, index + self._affordable_rows())
            settled, is_retry = self._run_segment(instance, index, end)
            index += settled
            if self._fresh_per_event and self.instance is not None:
                self.discard_instance(orderly=True)

    def _affordable_rows(self) -> int:
        """How many events are likely to stay within one event's fuel; half of it is left for dearer ones."""
        if not self._fuel_per_row:
            return _FIRST_SEGMENT_ROWS
        return max(int(self._recipe.limits.fuel_per_event / 2 / self._fuel_per_row), 1)

    def _run_segment(self, instance: GuestInstance, first: int, end: int) -> tuple[int, bool]:
        """Run events [first, end) of the staged chunk.

        Returns:
            How many of them are settled, and whether the next one must be tried again on a fresh instance.
        """
        was_fresh = instance.served == 0
        instance.home.begin_segment(first, end, is_fresh=was_fresh)
        instance.home.meter.set_fuel(self._recipe.limits.fuel_per_event)
        failed_with = self._run_until_settled(instance)
        done = int(instance.state.index) - first
        fuel = self._count_fuel(instance, done or 1)
        self._take_output(instance)
        instance.served += done
        if failed_with is None:
            return done, False
        is_final = was_fresh and done == 0
        if is_final:
            self._record_failure(instance, failed_with, instance.state.row_base + first, fuel)
        else:
            self.journal.take_back_event(instance)  # it is told again by the next instance
        self.discard_instance()
        return done + is_final, not is_final

    def _run_until_settled(self, instance: GuestInstance) -> FailureCode | TrapReport | None:
        """Drive one chunk to its end, making room as often as the output is full. None when all went well."""
        while True:
            status = instance.run()
            if status == RunStatus.DONE:
                return None
            if isinstance(status, wasmtime.Trap):
                report = TrapReport.of(status)
                if not report.is_interrupt:
                    return report
                self.discard_instance()
                raise self._deadline_error() from status
            if status == RunStatus.FAILED:
                return DRIVER_CODES[instance.state.failure_code]
            self._take_output(instance)
            instance.home.make_room(instance.state.bytes_wanted)
            if time.monotonic() - self._started > self._wall_seconds:
                self.discard_instance()
                raise self._deadline_error()

    def _take_output(self, instance: GuestInstance) -> None:
        state, layout, address_of = instance.state, instance.home.layout, instance.home.address_of
        if not state.output_events and not state.failure_bytes:
            return
        self._sink.add(
            data_address=address_of(layout.output),
            data_bytes=state.output_bytes,
            ends_address=address_of(layout.ends),
            rows_address=address_of(layout.rows),
            count=state.output_events,
        )
        state.output_events = state.output_bytes = 0
        if self._sink.size_bytes > MAX_OUTPUT_BYTES_PER_BATCH:
            self.discard_instance()
            raise self._output_error()
        if state.failure_bytes:
            self.failures.extend(self.journal.take_failures(instance))

    def _count_fuel(self, instance: GuestInstance, events: int) -> int:
        budget = self._recipe.limits.fuel_per_event
        used = budget - min(instance.home.meter.fuel(), budget)
        self.stats.fuel += used
        self._fuel_per_row = max(used / events, self._fuel_per_row / 2)
        return used

    def fresh_instance(self) -> GuestInstance:
        """Bring up an instance; where there was one before, in the same store if it may."""
        if time.monotonic() - self._started > self._wall_seconds:
            raise self._deadline_error()
        self.instance = self._instance_in(self._home_with_room())
        self.journal.limit_log(self.instance)
        self.stats.instances_made += 1
        return self.instance

    def discard_instance(self, *, orderly: bool = False) -> None:
        """Let the instance go; `orderly` gives the guest its `shutdown`."""
        instance, self.instance = self.instance, None
        if instance is None:
            return
        self.journal.drain(instance)
        if orderly:
            self.journal.shut_down(instance)
        instance.home.end_generation(instance.guest_memory_bytes)
        self._home = instance.home

    def close_home(self) -> None:
        """Free the store that was kept for the next instance, if there is one."""
        if self._home is not None:
            self._home.close()
            self._home = None

    def _home_with_room(self) -> GuestStore:
        if self._home is not None and self._home.takes_another:
            home, self._home = self._home, None
            return home
        self.close_home()
        return GuestStore(self._recipe.module.sandbox, self._recipe.limits, self._recipe.config_bytes)

    def _instance_in(self, home: GuestStore) -> GuestInstance:
        try:
            return GuestInstance(self._recipe, home, deadline_ticks=self._ticks_left())
        except BaseException:
            home.close()
            raise

    def _record_failure(self, instance: GuestInstance, cause: FailureCode | TrapReport, row: int, fuel: int) -> None:
        if isinstance(cause, TrapReport):
            failure = describe_trap(instance, cause, row=row, fuel=fuel)
        else:
            failure = describe_contract_failure(instance, cause, row=row, fuel=fuel)
        self.failures.append(failure)

    def _fail_too_large(self, source: EventSource, row: int) -> None:
        limit = self._recipe.limits.max_memory_bytes
        size = source.size_bytes(row, row + 1)
        message = f"the event has {size:,} bytes and cannot fit the guest's memory; max_memory_bytes is {limit:,}"
        self.failures.append(Failure(source.row_base + row, FailureCode.INPUT_TOO_LARGE, message))

    @property
    def _wall_seconds(self) -> float:
        return self._recipe.limits.max_wall_ms_per_batch / 1000

    def _ticks_left(self) -> int:
        left_ms = (self._wall_seconds - (time.monotonic() - self._started)) * 1000
        return max(int(left_ms / EPOCH_TICK_MS), 1) + 1

    def _output_error(self) -> LimitExceededError:
        return LimitExceededError(
            f"the batch gave more than {MAX_OUTPUT_BYTES_PER_BATCH:,} bytes of output "
            f"(module {self._recipe.module.digest[:12]}); no event was marked",
            hint="send smaller batches, or lower Limits.max_output_bytes_per_event",
            limit_name="MAX_OUTPUT_BYTES_PER_BATCH",
            limit=MAX_OUTPUT_BYTES_PER_BATCH,
            observed=self._sink.size_bytes,
        )

    def _deadline_error(self) -> DeadlineExceededError:
        limit = self._recipe.limits.max_wall_ms_per_batch
        return DeadlineExceededError(
            f"the batch took longer than max_wall_ms_per_batch, which is {limit:,} "
            f"(module {self._recipe.module.digest[:12]}); no event was marked",
            hint="try again, send smaller batches, or raise Limits.max_wall_ms_per_batch",
            limit_name="max_wall_ms_per_batch",
            limit=limit,
        )
