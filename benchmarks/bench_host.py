"""What does the sandbox itself cost: the batch loop, the calls, a poison event, a thousand guests?

Question: at which rate do 400-byte events go through a guest of the simple contract (`alloc`, `dealloc`, `transform` of
one event) when the batch is driven inside WebAssembly, and how does that compare with what an embedding in Python does,
which calls the guest's exports for each event? What does one trap in every thousand events cost? How much memory do a
thousand loaded guests hold?

Axes: who drives the batch; poison or none. The guest hands its input back, so that only the host's work is measured.
Fuel on, epoch interruption on, every output checked to be an Event. One core, one process, warm; processor time, so
that neighbours do not count; medians of interleaved rounds with an A/A control (method.py). Excluded: Spark, loading.
The variant in Python gets fewer events, and its time is scaled up; it checks nothing and has fuel on as well.

Run: `python -m benchmarks.bench_host [--quick] [--check]`
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import wasmtime

import guest_examples
import wasm_host
from abi import Event, Operation
from benchmarks.method import Comparison, Variant, compare, machine_lines

EVENT_BYTES = 400
POISON_EVERY = 1_000
PYTHON_SHARE = 0.005
TARGET_RATE = 5e6
TARGET_TIMES = 400
TARGET_POISON = 2.0
TARGET_GUESTS_MB = 200
GUESTS = 1_000
POISON_MARK = b"poison"

IN_WASM = "in-wasm driver, fuel on, output checked"
IN_PYTHON = "Python calls alloc, transform, dealloc"
CLEAN = "guest that may trap, no poison"
POISONED = "the same, a trap in every 1,000 events"


def event(number: int, table: bytes = b"orders") -> bytes:
    """An event of exactly 400 bytes; the table stands at its end."""
    made = Event(op=Operation.UPDATE, ts=1_700_000_000_000 + number % 1000, table=table.decode())
    made.after = b"x" * (EVENT_BYTES - made.ByteSize() - 3)
    return made.SerializeToString()


def batch(count: int, *, poison: bool = False) -> pa.Array:
    """A batch as Arrow has it."""
    healthy = [event(number) for number in range(POISON_EVERY)]
    if poison:
        healthy[POISON_EVERY // 2] = event(0, POISON_MARK)
    return pa.array([healthy[number % POISON_EVERY] for number in range(count)], pa.binary())


def trapping_guest() -> bytes:
    """The pass-through guest, which traps on events whose last byte is the mark's."""
    source = (Path(guest_examples.__file__).parent / "pass_through" / "pass_through.wat").read_text(encoding="utf-8")
    head = '(func (export "transform") (param $block i32) (param $size i32) (result i64)'
    assert head in source
    last = "(i32.load8_u (i32.sub (i32.add (local.get $block) (local.get $size)) (i32.const 1)))"
    check = f"(if (i32.eq {last} (i32.const {POISON_MARK[-1]})) (then (unreachable)))"
    return bytes(wasmtime.wat2wasm(source.replace(head, f"{head} {check}")))


class PythonDriver:
    """What an embedding in Python does: the guest's exports, called for each event through wasmtime-py."""

    def __init__(self, wasm: bytes) -> None:
        config = wasmtime.Config()
        config.consume_fuel = True
        engine = wasmtime.Engine(config)
        self._store = wasmtime.Store(engine)
        self._store.set_fuel(10**12)
        exports = wasmtime.Instance(self._store, wasmtime.Module(engine, wasm), []).exports(self._store)
        self._memory = exports["memory"]
        self._alloc, self._dealloc, self._transform = (exports[name] for name in ("alloc", "dealloc", "transform"))

    def run(self, events: Sequence[bytes]) -> int:
        """Run each event and count what came out."""
        store, memory, outputs = self._store, self._memory, 0
        assert isinstance(memory, wasmtime.Memory)
        for item in events:
            store.set_fuel(20_000_000)
            pointer = self._alloc(store, len(item))  # type: ignore[operator]  # an export of any kind, for the checker
            memory.write(store, item, pointer)
            answer = self._transform(store, pointer, len(item))  # type: ignore[operator]
            start, length = answer >> 32 & 0x3FFF_FFFF, answer & 0xFFFF_FFFF
            output = memory.read(store, start, start + length)
            self._dealloc(store, pointer, len(item))  # type: ignore[operator]
            outputs += len(output) == len(item)
        return outputs


