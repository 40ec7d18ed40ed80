"""How does this host compare with the other ways to run a transform from Python?

    python -m benchmarks.bench_peers [--quick] [--json FILE]

Question: what does an event cost, on one core, in (a) this host, (b) Python that calls the guest's exports through
wasmtime-py for each event, (c) the Extism Python SDK, (d) the native pipeline, (e) the native pipeline with orjson?
Axes: five transforms, four sizes of event. In a, b and c it is the same module, byte for byte, built from Zig; b and c
meet log and metrics functions that do nothing, and c runs without fuel and limits, all in their favour.

Method: `benchmarks/method.py`, in processor time, since all of it is one process on one core. Input is a list of bytes
for everybody; making the Arrow array is part of our time. Slow variants get fewer events, and their time is scaled.
Excluded: loading and compiling. A last row shows this host with batches of one event, which is not what it is for.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.method import Comparison, Variant, compare, machine_lines, peak_memory_line
from benchmarks.peers import hosts
from benchmarks.peers.workloads import SIZES_BYTES, TRANSFORMS, Workload, make_workload

OURS, CALLS, EXTISM, NATIVE, ORJSON, ONE = (
    "wasm_host",
    "wasmtime-py, calls per event",
    "Extism Python SDK",
    "native pipeline (twin)",
    "native pipeline (orjson)",
    "wasm_host, batches of one",
)
BATCH_BYTES = 4 << 20
MAX_EVENTS = 10_000
SLOW_SHARE = 0.05
EXTISM_TARGET = 50


def measure(transform: str, size_bytes: int, *, rounds: int, batch_bytes: int) -> Comparison:
    """Measure one transform on one size."""
    count = max(min(MAX_EVENTS, batch_bytes // size_bytes), 40)
    work = make_workload(transform, size_bytes, count)
    few = make_workload(transform, size_bytes, max(int(count * SLOW_SHARE), 20))
    makers = {
        CALLS: hosts.per_event_calls,
        EXTISM: hosts.extism_plugin,
        NATIVE: hosts.native,
        ORJSON: hosts.native_orjson,
    }
    variants = {OURS: _variant(hosts.ours(work), work, work)}
    for name, make in (makers | {ONE: hosts.ours_one_by_one}).items():
        variants[name] = _variant(make(few), few, work)
    return compare(variants, events=count, control=OURS, rounds=rounds, clock=time.process_time)


def _variant(run: hosts.Run, given: Workload, whole: Workload) -> Variant:
    return Variant(lambda: run(given.events), given.expected, share=len(given.events) / len(whole.events))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short round, to see that it works")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here, for the plots")
    options = parser.parse_args()
    rounds, batch_bytes = (1, BATCH_BYTES // 40) if options.quick else (options.rounds, BATCH_BYTES)
    print("\n".join(machine_lines()))
    figures: dict[str, Any] = {"machine": machine_lines(), "results": []}
    for transform in TRANSFORMS:
        for size in SIZES_BYTES:
            result = measure(transform, size, rounds=rounds, batch_bytes=batch_bytes)
            print(f"\n{transform}, events of {size:,} bytes, {result.events:,} a batch")
            result.print_table(OURS)
            medians = {name: result.median(name) / result.events * 1e6 for name in result.seconds}
            figures["results"].append({"transform": transform, "size": size, "noise": result.noise, "micros": medians})
    _print_verdict(figures["results"])
    print(peak_memory_line())
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


def _print_verdict(results: list[dict[str, Any]]) -> None:
    print(f"\n{'times faster than':24} " + " ".join(f"{name[:26]:>27}" for name in (CALLS, EXTISM, NATIVE, ORJSON)))
    for result in results:
        micros = result["micros"]
        cells = " ".join(f"{micros[name] / micros[OURS]:27.1f}" for name in (CALLS, EXTISM, NATIVE, ORJSON))
        print(f"{result['transform']:14}{result['size']:>8} B  {cells}")
    usual = next(r for r in results if r["transform"] == "pass-through" and r["size"] == 470)
    ratio = usual["micros"][EXTISM] / usual["micros"][OURS]
    verdict = "met" if ratio >= EXTISM_TARGET else "MISSED"
    print(f"target: pass-through of single events at least {EXTISM_TARGET}x Extism: {ratio:.0f}x, {verdict}")


if __name__ == "__main__":
    main()
