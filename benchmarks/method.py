"""The method that our benchmarks share, so that their figures can be set side by side.

An A/A control comes first: the baseline is measured as if it were two things, and when the two differ by more than 5 %
the result says so. All variants run in turn, round after round, and medians are compared, so that a noisy moment hits
all of them. Every run returns what it counted, which is held against the truth. Peak memory, machine and versions are
part of the result.
"""

import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NOISE_LIMIT = 0.05
_PACKAGES = ("wasm-host", "wasmtime", "pyarrow", "protobuf", "pyspark", "orjson", "extism")


class WrongCountError(AssertionError):
    """A variant did not do the work: its figure must not be printed."""


@dataclass(frozen=True)
class Variant:
    """One way to do the work.

    Attributes:
        run: Does it once and returns the number of events that came out.
        expected: The truth for that number.
        rounds: At most so many rounds, for what is very slow; None for all.
        share: Which part of the events it is given; a slow variant gets fewer, and its time is scaled up.
    """

    run: Callable[[], int]
    expected: int
    rounds: int | None = None
    share: float = 1.0


@dataclass
class Comparison:
    """Seconds of all variants, scaled to the whole number of events."""

    events: int
    control: tuple[float, float]
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @property
    def noise(self) -> float:
        """How far the two halves of the control lie apart."""
        first, second = self.control
        return abs(first - second) / min(first, second)

    def median(self, name: str) -> float:
        """The median of a variant's seconds."""
        return statistics.median(self.seconds[name])

    def rate(self, name: str) -> float:
        """Events in a second."""
        return self.events / self.median(name)

    def ratio(self, name: str, beside: str) -> float:
        """How many times faster `name` is than `beside`."""
        return self.median(beside) / self.median(name)

    def noise_line(self) -> str:
        """The control, in words."""
        warning = "" if self.noise <= NOISE_LIMIT else "; MORE THAN 5 %: differences below that mean nothing here"
        return f"A/A control: {self.noise:.1%} apart{warning}"

    def print_table(self, base: str) -> None:
        """Print rates, and ratios to one variant."""
        print(f"  {self.noise_line()}")
        print(f"  {'variant':44} {'median s':>9} {'µs/event':>9} {'events/s':>12} {'x ' + base[:18]:>20}")
        for name in self.seconds:
            median = self.median(name)
            rate, micros = self.events / median, median / self.events * 1e6
            print(f"  {name:44} {median:9.3f} {micros:9.2f} {rate:12,.0f} {self.ratio(name, base):20.3f}")


def compare(
    variants: Mapping[str, Variant],
    *,
    events: int,
    control: str,
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> Comparison:
    """Measure all variants in turn.

    Args:
        variants: By name.
        events: How many go in (before a variant's share).
        control: The variant that is measured twice for the A/A control.
        rounds: How often each runs, after one round that warms up.
        clock: The wall's, or `time.process_time` for work of one process on one core: that does not count the time
            in which other processes had the core.

    Raises:
        WrongCountError: a run counted something else than the truth.
    """
    pairs: tuple[list[float], list[float]] = ([], [])
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(rounds + 1):
        # A, B, A, B: what gets slower by itself would hit the second of the two otherwise.
        for half in (0, 1) if number % 2 else (1, 0):
            took = _timed(control, variants[control], clock)
            if number:
                pairs[half].append(took)
        for name, variant in variants.items():
            if variant.rounds is not None and number > variant.rounds:
                continue
            took = _timed(name, variant, clock) / variant.share
            if number:
                seconds[name].append(took)
    halves = (statistics.median(pairs[0]), statistics.median(pairs[1]))
    return Comparison(events, halves, seconds)


def _timed(name: str, variant: Variant, clock: Callable[[], float]) -> float:
    started = clock()
    counted = variant.run()
    took = clock() - started
    if counted != variant.expected:
        raise WrongCountError(f"{name}: {counted:,} events came out, {variant.expected:,} is right")
    return took


def tree_processor_seconds() -> float:
    """Processor time of this process and of everything below it: for Spark, the JVM and its Python workers.

    Other processes do not count, so ratios hold on a busy machine, which those of the wall clock do not. Linux only.
    """
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended in the meantime
        # Own time and that of children which have ended: a worker that ended is its daemon's child.
        parents[int(entry.name)], ticks[int(entry.name)] = int(words[1]), sum(map(int, words[11:15]))
    total = 0
    for process, spent in ticks.items():
        ancestor = process
        while ancestor != os.getpid() and ancestor in parents:
            ancestor = parents[ancestor]
        total += spent if ancestor == os.getpid() else 0
    return total / os.sysconf("SC_CLK_TCK")


def machine_lines() -> list[str]:
    """The machine, its load and the versions, for the head of every result."""
    names = []
    for package in _PACKAGES:
        try:
            names.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    load = os.getloadavg()[0]
    return [
        f"{_processor()}, {os.cpu_count()} cores, {_memory_gib():.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; load at the start {load:.2f}",
        ", ".join(names),
    ]


def peak_memory_line() -> str:
    """Peak resident memory of this process and of the largest child that has ended."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return f"peak memory: this process {own:,.0f} MiB, largest child {children:,.0f} MiB"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
