"""Section 7: what the module uses, measured on the generated events."""

import statistics
import time
from collections.abc import Sequence

import pyarrow as pa
import wasmtime

from wasm_host.engine import engine_for
from wasm_host.guest import Guest
from wasm_host.harness.corpus import Corpus
from wasm_host.harness.report import Cost, Distribution, Report, Section
from wasm_host.harness.subject import Subject
from wasm_host.native import Pipeline

_RATE_EVENTS = 20_000
_RATE_SECONDS = 0.15
_RATE_RUNS = 3
_INSTANCES = 20
_FUEL_WARNING_SHARE = 0.8


def check_cost(subject: Subject, corpus: Corpus, report: Report) -> Section:
    """Measure; it fails only where an ordinary event comes close to a limit."""
    section = Section("cost")
    report.cost = cost = measure(subject, corpus.ordinary)
    share = cost.fuel.largest / cost.fuel_limit
    if share > _FUEL_WARNING_SHARE:
        section.failed("fuel", f"one ordinary event used {share:.0%} of fuel_per_event", spec="SPEC.md 10")
    else:
        section.passed(
            "fuel", f"median {cost.fuel.median:,.0f}, p99 {cost.fuel.p99:,.0f}, max {cost.fuel.largest:,.0f}"
        )
    section.passed("memory", f"{cost.memory_bytes:,} of {cost.memory_limit:,} bytes")
    section.passed("output", f"{cost.growth.median:.2f} times the input; at most {cost.growth.largest:.2f}")
    section.passed("rate", f"{cost.events_per_second:,.0f} events/s, {cost.bytes_per_second / 1e6:,.1f} MB/s")
    section.passed(
        "cold start", f"compile {cost.compile_seconds * 1e3:.1f} ms, instance {cost.instance_seconds * 1e6:.0f} µs"
    )
    return section


def measure(subject: Subject, events: Sequence[bytes]) -> Cost:
    """Fuel and growth of each event alone, the rate in batches, and the cold start."""
    fuel: list[float] = []
    growth: list[float] = []
    memory_bytes = 0
    with subject.load() as guest:
        for event in events:
            stats = guest.transform([event]).stats
            fuel.append(stats.fuel)
            if stats.bytes_in and stats.events_out:
                growth.append(stats.bytes_out / stats.bytes_in)
            memory_bytes = max(memory_bytes, guest.memory_bytes)
        # How much this one runs depends on the machine's moment, so it adds nothing to the other figures.
        rate, size = rate_of(guest, events)
    return Cost(
        fuel=Distribution(tuple(sorted(fuel))),
        fuel_limit=subject.limits.fuel_per_event,
        growth=Distribution(tuple(sorted(growth))),
        memory_bytes=memory_bytes,
        memory_limit=subject.limits.max_memory_bytes,
        events_per_second=rate,
        bytes_per_second=rate * size,
        compile_seconds=_compile_seconds(subject),
        instance_seconds=_instance_seconds(subject),
    )


def rate_of(guest: Guest | Pipeline, events: Sequence[bytes]) -> tuple[float, float]:
    """Events a second in batches, and the mean size of an event."""
    if not events:
        return 0.0, 0.0
    started = time.perf_counter()
    guest.transform(events)
    # A batch of the usual size, unless the guest is so slow that this would take too long.
    affordable = _RATE_SECONDS / (time.perf_counter() - started)
    rounds = max(1, int(min(_RATE_EVENTS / len(events), affordable)))
    batch = pa.array(list(events) * rounds, pa.binary())
    rates = []
    for _ in range(_RATE_RUNS):
        done, started = 0, time.perf_counter()
        while done == 0 or time.perf_counter() - started < _RATE_SECONDS:
            guest.transform(batch)
            done += len(batch)
        rates.append(done / (time.perf_counter() - started))
    return statistics.median(rates), sum(map(len, events)) / len(events)


def _compile_seconds(subject: Subject) -> float:
    """Without the caches, as the first worker of a cluster would."""
    engine = engine_for(subject.limits.max_stack_bytes).engine
    started = time.perf_counter()
    wasmtime.Module(engine, subject.wasm)
    return time.perf_counter() - started


def _instance_seconds(subject: Subject) -> float:
    times = []
    for _ in range(_INSTANCES):
        started = time.perf_counter()
        guest = subject.load()
        times.append(time.perf_counter() - started)
        guest.close()
    return statistics.median(times)
