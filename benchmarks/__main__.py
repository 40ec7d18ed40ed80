"""Run every benchmark: `python -m benchmarks [--full] [NAME ...]`.

A benchmark is a file `bench_*.py` here, run in a process of its own, so that none measures another's leftovers. In the
short form each gets `--quick`; one that has no such form takes minutes, and is only named.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmark_names() -> list[str]:
    """All benchmarks, by file name."""
    return sorted(path.stem for path in FOLDER.glob("bench_*.py"))


def has_short_form(name: str) -> bool:
    """Whether the benchmark takes `--quick`."""
    return '"--quick"' in (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Run them one after the other; status 1 when one fails."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="name", help="only these, for example bench_host")
    parser.add_argument("--full", action="store_true", help="as long as each needs, minutes for some")
    options = parser.parse_args(argv)
    names = benchmark_names()
    unknown = sorted(set(options.names) - set(names))
    if unknown:
        parser.error(f"no benchmark called {', '.join(unknown)}; there are {', '.join(names)}")
    failed = []
    for name in options.names or names:
        print(f"== {name}", flush=True)
        if not options.full and not has_short_form(name):
            print(f"  no short form; run it with: python -m benchmarks.{name}", flush=True)
            continue
        arguments = [] if options.full else ["--quick"]
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