def measure(count: int, rounds: int) -> Comparison:
    """Run all variants in turn."""
    wasm = guest_examples.load_wasm("pass_through")
    events, poisoned = batch(count), batch(count, poison=True)
    few = [value.as_py() for value in events[: int(count * PYTHON_SHARE)]]
    guest, trapping = wasm_host.load(wasm), wasm_host.load(trapping_guest())
    driver = PythonDriver(wasm)
    failures = count // POISON_EVERY

    def run_poisoned() -> int:
        result = trapping.transform(poisoned)
        return len(result.events) + len(result.failures)

    variants = {
        IN_WASM: Variant(lambda: len(guest.transform(events).events), count),
        IN_PYTHON: Variant(lambda: driver.run(few), len(few), share=len(few) / count),
        CLEAN: Variant(lambda: len(trapping.transform(events).events), count),
        POISONED: Variant(run_poisoned, count),
    }
    assert len(trapping.transform(poisoned).failures) == failures
    return compare(variants, events=count, control=IN_WASM, rounds=rounds, clock=time.process_time)


_GUESTS_SCRIPT = """
import sys, time
from pathlib import Path
import guest_examples, wasm_host
from benchmarks.bench_host import batch
def resident(): return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
wasm, events = guest_examples.load_wasm("pass_through"), batch(100)
wasm_host.load(wasm).transform(events)
before, started = resident(), time.perf_counter()
guests = [wasm_host.load(wasm) for _ in range(int(sys.argv[1]))]
loaded, seconds = resident(), time.perf_counter() - started
for guest in guests: assert len(guest.transform(events).events) == 100
print(before, loaded, resident(), seconds)
"""


def guests_memory(count: int) -> tuple[float, float, float]:
    """MB that so many guests take when loaded, and after a batch each; and seconds for loading one."""
    command = [sys.executable, "-c", _GUESTS_SCRIPT, str(count)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    before, loaded, served = (int(number) for number in printed[:3])
    return (loaded - before) / 1e6, (served - before) / 1e6, float(printed[3]) / count


def report(comparison: Comparison, guests: int) -> bool:
    """Print the figures beside their targets; whether all are met."""
    comparison.print_table(IN_PYTHON)
    loaded_mb, served_mb, load_seconds = guests_memory(guests)
    print(f"  {guests:,} guests: {loaded_mb:.1f} MB loaded, {served_mb:.1f} MB after a batch of 100 events each;")
    print(f"  loading one from the process's cache: {load_seconds * 1e6:.0f} µs")
    scale = GUESTS / guests
    figures = {
        f"events/s through the driver, at least {TARGET_RATE:,.0f}": (comparison.rate(IN_WASM), TARGET_RATE, True),
        f"times the rate of Python's calls, at least {TARGET_TIMES}": (
            comparison.ratio(IN_WASM, IN_PYTHON),
            TARGET_TIMES,
            True,
        ),
        f"times the time with poison, at most {TARGET_POISON}": (
            comparison.ratio(CLEAN, POISONED),
            TARGET_POISON,
            False,
        ),
        f"MB for 1,000 loaded guests, at most {TARGET_GUESTS_MB}": (loaded_mb * scale, TARGET_GUESTS_MB, False),
    }
    all_met = True
    for name, (seen, target, wants_more) in figures.items():
        is_met = seen >= target if wants_more else seen <= target
        all_met &= is_met
        print(f"  {'met    ' if is_met else 'NOT MET'} {seen:14,.1f} {name}")
    return all_met


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; with --check, the status says whether the targets are met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short round, to see that it works")
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--check", action="store_true", help="end with status 1 when a target is not met")
    options = parser.parse_args(argv)
    for line in machine_lines():
        print(line)
    count, rounds = (20_000, 1) if options.quick else (options.events, options.rounds)
    is_met = report(measure(count, rounds), 100 if options.quick else GUESTS)
    return 1 if options.check and not is_met else 0


if __name__ == "__main__":
    sys.exit(main())
