"""Section 3: golden cases. What goes in, what must come out, and where the two part."""

import json
from pathlib import Path
from typing import Any

from abi import Event
from wasm_host.cases import Case, CaseEvent, load_case
from wasm_host.errors import ConfigError, InitError
from wasm_host.harness.difference import differences, show_event
from wasm_host.harness.found_case import input_of
from wasm_host.harness.outcome import Outcome, run_all
from wasm_host.harness.report import Finding, Section
from wasm_host.harness.subject import Configuration, Subject, Trial

_MAX_CONFIGURATIONS = 4


def case_files(trial: Trial) -> list[Path]:
    """The case files of a trial: one file, or all of a folder.

    Raises:
        ConfigError: the folder or file cannot be read.
    """
    if trial.cases is None:
        return []
    if trial.cases.is_file():
        return [trial.cases]
    if not trial.cases.is_dir():
        raise ConfigError(f"no folder or file {trial.cases}", hint="give the folder with the cases")
    return sorted(trial.cases.glob("*.json"))


def configurations_of(trial: Trial) -> list[Configuration]:
    """The different configurations that the cases run with, a few at most."""
    found: list[Configuration] = []
    for file in case_files(trial):
        case = load_case(file)
        if case.refused is None and case.config not in found:
            found.append(case.config)
    return found[:_MAX_CONFIGURATIONS]


def check_cases(subject: Subject, trial: Trial) -> Section:
    """Run every case; with `updates`, write what came out as what is expected."""
    section = Section("cases")
    files = case_files(trial)
    if not files:
        where = f"no *.json in {trial.cases}" if trial.cases else "no folder cases/ beside the module, and no --cases"
        section.skipped("cases", where)
    for file in files:
        case = load_case(file)
        if case.refused is not None:
            _check_refusal(subject, case, section)
        else:
            _check_case(subject, case, file, section, updates=trial.updates)
    return section


def _check_refusal(subject: Subject, case: Case, section: Section) -> None:
    wanted = case.refused or ""
    try:
        subject.load(case.config).close()
    except InitError as error:
        words = str(error.details.get("guest_text") or "")
        if wanted in words or wanted in str(error):
            section.passed(case.name, "refuses its configuration", count=1)
        else:
            section.failed(case.name, f"refused with {words!r}; expected {wanted!r}")
    else:
        section.failed(case.name, f"the configuration was taken; it must be refused with {wanted!r}")


def _check_case(subject: Subject, case: Case, file: Path, section: Section, *, updates: bool) -> None:
    try:
        guest = subject.load(case.config)
    except InitError as error:
        section.failed(case.name, f"the configuration was refused: {error.details.get('guest_text') or error}")
        return
    with guest:
        outcomes = run_all(guest, [event.input for event in case.events])
    wrong = [
        (index, event, outcome)
        for index, (event, outcome) in enumerate(zip(case.events, outcomes, strict=True))
        if not holds(event, outcome)
    ]
    if wrong and updates:
        _update(file, {index: outcome for index, _, outcome in wrong})
        section.passed(case.name, f"{len(wrong)} expectation(s) rewritten", count=len(case.events))
        return
    if not wrong:
        section.passed(case.name, case.description, count=len(case.events))
    for index, event, outcome in wrong[:5]:
        section.failed(
            case.name, f"events[{index}] {_mismatch(event, outcome)}", finding=_finding(case, event, outcome)
        )


def holds(event: CaseEvent, outcome: Outcome) -> bool:
    """Whether an outcome is the expected one; events are compared by content, so field order does not matter."""
    if event.is_open:
        return not outcome.is_trap and not outcome.is_breach
    if event.failure is not None or outcome.code is not None:
        return event.failure == (outcome.words or outcome.message)
    return [*map(_canonical, event.outputs)] == [*map(_canonical, outcome.outputs)]


def _canonical(event: bytes | None) -> bytes | None:
    return None if event is None else Event.FromString(event).SerializeToString(deterministic=True)


def _mismatch(event: CaseEvent, outcome: Outcome) -> str:
    if event.is_open:
        return f"gave {outcome.describe()}; any answer is expected, but no trap and no breach of the contract"
    wanted = Outcome(event.outputs, None if event.failure is None else "GUEST_FAILURE", event.failure)
    return f"gave {outcome.describe()}; expected {wanted.describe()}"


def _finding(case: Case, event: CaseEvent, outcome: Outcome) -> Finding:
    found: tuple[Any, ...] = ()
    lines: list[str] = []
    for expected, seen in zip(event.outputs, outcome.outputs, strict=False):
        if _canonical(expected) != _canonical(seen):
            found = differences(expected, seen)
            break
    if len(event.outputs) != len(outcome.outputs) and not event.is_open:
        lines += [f"expected output: {show_event(output)}" for output in event.outputs]
        lines += [f"seen output: {show_event(output)}" for output in outcome.outputs]
    if event.failure is not None and outcome.code is not None:
        lines += [f"expected failure: {event.failure}", f"seen failure: {outcome.words or outcome.message}"]
    return Finding(event.input, case.config, tuple(lines), found)


def _update(file: Path, outcomes: dict[int, Outcome]) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    for index, outcome in outcomes.items():
        document["events"][index]["expect"] = _expectation(document["events"][index], outcome)
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _expectation(entry: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    if outcome.code is not None:
        return {"failure": outcome.words or outcome.message}
    outputs = [input_of(output) for output in outcome.outputs if output is not None]
    if not outputs:
        return {"dropped": True}
    return {"unchanged": True} if outputs == [entry["input"]] else {"events": outputs}
