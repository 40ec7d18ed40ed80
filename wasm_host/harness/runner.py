"""Run the sections in order; what makes a later one senseless stops it, and the report says so."""

import time
from collections.abc import Callable
from functools import cached_property
from importlib.metadata import version

from wasm_host.errors import GuestError
from wasm_host.harness.cases import check_cases, configurations_of
from wasm_host.harness.contract import check_contract, check_version
from wasm_host.harness.corpus import Corpus
from wasm_host.harness.cost import check_cost
from wasm_host.harness.facts import facts_of
from wasm_host.harness.lifecycle import check_lifecycle
from wasm_host.harness.masking import check_masking, check_request
from wasm_host.harness.properties import check_properties, is_sound
from wasm_host.harness.reference import check_reference, load_twin
from wasm_host.harness.report import RUNS_TO_ITS_END, SECTION_NAMES, Report, Section
from wasm_host.harness.subject import Subject, Trial, with_configurations

Progress = Callable[[str], None]


def run_harness(subject: Subject, trial: Trial, *, progress: Progress | None = None) -> Report:
    """Test a module.

    Args:
        subject: The module with its limits and configuration.
        trial: How far to go.
        progress: Called with the name of each section before it begins.

    Raises:
        ConfigError: the cases or the twin cannot be read.
    """
    started = time.perf_counter()
    report = Report(
        facts_of(subject.wasm, subject.path),
        seed=trial.seed,
        examples=trial.examples,
        versions={name: version(name) for name in ("wasm-host", "wasmtime", "hypothesis")},
    )
    _Run(subject, trial, report, progress or (lambda _: None)).all()
    report.seconds = time.perf_counter() - started
    return report


class _Run:
    def __init__(self, subject: Subject, trial: Trial, report: Report, progress: Progress) -> None:
        self._subject = with_configurations(subject, configurations_of(trial))
        # What the caller got wrong is said before anything runs.
        check_request(self._subject, trial)
        if trial.against is not None:
            load_twin(trial.against)
        self._trial = trial
        self._report = report
        self._progress = progress

    def all(self) -> None:
        subject, trial = self._subject, self._trial
        if not self._section("contract", self._contract) or not self._section(
            "lifecycle", lambda: check_lifecycle(subject)
        ):
            self._skip_rest(f"{self._report.sections[-1].name} failed")
            return
        self._section("cases", lambda: check_cases(subject, trial))
        self._section("properties", lambda: check_properties(subject, trial, self._corpus))
        if not is_sound(self._report.sections[-1]):
            # Every further event may cost its whole fuel; there is nothing to learn from that.
            self._skip_rest("properties failed")
            return
        self._section("reference", lambda: check_reference(subject, trial, self._corpus))
        self._section("masking", lambda: check_masking(subject, trial))
        self._section("cost", lambda: check_cost(subject, self._corpus, self._report))

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus.generate(self._trial)

    def _contract(self) -> Section:
        section = check_contract(self._subject)
        if section.status != "fail":
            check_version(self._subject, section)
        return section

    def _section(self, name: str, check: Callable[[], Section]) -> bool:
        self._progress(name)
        started = time.perf_counter()
        try:
            section = check()
        except GuestError as error:
            section = Section(name)
            section.failed(RUNS_TO_ITS_END, str(error))
        section.seconds = time.perf_counter() - started
        self._report.sections.append(section)
        return section.status != "fail"

    def _skip_rest(self, reason: str) -> None:
        for name in SECTION_NAMES[len(self._report.sections) :]:
            section = Section(name)
            section.skipped(name, reason)
            self._report.sections.append(section)
