"""Hostile event bytes through every example guest and every format, in child processes.

    python -m tests.fuzz.events --count 100000 --seed 1

Each event ends in an output, a drop or a coded failure, and in the same one whatever stands beside it: every batch is
run a second time in another order. A child that crashes, hangs or grows is a finding: the parent prints its seed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
from google.protobuf.message import DecodeError

import wasm_host
from abi import Event, formats
from abi.errors import AbiError
from abi.formats.protobuf import LAYOUT as PROTOBUF_LAYOUT
from guest_examples import NAMES, languages_of, load_wasm
from guest_examples.sample_configurations import ACCEPTED
from guest_examples.toolchains import find_toolchains
from tests.fuzz.peak_memory import peak_resident_bytes
from tests.property.wire_bytes import UTF8_EDGES
from wasm_host.generate import EventMaker

BUILDS = [(name, language) for name in NAMES for language in languages_of(name)]
EVENTS_PER_BATCH = 50
EVENTS_PER_CHILD = 5_000
SECONDS_PER_CHILD = 300
MAX_CHILD_RSS_BYTES = 1 << 30

Outcome = tuple[str, tuple[bytes | None, ...], str]
"""What became of an event: "output", "drop" or a failure's code; the events that came out; the failure's message."""


def events_of(seed: int) -> list[bytes]:
    """A batch: a third sound, the others mutated, cut, spliced, or bytes of no kind at all."""
    rng = random.Random(seed)
    maker = EventMaker(seed)
    return [_bent(maker.make(), rng) for _ in range(EVENTS_PER_BATCH)]


def _bent(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    choice = rng.randrange(9)
    at = rng.randrange(len(data))
    if choice < 3:
        return data
    if choice == 3:
        return data[:at]
    if choice == 4:
        return rng.randbytes(rng.choice((0, 1, 2, 9, 100, 5_000)))
    if choice == 5:
        return data[:at] + data[rng.randrange(len(data)) :]
    if choice == 6:
        return data[:at] + bytes(rng.choices(UTF8_EDGES, k=rng.randrange(1, 20))) + data[at:]
    if choice == 7:
        return data[:at] + rng.choice((b"[" * 5_000, b'{"a":' * 2_000, b"\\u0000", b"1" * 3_000)) + data[at:]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        place = rng.randrange(len(changed))
        changed[place] = rng.choice((changed[place] ^ (1 << rng.randrange(8)), 0, 0x22, 0x7F, 0x80, 0xFF))
    return bytes(changed)


def guest_outcomes(guest: wasm_host.Guest, events: list[bytes]) -> list[Outcome]:
    """Run a batch.

    Raises:
        AssertionError: the counts do not add up, an output is no event, or a failure has no code.
    """
    result = guest.transform(events)
    outputs: dict[int, list[bytes | None]] = {}
    for row, value in zip(result.rows.to_pylist(), result.events.to_pylist(), strict=True):
        Event.FromString(value)
        outputs.setdefault(row, []).append(value)
    failures = {failure.row: failure for failure in result.failures}
    assert not failures.keys() & outputs.keys(), "an event came out and failed"
    stats = result.stats
    assert len(outputs) + len(failures) + stats.events_dropped == stats.events_in == len(events)
    outcomes: list[Outcome] = []
    for row in range(len(events)):
        if row in failures:
            assert failures[row].code, "a failure without a code"
            outcomes.append((failures[row].code, (), failures[row].message))
        else:
            outcomes.append(("output" if row in outputs else "drop", tuple(outputs.get(row, ())), ""))
    return outcomes


def through_guest(name: str, language: str, seed: int, counted: Counter[str]) -> None:
    """Run a batch in two orders and compare event by event."""
    events = events_of(seed)
    config = ACCEPTED[name][seed % len(ACCEPTED[name])]
    wasi = find_toolchains()[language].needs_wasi
    with wasm_host.load(load_wasm(name, language), config=config, wasi=wasi) as guest:
        outcomes = guest_outcomes(guest, events)
        order = list(range(len(events)))
        random.Random(~seed).shuffle(order)
        again = guest_outcomes(guest, [events[position] for position in order])
    for place, position in enumerate(order):
        assert again[place] == outcomes[position], f"event {position} of seed {seed} depends on its neighbours"
    counted.update(outcome[0] for outcome in outcomes)


def through_format(name: str, seed: int, counted: Counter[str]) -> None:
    """Read bent documents of a format, and bent events; write back what could be read."""
    rng = random.Random(seed)
    chosen = formats.get(name)
    documents = list(events_of(seed))
    for data in events_of(seed + 1):
        try:
            documents.append(_bent(chosen.encode(Event.FromString(data)), rng))
        except (AbiError, DecodeError):
            counted["cannot be written"] += 1
    events, failures = chosen.decode_batch(pa.array(documents, pa.binary()))
    failed = {failure.row for failure in failures}
    for row, (document, event) in enumerate(zip(documents, events.to_pylist(), strict=True)):
        assert (event is None) == (row in failed), f"row {row} of seed {seed}"
        verdict, alone = _read_alone(chosen, document)
        assert (alone is None) == (row in failed), f"row {row} of seed {seed} is judged otherwise in a batch"
        assert alone is None or Event.FromString(event) == alone, f"row {row} of seed {seed}"
        counted[verdict] += 1
    _, refused = chosen.encode_batch(events)
    assert all(failure.code for failure in refused)


def _read_alone(chosen: formats.Format, document: bytes) -> tuple[str, Event | None]:
    try:
        event = chosen.decode(document)
        # A batch of protobuf keeps its bytes, so it needs no note of their order.
        event.attributes.pop(PROTOBUF_LAYOUT, None)
        return "output", event
    except AbiError as error:
        return error.code, None


def subjects() -> Iterator[tuple[str, str | None]]:
    """Everything that takes event bytes: (example, language), and (format, None)."""
    yield from BUILDS
    for name in formats.FORMATS:
        yield name, None


def run_child(first_seed: int, count: int) -> Counter[str]:
    """Run batches in this process: each seed goes to one subject, in turn."""
    counted: Counter[str] = Counter()
    everything = list(subjects())
    for seed in range(first_seed, first_seed + count):
        name, language = everything[seed % len(everything)]
        print(json.dumps({"seed": seed, "subject": [name, language]}), flush=True)
        if language is None:
            through_format(name, seed, counted)
        else:
            through_guest(name, language, seed, counted)
    peak = peak_resident_bytes()
    assert peak < MAX_CHILD_RSS_BYTES, f"{peak:,} bytes resident after seed {first_seed + count - 1}"
    return counted


def fuzz(count: int, seed: int) -> Counter[str]:
    """Run about `count` events in children.

    Raises:
        AssertionError: a child crashed, hung or found something; the message holds the seed.
    """
    counted: Counter[str] = Counter()
    batches = -(-count // EVENTS_PER_BATCH)
    per_child = EVENTS_PER_CHILD // EVENTS_PER_BATCH
    for first in range(seed, seed + batches, per_child):
        size = min(per_child, seed + batches - first)
        child = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.events", "--child", str(first), str(size)],
            capture_output=True,
            text=True,
            timeout=SECONDS_PER_CHILD,
            check=False,
            env=dict(os.environ),
        )
        lines = child.stdout.strip().splitlines()
        assert child.returncode == 0, f"{lines[-1:]} ended with {child.returncode}: {child.stderr[-2000:]}"
        counted.update(json.loads(lines[-1])["outcomes"])
    return counted


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", type=int, nargs=2, metavar=("SEED", "BATCHES"))
    options = parser.parse_args()
    if options.child:
        print(json.dumps({"outcomes": run_child(*options.child)}))
        return
    counted = fuzz(options.count, options.seed)
    for outcome, number in counted.most_common():
        print(f"{number:9}  {outcome}")
    print(f"{counted.total():9}  events, {len(BUILDS)} guests, {len(formats.FORMATS)} formats, seed {options.seed}")


if __name__ == "__main__":
    main()
