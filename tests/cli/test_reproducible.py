"""The same module and seed give the same report: in any process, whatever else is imported, on a busy machine."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import guest_examples
from tests.cli.command import console_script, wasm_host
from tests.cli.test_examples import MASKS
from tests.hostile.wat_guest import HAND_BACK, build

# Figures of this machine and moment; everything else must be the same.
TIMED = {"rate", "cold start"}


def verdicts_of(report: str) -> list[Any]:
    return [
        (section["name"], check["name"], check["status"], check["detail"], check["count"])
        for section in json.loads(report)["sections"]
        for check in section["checks"]
        if check["name"] not in TIMED
    ]


def run_with_pauses(command: list[str]) -> tuple[int, str]:
    """Run a command on a machine that has no time for it: stopped for a twentieth of a second, again and again."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        with ThreadPoolExecutor(1) as reader:
            text = reader.submit(process.communicate)
            while not text.done():
                for sign in (signal.SIGSTOP, signal.SIGCONT):
                    process.send_signal(sign)
                    time.sleep(0.05)
        return process.returncode, text.result()[0]


def test_report_is_the_same_in_another_process_and_on_a_busy_machine(tmp_path: Path) -> None:
    # Go is the one to ask: it has a collector, which runs when it is due.
    config = tmp_path / "mask.json"
    config.write_text(json.dumps(MASKS))
    module = guest_examples.path("mask_pii", "go")
    arguments = ["test", str(module), "--wasi", "--config", str(config), "--examples", "20", "--no-save", "--json"]
    here = wasm_host(*arguments)
    status, busy = run_with_pauses([*console_script(), *arguments])
    assert verdicts_of(here.out) == verdicts_of(busy)
    assert (here.status, status) == (0, 0)


def test_generated_events_do_not_depend_on_what_is_imported(tmp_path: Path) -> None:
    # Hypothesis reads constants out of the source of imported modules, and likes to draw them.
    make = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
{}
from wasm_host.harness.corpus import Corpus
from wasm_host.harness.subject import Trial
events = Corpus.generate(Trial(examples=50, seed=0)).ordinary
print(len(events), hashlib.sha256(b"|".join(events)).hexdigest())
"""
    numbers = "\n".join(f"C{number} = {number + 1000}, 'text {number}', b'{number}'" for number in range(60))
    (tmp_path / "many_constants.py").write_text(numbers)
    plain, crowded = (
        subprocess.run([sys.executable, "-c", make.format(line), str(tmp_path)], capture_output=True, text=True)
        for line in ("", "import many_constants")
    )
    assert plain.stdout.startswith("50 "), plain.stderr
    assert plain.stdout == crowded.stdout


COLLECTOR = """(global $garbage (mut i32) (i32.const 0))"""
# 24 bytes of garbage an event, collected when there are 4 MiB of it, as Go does.
MAKES_GARBAGE = """
  (global.set $garbage (i32.add (global.get $garbage) (i32.const {each})))
  (if (i32.gt_u (global.get $garbage) (i32.const {most})) (then (global.set $garbage (i32.const 0))))
  (if (i32.gt_u (i32.add (global.get $garbage) (i32.const 131072)) (i32.shl (memory.size) (i32.const 16)))
    (then (drop (memory.grow (i32.const 8)))))
"""


def memory_level_of(tmp_path: Path, each: int, most: int) -> tuple[str, str]:
    module = tmp_path / "m.wasm"
    module.write_bytes(build(extra=COLLECTOR, transform=MAKES_GARBAGE.format(each=each, most=most) + HAND_BACK))
    report = json.loads(wasm_host("test", module, "--json", "--no-save", "--examples", "20").out)
    (check,) = [c for section in report["sections"] for c in section["checks"] if c["name"] == "memory level"]
    return check["status"], check["detail"]


def test_collector_that_has_not_run_yet_is_no_leak(tmp_path: Path) -> None:
    assert memory_level_of(tmp_path, each=24, most=4 << 20)[0] == "pass"


def test_slow_leak_is_found_however_small_its_steps(tmp_path: Path) -> None:
    status, detail = memory_level_of(tmp_path, each=4, most=1 << 30)
    assert (status, "(about 4 an event)" in detail) == ("fail", True), detail
