"""Every example, in every language that it is built in, passes `wasm-host test` with its cases, twin and paths."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import guest_examples
from guest_examples.toolchains import find_toolchains
from tests.cli.command import wasm_host

BUILDS = [(name, language) for name in guest_examples.NAMES for language in guest_examples.languages_of(name)]
MASKS = {"rules": [{"path": "email", "action": "redact"}, {"path": "contact.phone", "action": "hash"},
                   {"path": "emails.*", "action": "null"}, {"path": "*.ssn", "action": "hmac"}],
         "hmac_key": "a key of enough bytes"}  # fmt: skip
MUST_MASK = ("email", "contact.phone", "emails.*", "*.ssn")


def options_of(name: str, language: str) -> list[str]:
    module = str(guest_examples.path(name, language))
    wasi = ["--wasi"] if find_toolchains()[language].needs_wasi else []
    return [module, *wasi, "--no-save", "--against", f"guest_examples.{name}.twin:build"]


def failed_checks(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Section, name and detail of what failed, for the message of an assertion."""
    return [
        (section["name"], check["name"], check["detail"])
        for section in report["sections"]
        for check in section["checks"]
        if check["status"] == "fail"
    ]


@pytest.mark.parametrize(("name", "language"), BUILDS, ids=[f"{name}-{language}" for name, language in BUILDS])
def test_example_passes_with_cases_and_twin(name: str, language: str) -> None:
    started = time.process_time()
    result = wasm_host("test", *options_of(name, language), "--json")
    report = json.loads(result.out)
    assert (result.status, failed_checks(report)) == (0, [])
    statuses = {section["name"]: section["status"] for section in report["sections"]}
    assert statuses == {**dict.fromkeys(statuses, "pass"), "masking": "skip"}
    # The promise of the default time; in processor time, because what else the machine does is not the command's doing.
    assert time.process_time() - started < 10


@pytest.mark.parametrize("language", guest_examples.languages_of("mask_pii"))
def test_masking_example_proves_its_paths(language: str, tmp_path: Path) -> None:
    config = tmp_path / "mask.json"
    config.write_text(json.dumps(MASKS))
    paths = [part for path in MUST_MASK for part in ("--must-mask", path)]
    started = time.process_time()
    result = wasm_host("test", *options_of("mask_pii", language), "--config", config, *paths, "--json")
    assert time.process_time() - started < 10
    report = json.loads(result.out)
    assert (result.status, failed_checks(report)) == (0, [])
    masking = next(section for section in report["sections"] if section["name"] == "masking")
    assert masking["status"] == "pass", masking
    assert masking["checks"][0]["count"] > 500


def test_one_example_prints_a_line_for_each_section_and_no_colour() -> None:
    result = wasm_host("test", *options_of("pass_through", "wat"), "--examples", "50")
    lines = result.out.splitlines()
    assert [line.split()[1] for line in lines[1:8]] == [
        "contract", "lifecycle", "cases", "properties", "reference", "masking", "cost",
    ]  # fmt: skip
    assert lines[-1].startswith("PASS")
    assert "\x1b" not in result.out
