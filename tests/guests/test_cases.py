"""The golden cases hold for every build of an example and for its native twin."""

import json
from pathlib import Path

import pytest

from guest_examples import NAMES, twin
from guest_examples.toolchains import EXAMPLES
from tests.guests.examples import BUILDS, load_example
from wasm_host import ConfigError
from wasm_host.cases import Case, load_case, load_cases, run_case
from wasm_host.native import Pipeline

CASES = {name: load_cases(EXAMPLES / name / "cases") for name in NAMES}


@pytest.mark.parametrize(("name", "language"), BUILDS)
def test_guest_keeps_its_golden_cases(name: str, language: str) -> None:
    assert CASES[name], f"{name} has no cases"
    problems = [
        problem
        for case in CASES[name]
        for problem in run_case(case, lambda config: load_example(name, language, config))
    ]
    assert problems == []


@pytest.mark.parametrize("name", NAMES)
def test_twin_keeps_its_golden_cases(name: str) -> None:
    problems = [
        problem
        for case in CASES[name]
        for problem in run_case(case, lambda config: Pipeline([twin(name).build(config)]))
    ]
    assert problems == []


def _write(folder: Path, **members: object) -> Case:
    file = folder / "one.json"
    file.write_text(json.dumps({"description": "d", **members}))
    return load_case(file)


def test_case_that_does_not_hold_is_described_with_both_sides(tmp_path: Path) -> None:
    event = {"op": "INSERT", "table": "t", "after": "{}"}
    case = _write(tmp_path, events=[{"input": event, "expect": {"unchanged": True}}])
    problems = run_case(case, lambda config: load_example("drop_all", "wat", config))
    assert len(problems) == 1
    assert problems[0].startswith("one.json: events[0] gave nothing (dropped); expected {")


def test_case_whose_configuration_is_taken_though_it_must_be_refused_is_described(tmp_path: Path) -> None:
    case = _write(tmp_path, config={}, refused="never")
    problems = run_case(case, lambda config: load_example("flatten", "zig", config))
    assert problems == ["one.json: the configuration was taken; it must be refused with 'never'"]


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({}, "the case needs either events or refused"),
        ({"events": []}, "events must be a list of at least one event"),
        ({"evnts": []}, "the case has an unknown member 'evnts'"),
        ({"events": [{"input": {"tabel": "x"}, "expect": {"dropped": True}}]}, "events[0].input is not an Event"),
        ({"events": [{"input": {}, "expect": {}}]}, "events[0].expect needs exactly one of"),
        ({"events": [{"input": {"base64": "?"}, "expect": {"dropped": True}}]}, "events[0].input is not base64"),
        ({"config": {"k": {"$bytes": "?"}}, "refused": "x"}, "config.k is not base64"),
        ({"events": [{"input": {}, "expect": {"dropped": False}}]}, "events[0].expect.dropped must be true"),
    ],
)
def test_file_that_is_no_case_is_refused_with_the_place(
    tmp_path: Path, members: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigError, match=r"one\.json") as caught:
        _write(tmp_path, **members)
    assert problem in caught.value.message
