"""Hostile guests fail `wasm-host test`, in the right section, with exit status 1 and within the default time."""

import json
import resource
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.command import console_script, wasm_host
from tests.hostile import verdicts
from tests.hostile.registry import HostileGuest, collect
from tests.hostile.wat_guest import HAND_BACK, SPIN, build, on_poison

DEFAULT_SECONDS = 10
"""The promise, here of processor time: what else the machine does is not the command's doing."""

LOG = '(import "env" "log" (func $log (param i32 i32 i32)))'
METRIC = '(import "env" "record_metric" (func $metric (param i32 i64)))'
COUNTER = "(global $seen (mut i32) (i32.const 0))"
COUNT = "(global.set $seen (i32.add (global.get $seen) (i32.const 1)))"
FAIL_WITH_TEXT = "(return (call $packed (i32.const 2) (i32.const 16) (i32.const {size})))"
FLOOD = """(local $n i32) (loop $again
  {call} (local.set $n (i32.add (local.get $n) (i32.const 1)))
  (br_if $again (i32.lt_u (local.get $n) (i32.const 200))))"""

GUESTS: dict[str, tuple[dict[str, str], str, str]] = {
    # name: (parts, section, check)
    "forbidden_import": ({"imports": '(import "env" "clock" (func))'}, "contract", "imports"),
    "wasi_import": (
        {"imports": '(import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))'}, "contract", "imports"),
    "import_of_another_type": ({"imports": '(import "env" "log" (func (param i32)))'}, "contract", "imports"),
    "memory_too_large": ({"memory": '(memory (export "memory") 2000)'}, "contract", "memory"),
    "memory_not_exported": ({"memory": "(memory 2)"}, "contract", "memory"),
    "memory_shared": ({"memory": '(memory (export "memory") 2 4 shared)'}, "contract", "memory"),
    "unknown_contract": ({"version_export": "some_version"}, "contract", "exports"),
    "reserved_export": ({"extra": '(func (export "wasm_host_secret"))'}, "contract", "exports"),
    "other_version": ({"version": "(i32.const 7)"}, "contract", "ABI version"),
    "proposal": ({"extra": "(func $t (result i32) (return_call $t))"}, "contract", "proposals"),
    "spin_in_start": ({"start": SPIN}, "lifecycle", "starts"),
    "spin_in_init": ({"init": f"{SPIN} (i32.const 0)"}, "lifecycle", "starts"),
    "init_refuses_without_reason": ({"init": "(i32.const 1)"}, "lifecycle", "starts"),
    "trap_in_initialize": ({"initialize": "(unreachable)"}, "lifecycle", "starts"),
    "trap_in_shutdown": ({"shutdown": "(unreachable)"}, "lifecycle", "shutdown"),
    "spin_in_shutdown": ({"shutdown": f"{SPIN} (i32.const 0)"}, "lifecycle", "shutdown"),
    "spin": ({"transform": f"{SPIN} (i64.const 0)"}, "properties", "no trap"),
    "spin_on_one_length": ({"transform": on_poison(SPIN)}, "properties", "no trap"),
    "trap": ({"transform": "(unreachable)"}, "properties", "no trap"),
    "trap_on_one_length": ({"transform": on_poison("(unreachable)")}, "properties", "no trap"),
    "trap_in_dealloc": ({"dealloc": "(unreachable)"}, "properties", "no trap"),
    "recursion": ({"extra": "(func $r (call $r))", "transform": f"(call $r) {HAND_BACK}"}, "properties", "no trap"),
    "memory_bomb": (
        {"transform": "(loop $m (br_if $m (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))) (unreachable)"},
        "properties", "no trap"),
    "alloc_gives_nothing": ({"alloc": "(i32.const 0)"}, "properties", "no trap"),
    "alloc_out_of_bounds": ({"alloc": "(i32.const -8)"}, "properties", "output decodes"),
    "answer_out_of_bounds": ({"transform": "(i64.const 0x3fffffff00001000)"}, "properties", "output decodes"),
    "reserved_kind": ({"transform": "(i64.const -1)"}, "properties", "output decodes"),
    "output_is_no_event": (
        {"transform": "(i32.store8 (local.get $ptr) (i32.const 0xff)) " + HAND_BACK}, "properties", "output decodes"),
    "remembers": (
        {"extra": COUNTER, "transform": f"{COUNT} (if (i32.gt_u (global.get $seen) (i32.const 3)) "
         f"(then (return (i64.const 0)))) {HAND_BACK}"}, "properties", "stateless"),
    "leak": ({"dealloc": ""}, "properties", "memory level"),
    "cuts_its_output": (
        {"transform": "(call $packed (i32.const 0) (local.get $ptr) (i32.sub (local.get $len) (i32.const 1)))"},
        "properties", "output decodes"),
    "drops_unknown_fields": (
        # The harness writes three unknown fields behind an event, 17 bytes in all, which end in 01 02 03 04.
        {"transform": "(if (i32.eq (i32.load (i32.sub (i32.add (local.get $ptr) (local.get $len)) (i32.const 4))) "
         "(i32.const 0x04030201)) (then (local.set $len (i32.sub (local.get $len) (i32.const 17))))) " + HAND_BACK},
        "properties", "unknown fields survive"),
    "log_flood": (
        {"imports": LOG, "transform": FLOOD.format(
            call="(call $log (i32.const 2) (i32.const 16) (i32.const 900))") + HAND_BACK},
        "properties", "logs and metrics"),
    "huge_failure_text": (
        # Far behind the largest event, so that it does not overlap the input.
        {"memory": '(memory (export "memory") 40)', "transform":
         "(return (call $packed (i32.const 2) (i32.const 2500000) (i32.const 60000)))"},
        "properties", "failure texts"),
    "binary_failure_text": (
        {"extra": '(data (i32.const 16) "\\ff\\fe\\01bad")', "transform": FAIL_WITH_TEXT.format(size=6)},
        "properties", "failure texts"),
}  # fmt: skip


