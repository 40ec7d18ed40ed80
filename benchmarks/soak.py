"""Does resident memory stay flat while events go through one guest, for as long as there are events?

Ten million events of 400 bytes through one guest that is kept across batches, with a null and a poison event now and
then, so that failed instances and their successors are part of it. Resident memory is read after each tenth; what
counts is how much it grows after the first tenth, when everything has been allocated once.

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

import wasm_host
from benchmarks.bench_host import POISON_MARK, event, trapping_guest

BATCH_EVENTS = 10_000
MAX_GROWTH_BYTES = 8 << 20


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
    def growth_bytes(self) -> int:
        """From the first tenth to the highest of the others."""
        return max(self.resident_bytes[1:]) - self.resident_bytes[0]


def resident_bytes() -> int:
    """Resident set of this process, without what waits to be collected."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def run(events: int) -> Soak:
    """Send so many events through, in batches of ten thousand."""
    values: list[bytes | None] = [event(number) for number in range(BATCH_EVENTS)]
    values[100] = None
    values[5_000] = event(0, POISON_MARK)
    batch = pa.array(values, pa.binary())
    batches = max(events // BATCH_EVENTS, 10)
    seen, failures, started = [], 0, time.perf_counter()
    with wasm_host.load(trapping_guest()) as guest:
        for number in range(batches):
            result = guest.transform(batch)
            failures += len(result.failures)
            if len(result.events) != BATCH_EVENTS - 1:
                raise AssertionError(f"batch {number} gave {len(result.events)} events")
            if (number + 1) * 10 // batches > number * 10 // batches:
                seen.append(resident_bytes())
    return Soak(batches * BATCH_EVENTS, failures, seen, time.perf_counter() - started)


def main(argv: Sequence[str] | None = None) -> int:
    """Print resident memory as it goes; status 1 when it grows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    options = parser.parse_args(argv)
    soak = run(options.events)
    print(f"{soak.events:,} events, {soak.failures:,} of them poison, in {soak.seconds:.1f} s")
    print("resident MB after each tenth: " + " ".join(f"{value / 1e6:.1f}" for value in soak.resident_bytes))
    print(f"growth after the first tenth: {soak.growth_bytes / 1e6:.2f} MB; allowed {MAX_GROWTH_BYTES / 1e6:.2f} MB")
    return 1 if soak.growth_bytes > MAX_GROWTH_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
