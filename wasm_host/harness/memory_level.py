"""A property of its own: the guest's memory stays level, however many events go through one instance.

How far it goes is counted in events and fuel, never in seconds: a busy machine must not change a verdict.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from wasm_host.guest import Guest
from wasm_host.harness.probe import Probe
from wasm_host.limits import MIB

_NAME = "memory level"
_SPEC = "SPEC.md 5"
_BATCH_EVENTS = 2_000
# Enough for a guest that is level. One that still grows may have a collector that has not run yet: it is sent more.
_EVENTS = 200_000
_FUEL = 4_000_000_000
_MOST_EVENTS = 4_000_000
_MOST_FUEL = 16_000_000_000
# What a collector may take before it collects for the first time (Go: 4 MiB of garbage), or twice what it began with.
_COLLECTOR_BYTES = 8 * MIB


class _Growth:
    """The sizes of one guest's memory, as far as they decide something."""

    def __init__(self, share: int, max_memory_bytes: int) -> None:
        self._share = share
        self._max_memory_bytes = max_memory_bytes
        self.events = 0
        self._fuel = 0
        self._began_with = 0
        self._last_growth_at = 0
        self.size_bytes = 0
        self.has_run_full = False

    @property
    def grown_bytes(self) -> int:
        return self.size_bytes - self._began_with

    @property
    def is_leak(self) -> bool:
        """More than any collector takes, or a whole memory full."""
        return self.has_run_full or self.grown_bytes > max(_COLLECTOR_BYTES, self._began_with)

    @property
    def is_settled(self) -> bool:
        """Whether more events would tell nothing new."""
        if self.is_leak or self._is_past(_MOST_EVENTS, _MOST_FUEL):
            return True
        # By the second half of the events every size has been seen: who does not grow then is level.
        return self._is_past(_EVENTS, _FUEL) and self._last_growth_at <= self.events // 2

    def _is_past(self, events: int, fuel: int) -> bool:
        return self.events * self._share >= events or self._fuel * self._share >= fuel

    def add(self, events: int, fuel: int, size_bytes: int, *, is_replaced: bool) -> None:
        """Note what a batch did."""
        self.events += events
        self._fuel += fuel
        if is_replaced:
            # Fuel can be the reason as well: a collector's work counts for the event that it falls on.
            self.has_run_full = self.size_bytes > self._max_memory_bytes // 2
            self._began_with = size_bytes
        elif self._began_with == 0:
            self._began_with = size_bytes
        elif size_bytes > self.size_bytes:
            self._last_growth_at = self.events
        self.size_bytes = max(size_bytes, self.size_bytes) if self.has_run_full else size_bytes


def check_memory_level(probe: Probe, events: Sequence[bytes], share: int = 1) -> None:
    """Send the events round and round until the memory is level, or has grown as only a leak grows.

    Args:
        probe: The guest with one configuration.
        events: What is sent.
        share: Among how many configurations the work is divided.
    """
    if not events:
        return
    with probe.load("worker") as guest:
        growth = _Growth(share, _most_memory(guest))
        for batch in _batches(events):
            result = guest.transform(batch)
            broken = sum(failure.code != "GUEST_FAILURE" for failure in result.failures)
            is_replaced = growth.events > 0 and result.stats.instances_made > broken
            growth.add(len(batch), result.stats.fuel, guest.memory_bytes, is_replaced=is_replaced)
            if growth.is_settled:
                break
    if not growth.is_leak:
        probe.section.passed(_NAME, f"{growth.size_bytes:,} bytes after {growth.events:,} events", count=growth.events)
        return
    if growth.has_run_full:
        what = "ran full, and the instance had to be replaced,"
    else:
        what = f"grew by {growth.grown_bytes:,} bytes (about {growth.grown_bytes / growth.events:,.0f} an event)"
    detail = f"{what} in {growth.events:,} events; free what alloc gave and what transform made, in dealloc"
    probe.section.failed(_NAME, detail, spec=_SPEC, count=growth.events)


def _most_memory(guest: Guest) -> int:
    """What the guest may have: by its limit, or by its own maximum."""
    allowed = guest.limits.max_memory_bytes
    return min(allowed, guest.module.memory_max_bytes or allowed)


def _batches(events: Sequence[bytes]) -> Iterator[pa.Array]:
    """The events for ever; small batches first: a leak of megabytes an event is seen before the memory is full."""
    repeats = -(-_BATCH_EVENTS // len(events))
    rows = pa.array(list(events) * repeats, pa.binary())
    size = 1
    while True:
        yield rows.slice(0, size)
        size = min(2 * size, len(rows))
