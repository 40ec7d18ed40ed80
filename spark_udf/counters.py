"""What was counted for one module of one tenant; the same record on the executor, on the way and on the driver."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from wasm_host.result import BatchStats

MAX_DIFFERENCES = 20
"""Differences between wasm and native that are kept of one module and tenant; all are counted."""

MAX_GUEST_METRICS = 100
"""Names of guest metrics that are kept apart for one module and tenant; further ones are summed under one name."""

OTHER_METRICS = "(other)"


@dataclass(slots=True)
class Counters:
    """Sums over any number of batches.

    Attributes:
        events_in: Events given to the module.
        events_out: Events it answered with.
        events_dropped: Events it filtered out.
        events_failed: Events that failed.
        failed_by_code: The same by failure code.
        fuel: Fuel used.
        bytes_in: Bytes of the events given.
        bytes_out: Bytes of the events answered.
        guest_seconds: Wall time inside the sandbox.
        instances_made: Instances that were brought up.
        cache_hits: Batches that found their guest ready in the worker.
        cache_misses: Batches for which a guest had to be loaded.
        log_lines_lost: Log lines that did not fit the sandbox's buffer or the executor's rate.
        guest_metrics: What the guest recorded, summed by name.
        shadow_compared: Events that also went through the native twin.
        shadow_differences: How many of them came out differently.
        differences: A few of those, each a dict that names the event by its SHA-256.
    """

    events_in: int = 0
    events_out: int = 0
    events_dropped: int = 0
    events_failed: int = 0
    failed_by_code: dict[str, int] = field(default_factory=dict)
    fuel: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    guest_seconds: float = 0.0
    instances_made: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    log_lines_lost: int = 0
    guest_metrics: dict[str, int] = field(default_factory=dict)
    shadow_compared: int = 0
    shadow_differences: int = 0
    differences: list[dict[str, str]] = field(default_factory=list)

    def add_stats(self, stats: BatchStats) -> None:
        """Add what the sandbox counted for a batch."""
        self.events_in += stats.events_in
        self.events_out += stats.events_out
        self.events_dropped += stats.events_dropped
        self.events_failed += stats.events_failed
        self.fuel += stats.fuel
        self.bytes_in += stats.bytes_in
        self.bytes_out += stats.bytes_out
        self.guest_seconds += stats.wall_seconds
        self.instances_made += stats.instances_made
        self.log_lines_lost += stats.log_lines_lost

    def add_failure(self, code: str, count: int = 1) -> None:
        """Count failures under their code; `events_failed` is counted by the caller."""
        self.failed_by_code[code] = self.failed_by_code.get(code, 0) + count

    def add_guest_metrics(self, metrics: Mapping[str, int]) -> None:
        """Add what a guest recorded. A guest chooses the names, so only so many are kept apart."""
        for name, value in metrics.items():
            known = name in self.guest_metrics or len(self.guest_metrics) < MAX_GUEST_METRICS
            kept = name if known else OTHER_METRICS
            self.guest_metrics[kept] = self.guest_metrics.get(kept, 0) + value

    def add(self, other: "Counters") -> None:
        """Add another record to this one."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for code, count in other.failed_by_code.items():
            self.add_failure(code, count)
        self.add_guest_metrics(other.guest_metrics)
        self.differences.extend(other.differences[: MAX_DIFFERENCES - len(self.differences)])

    def to_plain(self) -> dict[str, Any]:
        """Write as plain values, without those that are zero."""
        return {name: value for name in _NAMES if (value := getattr(self, name))}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Counters":
        """Read what `to_plain` wrote."""
        return cls(**plain)


_NAMES = tuple(item.name for item in fields(Counters))
_NUMBERS = tuple(item.name for item in fields(Counters) if item.type in (int, float))
