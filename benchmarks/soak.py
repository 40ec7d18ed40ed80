"""Does resident memory stay level while events go through guests, for as long as there are events?

Three guests that are kept across batches take turns: one masks, one filters, and one misbehaves (it traps on one event
in a thousand, so that failed instances and their successors are part of it); nulls come by too. Resident memory is
read after each tenth; what counts is how much it grows after the first tenth, when everything has been allocated once.

Run: `python -m benchmarks.soak [--events 10000000]`
"""

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import guest_examples
import wasm_host
from benchmarks.bench_host import POISON_EVERY, batch, trapping_guest
from spark_udf.samples import sample_batch

BATCH_EVENTS = 10_000
MAX_GROWTH = 0.05
MASK = {"rules": [{"path": path, "action": "redact"} for path in ("email", "phone")]}
FILTER = {"where": {"field": "status", "op": "=", "value": "active"}}


@dataclass(frozen=True)
class Soak:
    """What was seen.

    Attributes:
        events: How many went through.
        failures: How many failed, as they should.
        resident_bytes: Resident set after each tenth.
        seconds: Wall clock.
    """

    events: int
    failures: int
    resident_bytes: list[int]
    seconds: float

    @property
    def growth(self) -> float:
        """From the first tenth to the highest of the others, as a share of the first."""
        return max(self.resident_bytes[1:]) / self.resident_bytes[0] - 1


def resident_bytes() -> int:
    """Resident set of this process, without what waits to be collected."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def run(events: int) -> Soak:
    """Send so many events through, in batches of ten thousand, and count each guest's against its first."""
    samples = sample_batch(0, BATCH_EVENTS).column("event").to_pylist()
    work = [
        (wasm_host.load(guest_examples.path("mask_pii"), config=MASK), pa.array([None, *samples[1:]], pa.binary())),
        (wasm_host.load(guest_examples.path("filter_rows"), config=FILTER), pa.array(samples, pa.binary())),
        (wasm_host.load(trapping_guest()), batch(BATCH_EVENTS, poison=True)),
    ]
    expected = [_counts(guest.transform(given)) for guest, given in work]
    if expected[2] != (BATCH_EVENTS - BATCH_EVENTS // POISON_EVERY, BATCH_EVENTS // POISON_EVERY):
        raise AssertionError(f"the misbehaving guest gave {expected[2]}")
    rounds = max(events // (len(work) * BATCH_EVENTS), 10)
    seen, failures, started = [], 0, time.perf_counter()
    for number in range(rounds):
        for (guest, given), counts in zip(work, expected, strict=True):
            found = _counts(guest.transform(given))
            if found != counts:
                raise AssertionError(f"round {number} gave {found} events and failures, the first {counts}")
            failures += found[1]
        if (number + 1) * 10 // rounds > number * 10 // rounds:
            seen.append(resident_bytes())
    for guest, _ in work:
        guest.close()
    return Soak(rounds * len(work) * BATCH_EVENTS, failures, seen, time.perf_counter() - started)


def _counts(result: wasm_host.BatchResult) -> tuple[int, int]:
    return len(result.events), len(result.failures)


def main(argv: Sequence[str] | None = None) -> int:
    """Print resident memory as it goes; status 1 when it grows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    options = parser.parse_args(argv)
    soak = run(options.events)
    print(
        f"{soak.events:,} events through three guests, {soak.failures:,} failed as they should, in {soak.seconds:.1f} s"
    )
    print("resident MB after each tenth: " + " ".join(f"{value / 1e6:.1f}" for value in soak.resident_bytes))
    print(f"growth after the first tenth: {soak.growth:.1%}; allowed {MAX_GROWTH:.0%}")
    return 1 if soak.growth > MAX_GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
