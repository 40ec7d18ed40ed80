"""How fast does `wasm-host run` move a file of events through a guest, and in how much memory?

Question: events a second from one length-delimited protobuf file to another, through `mask_pii` redacting two fields in
both images, as the command does it: read, split, transform, check, join, write, rename. And does the memory stay the
same when the file is ten times as long?

Axes: the guest (pass-through, redaction); the length of the file. One process of the real command for each figure. The
rate on one core is events over the whole process's processor time, start-up included, so that neighbours do not count;
the wall time, with the last fsync, stands beside it. Excluded: other formats, whose conversion runs in Python (see
bench_formats.py).

Run: `python -m benchmarks.bench_run [--quick]`
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

import guest_examples
from abi import Event, Operation
from benchmarks.method import machine_lines
from wasm_host.cli.streams.framing import Framing

TARGET_RATE = 300_000
EVENTS = 2_000_000
QUICK_EVENTS = 300_000
_BLOCK = 10_000
_ROW = (
    b'{"id":%d,"email":"alice.%d@example.com","name":"Alice Example","contact":{"email":"alice@example.org",'
    b'"phone":"+49 170 1234567"},"note":"some text of a usual length","amount":12.50}'
)
_RULES = 'rules = [{path = "email", action = "redact"}, {path = "contact.email", action = "redact"}]\n'
_MEASURE = """
import re, sys, time
from pathlib import Path
from wasm_host.cli import main
try:
    main(sys.argv[1:])
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], time.process_time())
"""


def write_events(path: Path, count: int) -> int:
    """Write a stream of updates and return the size of one event."""
    source = {"source_name": "postgres", "offset": "0/16B3748", "timestamp": 1_700_000_000_000}
    events = [
        Event(
            op=Operation.UPDATE, table="users", schema="public", primary_key=["id"], ts=1_700_000_000_000 + number,
            envelope_version=1, before=_ROW % (number, number), after=_ROW % (number, number + 1), source=source,
        ).SerializeToString()
        for number in range(_BLOCK)
    ]  # fmt: skip
    block = Framing().join(pa.array(events, pa.binary()))
    with path.open("wb") as file:
        for _ in range(count // _BLOCK):
            file.write(block)
    return len(events[0])


def run(module: Path, options: Sequence[str], source: Path, target: Path) -> tuple[float, float, int]:
    """Run the command once: events a second of processor time, wall seconds, peak memory in kB."""
    command = [sys.executable, "-c", _MEASURE, "run", str(module), *options, "-i", str(source), "-o", str(target)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    counts = re.match(r"([\d,]+) in, ([\d,]+) out, 0 dropped, 0 failed;", done.stderr)
    if counts is None or counts[1] != counts[2]:
        raise SystemExit(f"events were lost: {done.stderr}")
    peak, processor_seconds = done.stdout.split()
    return int(counts[1].replace(",", "")) / float(processor_seconds), seconds, int(peak)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; status 1 when the target is missed."""
    parser = argparse.ArgumentParser(prog="bench_run", description="Measure wasm-host run.")
    parser.add_argument("--quick", action="store_true", help="a shorter file")
    count = QUICK_EVENTS if parser.parse_args(argv).quick else EVENTS
    print("\n".join(machine_lines()))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        rules = folder / "mask.toml"
        rules.write_text(_RULES)
        size = write_events(folder / "short.pb", count // 10)
        write_events(folder / "long.pb", count)
        print(f"events of {size} bytes, length-delimited protobuf to the same, one process\n")
        print(f"{'guest':<14}{'events':>12}{'events/s':>12}{'MB/s':>8}{'wall s':>9}{'peak MB':>9}")
        rate = 0.0
        for name, options in (("pass_through", []), ("mask_pii", ["--config", str(rules)])):
            for label, number in (("short", count // 10), ("long", count)):
                target = folder / "out.pb"
                rate, seconds, peak = run(guest_examples.path(name), options, folder / f"{label}.pb", target)
                print(
                    f"{name:<14}{number:>12,}{rate:>12,.0f}{rate * size / 1e6:>8.0f}{seconds:>9.2f}{peak / 1024:>9.0f}"
                )
    verdict = "met" if rate >= TARGET_RATE else "MISSED"
    print(f"\ntarget: {TARGET_RATE:,} events/s for redaction: {verdict} ({rate:,.0f})")
    return 0 if rate >= TARGET_RATE else 1


if __name__ == "__main__":
    sys.exit(main())
