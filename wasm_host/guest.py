"""`load` and `Guest`: what a caller holds."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wasm_host.admission import admit, read_module
from wasm_host.batch_run import BatchRun
from wasm_host.errors import ClosedError, ConfigError
from wasm_host.event_sink import EventSink
from wasm_host.event_source import Events, EventSource, sources_of
from wasm_host.guest_config import encode_config
from wasm_host.instance import GuestInstance, GuestRecipe
from wasm_host.limits import Limits
from wasm_host.module import CompiledModule
from wasm_host.result import BatchResult, Failure
from wasm_host.trust import TrustPolicy, signature_beside

Isolation = Literal["worker", "batch", "event"]
ISOLATIONS: tuple[Isolation, ...] = ("worker", "batch", "event")


def load(
    source: bytes | str | Path,
    *,
    config: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    isolation: Isolation = "worker",
    wasi: bool = False,
    trust: TrustPolicy | None = None,
    signature: bytes | None = None,
) -> "Guest":
    """Load an untrusted module and bring up its first instance.

    Args:
        source: A path, or the bytes.
        config: The transform's configuration; reaches the guest's `init` as a MessagePack map.
        limits: What it may use; strict defaults if left out.
        isolation: `"worker"` keeps an instance across batches, `"batch"` makes a fresh one for each batch, `"event"`
            for each event.
        wasi: Offer the deterministic WASI stub, which Go's guests need.
        trust: Refuse modules that are neither pinned nor signed; all are taken if left out.
        signature: Content of the module's signature file; for a path, `<path>.sig` is read if this is left out.

    Raises:
        ConfigError: the configuration or an argument is impossible.
        ModuleError, ContractError, MemoryLimitError: the module was refused; none of its code ran.
        GuestError: its start-up code ran and failed, or refused the configuration.
    """
    limits = Limits() if limits is None else limits
    if not isinstance(limits, Limits):
        raise ConfigError(f"limits are a {type(limits).__name__}; allowed is wasm_host.Limits", field="limits")
    if isolation not in ISOLATIONS:
        raise ConfigError(f"isolation is {isolation!r}; allowed are {', '.join(ISOLATIONS)}", field="isolation")
    wasm = read_module(source, limits)
    if trust is not None:
        if signature is None and isinstance(source, (str, Path)):
            signature = signature_beside(source)
        trust.check(wasm, signature)
    module = admit(wasm, limits, allows_wasi=wasi)
    if config and "init" not in module.exports:
        raise ConfigError(
            f"module {module.digest[:12]} takes no configuration (it exports no init), and one was given",
            hint="leave config out",
        )
    guest = Guest(wasm, GuestRecipe(module, encode_config(config), limits), isolation=isolation, wasi=wasi)
    guest.warm_up()
    return guest


class Guest:
    """A loaded module, ready for batches. Not thread-safe; a fork gets an instance of its own on first use."""

    def __init__(self, wasm: bytes, recipe: GuestRecipe, *, isolation: Isolation, wasi: bool) -> None:
        self._wasm = wasm
        self._recipe = recipe
        self._isolation = isolation
        self._wasi = wasi
        self._instance: GuestInstance | None = None
        self._process = os.getpid()
        self._inherited: list[object] = []
        self._is_closed = False
        self.shutdown_failure: str | None = None

    @property
    def module(self) -> CompiledModule:
        """What was loaded."""
        return self._recipe.module

    @property
    def limits(self) -> Limits:
        """What it is held to."""
        return self._recipe.limits

    @property
    def memory_bytes(self) -> int:
        """Current size of the guest's own memory; 0 while it has no instance."""
        return self._instance.guest_memory_bytes if self._instance else 0

    @property
    def held_bytes(self) -> int:
        """What it holds of this process's memory: its own, its dead predecessors', what was used of the staging."""
        instance = self._instance
        return instance.guest_memory_bytes + instance.home.dead_bytes + instance.home.touched_bytes if instance else 0

    def __repr__(self) -> str:
        return f"Guest({self.module.digest[:12]}, {self.module.dialect.name}, isolation={self._isolation!r})"

    def warm_up(self) -> None:
        """Make the first instance now, so that a guest that cannot start is refused before there is data."""
        run = self._new_run()
        if run.instance is None:
            run.fresh_instance()
        self._instance = run.instance

    def transform(self, events: Events) -> BatchResult:
        """Run a batch.

        Args:
            events: Canonical events in protobuf: a sequence of bytes or None, or an Arrow array of binaries.

        Raises:
            ConfigError: `events` is something else.
            DeadlineExceededError: the batch took too long; no event is marked.
            GuestError: a fresh instance was needed and could not be brought up.
            ClosedError: the guest was closed.
        """
        started = time.perf_counter()
        run = self._new_run()
        inputs, failures = self.module.dialect.encode_inputs(events)
        sources = list(sources_of(inputs))
        bytes_in = sum(source.size_bytes(0, source.count) for source in sources)
        sink = EventSink(expected_bytes=bytes_in, expected_events=sum(source.count for source in sources))
        try:
            run.run(sources, sink)
        except BaseException:
            # Whatever ended the batch (an interrupt from the keyboard too), half of it may still lie in the staging.
            run.discard_instance()
            raise
        finally:
            if self._isolation != "worker":
                run.discard_instance(orderly=True)
            run.close_home()
            self._instance = run.instance
            self.shutdown_failure = run.journal.shutdown_failure or self.shutdown_failure
        outputs, rows = sink.finish()
        events_out, output_failures = self.module.dialect.decode_outputs(outputs, rows, events)
        result = BatchResult(events_out, rows, [*failures, *run.failures, *output_failures], run.stats)
        if failures or output_failures:
            _remove_failed(result)
        self._finish(result, run, sources, bytes_in)
        result.stats.wall_seconds = time.perf_counter() - started
        return result

    def _finish(self, result: BatchResult, run: BatchRun, sources: list[EventSource], bytes_in: int) -> None:
        result.logs = run.journal.logs
        result.metrics = run.journal.metrics
        stats = result.stats
        stats.log_lines_lost = run.journal.log_lines_lost
        stats.metrics_lost = run.journal.metrics_lost
        stats.events_in = sum(source.count for source in sources)
        stats.events_out = len(result.events)
        stats.events_failed = len(result.failures)
        stats.bytes_in = bytes_in
        stats.bytes_out = _data_bytes(result.events)
        stats.events_dropped = stats.events_in - stats.events_failed - _distinct(result.row_numbers)

    def _new_run(self) -> BatchRun:
        if self._is_closed:
            raise ClosedError("the guest is closed", hint="load it again")
        if self._process != os.getpid():
            # The parent's store is not ours to free or to run: leave it alone and start anew on this process's engine.
            self._inherited.append(self._instance)
            self._instance = None
            self._process = os.getpid()
            module = admit(self._wasm, self.limits, allows_wasi=self._wasi)
            self._recipe = GuestRecipe(module, self._recipe.config_bytes, self.limits)
        return BatchRun(self._recipe, self._instance, fresh_per_event=self._isolation == "event")

    def close(self) -> None:
        """Let the guest shut down and free what it holds; a second call does nothing."""
        if self._is_closed:
            return
        if self._instance is not None and self._process == os.getpid():
            run = self._new_run()
            run.discard_instance(orderly=True)
            run.close_home()
            self.shutdown_failure = run.journal.shutdown_failure or self.shutdown_failure
        self._instance = None
        self._is_closed = True

    def __enter__(self) -> "Guest":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _data_bytes(events: pa.Array) -> int:
    """Bytes of all events together: what lies between the first and the last offset."""
    if not len(events):
        return 0
    width = np.int64 if pa.types.is_large_binary(events.type) else np.int32
    offsets = np.frombuffer(events.buffers()[1], width, count=events.offset + len(events) + 1)
    return int(offsets[-1]) - int(offsets[events.offset])


def _distinct(rows: npt.NDArray[np.int32]) -> int:
    """How many input rows have an output; they are in order."""
    return int(np.count_nonzero(np.diff(rows))) + 1 if len(rows) else 0


def _remove_failed(result: BatchResult) -> None:
    """Take rows that failed outside of wasm out of the output, and put the failures in order."""
    failed = pa.array(sorted({failure.row for failure in result.failures}), pa.int32())
    keep = pc.invert(pc.is_in(result.rows, value_set=failed))
    result.events = result.events.filter(keep)
    result.rows = result.rows.filter(keep)
    first: dict[int, Failure] = {}
    for failure in sorted(result.failures, key=lambda failure: failure.row):
        first.setdefault(failure.row, failure)
    result.failures = list(first.values())
