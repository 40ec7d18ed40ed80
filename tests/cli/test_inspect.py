"""`wasm-host inspect`: what a module is, also one that the host refuses."""

import json
from pathlib import Path

import pytest

import guest_examples
from tests.cli.command import wasm_host
from tests.hostile.wat_guest import build
from wasm_host.engine import _GUEST_PROPOSALS
from wasm_host.harness import proposals


def test_accepted_module_shows_its_facts() -> None:
    result = wasm_host("inspect", guest_examples.path("mask_pii"))
    assert result.status == 0
    assert "contract    wasm-host/1" in result.out
    assert "transform (i32, i32) -> i64" in result.out
    assert result.out.splitlines()[-1].endswith("this host takes it")


def test_json_has_the_digest_and_no_refusals() -> None:
    path = guest_examples.path("mask_pii", "rust")
    facts = json.loads(wasm_host("inspect", path, "--json").out)
    import hashlib

    assert facts["digest"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (facts["is_taken"], facts["refusals"]) == (True, [])
    assert facts["proposals"] == ["bulk memory", "simd"]


def test_language_is_shown_when_the_module_says_it(tmp_path: Path) -> None:
    producers = b"\x09producers\x01\x08language\x01\x04Rust\x041.80"
    module = tmp_path / "m.wasm"
    module.write_bytes(build() + b"\x00" + bytes([len(producers)]) + producers)
    assert "language    Rust 1.80" in wasm_host("inspect", module).out


def test_refused_module_shows_every_reason(tmp_path: Path) -> None:
    module = tmp_path / "m.wasm"
    module.write_bytes(
        build(imports='(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))'
              '(import "env" "log" (func (param i32)))', memory='(memory (export "memory") 4000)')
    )  # fmt: skip
    result = wasm_host("inspect", module)
    assert result.status == 1
    reasons = [line for line in result.out.splitlines() if "refused:" in line]
    assert [word in " ".join(reasons) for word in ("see --wasi", "another type", "max_memory_bytes")] == [True] * 3
    assert len(reasons) == 3


def test_names_in_a_module_cannot_move_the_cursor(tmp_path: Path) -> None:
    module = tmp_path / "m.wasm"
    module.write_bytes(build(extra='(func (export "\\1b[2Jevil\\n"))'))
    out = wasm_host("inspect", module).out
    assert "\x1b" not in out
    assert r"\x1b[2Jevil\n" in out


@pytest.mark.parametrize("name", proposals._SETTINGS)
def test_proposals_are_judged_as_the_engine_is_set(name: str) -> None:
    assert (name in proposals.ALLOWED) == _GUEST_PROPOSALS[proposals._SETTINGS[name]]
    # Making the engine must not end the process.
    assert proposals.is_wasm(b"\0asm\x01\0\0\0")
    assert name not in proposals.proposals_used(b"\0asm\x01\0\0\0")
