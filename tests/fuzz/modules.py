"""Hostile modules by the thousand, in child processes.

    python -m tests.fuzz.modules --count 100000 --seed 1

Each module ends in a coded error or a result whose counts add up, within its limits. A child that crashes, hangs or
holds too much memory is a finding: the parent prints the seed that shows it again.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter

import wasmtime

import guest_examples
import wasm_host
from abi import Event, Operation, TransformError
from tests.fuzz.mutations import mutate
from tests.fuzz.peak_memory import peak_resident_bytes
from tests.fuzz.random_wat import RandomWat

MODULES_PER_CHILD = 500
SECONDS_PER_CHILD = 300
MAX_CHILD_RSS_BYTES = 1 << 30
SLOW_SECONDS = 10.0

LIMITS = wasm_host.Limits(
    fuel_per_event=200_000,
    init_fuel=1_000_000,
    max_memory_bytes=4 << 20,
    max_output_bytes_per_event=1 << 20,
    max_output_events_per_event=100,
    max_wall_ms_per_batch=5_000,
)
EVENTS: list[bytes | None] = [
    Event(op=Operation.INSERT, table="users", after=b'{"id":1,"email":"a@b.c"}').SerializeToString(),
    None,
    b"\xff\xff not an event",
    Event(op=Operation.DELETE, table="users", before=b'{"id":1}', primary_key=["id"]).SerializeToString(),
]


def module_of(seed: int) -> bytes:
    """The module that belongs to a seed: two of three mutated, one of three grown."""
    rng = random.Random(seed)
    if seed % 3:
        name = rng.choice(guest_examples.NAMES)
        return mutate(guest_examples.load_wasm(name), rng)
    return bytes(wasmtime.wat2wasm(RandomWat(rng).module()))


def outcome_of(wasm: bytes) -> str:
    """Load and run; the code of the error, or "ran".

    Raises:
        AssertionError: the result's counts do not add up.
    """
    try:
        with wasm_host.load(wasm, limits=LIMITS) as guest:
            result = guest.transform(EVENTS)
            assert guest.memory_bytes <= LIMITS.max_memory_bytes
    except TransformError as error:
        return error.code
    stats = result.stats
    settled = len(set(result.rows.to_pylist()) | {failure.row for failure in result.failures})
    assert settled + stats.events_dropped == stats.events_in == len(EVENTS)
    assert 1 in result.rows.to_pylist(), "the tombstone is lost"
    for value in result.events.to_pylist():
        if value is not None:
            Event.FromString(value)
    return "ran"


def run_child(first_seed: int, count: int) -> Counter[str]:
    """Run modules in this process."""
    outcomes: Counter[str] = Counter()
    for seed in range(first_seed, first_seed + count):
        print(json.dumps({"seed": seed}), flush=True)
        started = time.monotonic()
        outcomes[outcome_of(module_of(seed))] += 1
        took = time.monotonic() - started
        assert took < SLOW_SECONDS, f"seed {seed} took {took:.1f} s"
    peak = peak_resident_bytes()
    assert peak < MAX_CHILD_RSS_BYTES, f"{peak:,} bytes resident after seed {first_seed + count - 1}"
    return outcomes


def fuzz(count: int, seed: int) -> Counter[str]:
    """Run `count` modules in children.

    Raises:
        AssertionError: a child crashed, hung or found something; the message holds the seed.
    """
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "WASM_HOST_CACHE_DIR": cache}
        for first in range(seed, seed + count, MODULES_PER_CHILD):
            size = min(MODULES_PER_CHILD, seed + count - first)
            command = [sys.executable, "-m", "tests.fuzz.modules", "--child", str(first), str(size)]
            child = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=SECONDS_PER_CHILD, check=False
            )
            lines = child.stdout.strip().splitlines()
            assert child.returncode == 0, f"{lines[-1:]} ended with {child.returncode}: {child.stderr[-2000:]}"
            outcomes.update(json.loads(lines[-1])["outcomes"])
    return outcomes


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", type=int, nargs=2, metavar=("SEED", "COUNT"))
    options = parser.parse_args()
    if options.child:
        print(json.dumps({"outcomes": run_child(*options.child)}))
        return
    for outcome, number in fuzz(options.count, options.seed).most_common():
        print(f"{number:8}  {outcome}")


if __name__ == "__main__":
    main()
