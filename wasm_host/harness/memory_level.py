"""A property of its own: the guest's memory stays level, however many events go through one instance."""

import itertools
import time
from collections.abc import Sequence

import pyarrow as pa

from wasm_host.harness.probe import Probe

_NAME = "memory level"
_SPEC = "SPEC.md 5"
_MAX_EVENTS = 200_000
_MAX_SECONDS = 0.8
_BATCH_EVENTS = 2_000
_LEAK_STEPS = 3


def check_memory_level(probe: Probe, events: Sequence[bytes]) -> None:
    """Send the events round and round; growth in the second half, when every size has been seen, is a leak."""
    if not events:
        return
    repeats = max(1, _BATCH_EVENTS // len(events))
    batch = pa.array(list(events) * repeats, pa.binary())
    sizes: list[int] = []
    replaced = 0
    with probe.load("worker") as guest:
        started = time.monotonic()
        # As many rounds as fit, but enough of them for a second half even when the guest is slow.
        while len(sizes) * len(batch) < _MAX_EVENTS and (time.monotonic() - started < _MAX_SECONDS or len(sizes) < 4):
            result = guest.transform(batch)
            broken = sum(failure.code != "GUEST_FAILURE" for failure in result.failures)
            replaced += result.stats.instances_made - broken
            sizes.append(guest.memory_bytes)
    count = len(sizes) * len(batch)
    half = len(sizes) // 2
    grown = sizes[-1] - sizes[half]
    # A collector takes memory in large steps now and then; a leak takes it again and again.
    steps = sum(after > before for before, after in itertools.pairwise(sizes[half:]))
    if replaced > 0:
        probe.section.failed(
            _NAME, f"the instance ran out of memory and was replaced {replaced} time(s) in {count:,} events; free "
            "what alloc gave and what transform made, in dealloc", spec=_SPEC, count=count,
        )  # fmt: skip
    elif steps >= min(_LEAK_STEPS, len(sizes) - half - 1):
        leaked = grown / ((len(sizes) - half - 1) * len(batch))
        probe.section.failed(
            _NAME, f"grew by {grown:,} bytes over the last {(len(sizes) - half - 1) * len(batch):,} events (about "
            f"{leaked:,.0f} an event); free what alloc gave and what transform made, in dealloc",
            spec=_SPEC, count=count,
        )  # fmt: skip
    else:
        probe.section.passed(_NAME, f"{sizes[-1]:,} bytes after {count:,} events", count=count)
