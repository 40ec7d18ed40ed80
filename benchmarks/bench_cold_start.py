"""How long from a new worker process to the first event out, for each language of guest?

    python -m benchmarks.bench_cold_start [--rounds 5] [--json FILE]

Question: what does a Python worker that Spark has just started pay before its first event? Axes: the language of the
pass-through guest (the module's size goes with it), and an empty or a filled code cache. Each figure is a process of
its own, in turn, and the median of its processor time is shown; `imports` (Arrow's own import of pandas among them) is
the part that no module can change. Excluded: Spark's fork.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.method import machine_lines
from guest_examples import languages_of, load_wasm

EXAMPLE = "pass_through"
CHILD = """
import sys, time
started = time.process_time()
import wasm_host
from abi import Event
from guest_examples import load_wasm
from guest_examples.toolchains import find_toolchains
import pyarrow
pyarrow.array([b""])  # the first array made from a list imports pandas, where it is installed
language = sys.argv[1]
code, wasi = load_wasm("pass_through", language), find_toolchains()[language].needs_wasi
imported = time.process_time()
with wasm_host.load(code, wasi=wasi) as guest:
    result = guest.transform([Event(table="users").SerializeToString()])
assert result.stats.events_out == 1 and not result.failures
print(imported - started, time.process_time() - imported)
"""


def first_event_ms(language: str, cache: str) -> tuple[float, float]:
    """Start a process; milliseconds of imports, and of loading until the first event is out."""
    command = [sys.executable, "-c", CHILD, language]
    environment = {**os.environ, "WASM_HOST_CACHE_DIR": cache}
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    imports, loading = (float(value) * 1e3 for value in output.split())
    return imports, loading


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here, for the plots")
    options = parser.parse_args()
    print("\n".join(machine_lines()))
    figures = {}
    print(f"\n{'language':12} {'module bytes':>13} {'imports ms':>11} {'empty cache ms':>15} {'filled cache ms':>16}")
    languages = languages_of(EXAMPLE)
    found: dict[str, list[tuple[float, float, float]]] = {language: [] for language in languages}
    for _ in range(options.rounds):
        for language in languages:
            with tempfile.TemporaryDirectory() as cache:
                _, empty = first_event_ms(language, cache)
                imports, filled = first_event_ms(language, cache)
            found[language].append((imports, empty, filled))
    for language, values in found.items():
        imports, empty, filled = (statistics.median(column) for column in zip(*values, strict=True))
        size = len(load_wasm(EXAMPLE, language))
        print(f"{language:12} {size:13,} {imports:11.0f} {empty:15.1f} {filled:16.1f}")
        figures[language] = {"bytes": size, "imports": imports, "empty": empty, "filled": filled}
    if options.json:
        options.json.write_text(json.dumps({"machine": machine_lines(), "languages": figures}, indent=1))


if __name__ == "__main__":
    main()
