"""What guests said during a batch: log lines, metrics and the messages of their own failures.

All of it was written into bounded buffers of the staging memory and is only decoded here, escaped on the way.
"""

import ctypes
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

import wasmtime

from abi.failures import FailureCode
from abi.names import LOG_LEVELS
from wasm_host.driver_state import (
    FAILURE_RECORD_HEADER_BYTES,
    LOG_RECORD_HEADER_BYTES,
    METRIC_NAME_OFFSET,
    METRIC_SLOT_BYTES,
    METRIC_SLOTS,
)
from wasm_host.guest_text import clean_text
from wasm_host.limits import Limits
from wasm_host.result import Failure, LogLine
from wasm_host.traps import TrapReport

if TYPE_CHECKING:
    from wasm_host.instance import GuestInstance

_SLOT = struct.Struct("<IIqq")
_NO_ROW = 0xFFFF_FFFF


class Journal:
    """Gathers from one instance after the other."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._log_bytes_left = limits.max_log_bytes_per_batch
        self.logs: list[LogLine] = []
        self.metrics: dict[str, int] = {}
        self.log_lines_lost = 0
        self.metrics_lost = 0
        self.shutdown_failure: str | None = None

    def limit_log(self, instance: "GuestInstance") -> None:
        """Leave an instance what is left of the batch's log."""
        instance.state.log_capacity = max(self._log_bytes_left, instance.state.log_bytes)

    def take_back_event(self, instance: "GuestInstance") -> None:
        """Forget what the event under way has logged and lost; its metrics are not committed yet."""
        state = instance.state
        state.log_bytes = state.log_mark
        state.log_lines_lost = state.log_lines_lost_mark
        state.metrics_lost = state.metrics_lost_mark

    def drain(self, instance: "GuestInstance") -> None:
        """Take over logs and metrics and leave the buffers empty."""
        state = instance.state
        if not (state.log_bytes or state.log_lines_lost or state.metrics_lost or state.metrics_seen):
            return
        if state.log_bytes:
            raw = instance.home.read(instance.home.layout.log, state.log_bytes)
            self.logs.extend(self._log_lines(raw))
            self._log_bytes_left = max(0, self._log_bytes_left - len(raw))
            state.log_bytes = state.log_mark = 0
        self.limit_log(instance)
        self.log_lines_lost += state.log_lines_lost
        self.metrics_lost += state.metrics_lost
        state.log_lines_lost = state.metrics_lost = 0
        state.log_lines_lost_mark = state.metrics_lost_mark = 0
        if state.metrics_seen:
            self._take_metrics(instance)

    def _log_lines(self, raw: bytes) -> Iterator[LogLine]:
        for row, level, text in _records(raw, LOG_RECORD_HEADER_BYTES):
            name = LOG_LEVELS.get(level, "error")
            yield LogLine(
                None if row == _NO_ROW else row,
                name,
                clean_text(text, max_bytes=self._limits.max_error_message_bytes),
            )

    def _take_metrics(self, instance: "GuestInstance") -> None:
        table_bytes = METRIC_SLOTS * METRIC_SLOT_BYTES
        table = instance.home.read(instance.home.layout.metrics, table_bytes)
        for at in range(0, table_bytes, METRIC_SLOT_BYTES):
            used, name_bytes, total, pending = _SLOT.unpack_from(table, at)
            if instance.state.pending_counts:
                total += pending  # fuel ran out behind the event, while its metrics were being added up
            if used and total:
                raw = table[at + METRIC_NAME_OFFSET :][:name_bytes]
                self._add_metric(clean_text(raw, max_bytes=len(raw)), total)
        ctypes.memset(instance.home.address_of(instance.home.layout.metrics), 0, table_bytes)
        instance.state.metrics_seen = instance.state.touched_metrics = instance.state.pending_counts = 0

    def _add_metric(self, name: str, total: int) -> None:
        # Each instance has a table of its own, so the bound on names must be held for the whole batch here.
        if name not in self.metrics and len(self.metrics) >= METRIC_SLOTS:
            self.metrics_lost += 1
            return
        self.metrics[name] = self.metrics.get(name, 0) + total

    def take_failures(self, instance: "GuestInstance") -> Iterator[Failure]:
        """The failures that the guest itself answered with (kind 2), and leave their buffer empty."""
        raw = instance.home.read(instance.home.layout.failures, instance.state.failure_bytes)
        instance.state.failure_bytes = 0
        digest = instance.recipe.module.digest[:12]
        for row, whole_bytes, text in _records(raw, FAILURE_RECORD_HEADER_BYTES):
            words = clean_text(text, max_bytes=len(text)) + ("…" if whole_bytes > len(text) else "")
            said = f'; the guest says: "{words}"' if words else ""
            message = f"the guest failed the event (module {digest}){said}"
            yield Failure(row, str(FailureCode.GUEST_FAILURE), message, words or None)

    def shut_down(self, instance: "GuestInstance") -> None:
        """Call the guest's `shutdown`; how it fails is noted and changes nothing."""
        if "shutdown" not in instance.recipe.module.exports:
            return
        digest = instance.recipe.module.digest[:12]
        try:
            status = instance.shut_down()
        except wasmtime.Trap as trap:
            self.shutdown_failure = f"shutdown trapped: {TrapReport.of(trap).words} (module {digest})"
            return
        if status:
            self.shutdown_failure = f"shutdown returned {status} (module {digest})"
        self.drain(instance)


def _records(raw: bytes, header_bytes: int) -> Iterator[tuple[int, int, bytes]]:
    """Walk records of two words, a length and as many bytes."""
    at = 0
    while at < len(raw):
        first, second, length = struct.unpack_from("<III", raw, at)
        at += header_bytes
        yield first, second, raw[at : at + length]
        at += length