@pytest.mark.parametrize("name", GUESTS)
def test_hostile_guest_fails_in_its_section(name: str, tmp_path: Path) -> None:
    parts, section, check = GUESTS[name]
    module = tmp_path / f"{name}.wasm"
    module.write_bytes(build(**parts))
    result = wasm_host("test", module, "--json", "--no-save")
    failed = failed_checks(result.out)
    assert result.status == 1
    assert (section, check) in failed, failed
    assert {part for part, _ in failed} == {section}


def failed_checks(report: str) -> list[tuple[str, str]]:
    return [
        (part["name"], item["name"])
        for part in json.loads(report)["sections"]
        for item in part["checks"]
        if item["status"] == "fail"
    ]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> dict[str, HostileGuest]:
    return collect(tmp_path_factory.mktemp("registry") / "guests.pickle")


def test_every_guest_of_the_hostile_tests_gets_its_verdict_in_time(
    registry: dict[str, HostileGuest], tmp_path: Path
) -> None:
    assert len(registry) > 250
    module = tmp_path / "m.wasm"
    wrong: dict[str, object] = {}
    known: dict[bytes, tuple[int, set[str]]] = {}  # some tests load the same guest in several ways
    for name, guest in registry.items():
        seconds = 0.0
        if guest.wasm not in known:
            module.write_bytes(guest.wasm)
            started = time.process_time()
            result = wasm_host("test", module, "--json", "--no-save", *(["--wasi"] if guest.wasi else []))
            seconds = time.process_time() - started
            failed = failed_checks(result.out) if result.status != 2 else []
            known[guest.wasm] = (result.status, {section for section, _ in failed})
        expected = verdicts.verdict_of(name)
        if known[guest.wasm] != (expected.status, {expected.section} - {None}) or seconds > DEFAULT_SECONDS:
            wrong[name] = (known[guest.wasm], expected, seconds)
    assert wrong == {}


def test_verdicts_name_only_guests_that_there_are(registry: dict[str, HostileGuest]) -> None:
    names = {*registry, *(name.partition("[")[0] for name in registry)}
    assert {*verdicts.SECTIONS, *verdicts.MISUSE, *verdicts.ACCEPTED} - names == set()


@pytest.mark.parametrize(
    "name",
    [
        "test_spin.py::test_spin_in_transform_fails_the_event",
        "test_state.py::test_guest_that_slows_down_with_every_event_loses_none",
    ],
    ids=["spin", "slows-down"],
)
def test_command_of_its_own_ends_within_the_default_time(
    registry: dict[str, HostileGuest], name: str, tmp_path: Path
) -> None:
    module = tmp_path / "m.wasm"
    module.write_bytes(registry[name].wasm)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*console_script(), "test", str(module)], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stdout.splitlines()[-1][:18]) == (1, "FAIL  in propertie"), done.stdout
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < DEFAULT_SECONDS
    assert {path.name for path in tmp_path.iterdir()} <= {"m.wasm", "found-cases"}, "nothing else is left behind"


def test_sections_that_make_no_sense_after_a_failure_are_skipped_with_the_reason(tmp_path: Path) -> None:
    module = tmp_path / "m.wasm"
    module.write_bytes(build(version="(i32.const 7)"))
    report = json.loads(wasm_host("test", module, "--json", "--no-save").out)
    assert [section["status"] for section in report["sections"]] == ["fail"] + ["skip"] * 6
    assert report["sections"][3]["checks"][0]["detail"] == "contract failed"


def test_failure_names_its_part_of_the_specification(tmp_path: Path) -> None:
    module = tmp_path / "m.wasm"
    module.write_bytes(build(imports='(import "env" "clock" (func))'))
    result = wasm_host("test", module, "--no-save")
    assert "env.clock () -> () is not offered; allowed are env.log" in result.out
    assert "[SPEC.md 3]" in result.out
    assert result.out.splitlines()[-1].startswith("FAIL  in contract")
