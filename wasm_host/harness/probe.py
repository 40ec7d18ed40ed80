"""One guest under test with one configuration, and how a violation becomes a line in the report."""

from collections.abc import Callable
from dataclasses import dataclass

from wasm_host.guest import Guest, Isolation
from wasm_host.harness.found_case import save_found_case
from wasm_host.harness.report import FieldDifference, Finding, Section
from wasm_host.harness.shrink import shrink_event
from wasm_host.harness.subject import Configuration, Subject, Trial


@dataclass(frozen=True, slots=True)
class Violation:
    """Why one event breaks a property."""

    problem: str
    explanation: tuple[str, ...] = ()
    differences: tuple[FieldDifference, ...] = ()


Judge = Callable[[bytes], Violation | None]
"""Says why an event breaks a property, or None when it does not."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What the properties of one configuration need."""

    subject: Subject
    config: Configuration
    trial: Trial
    section: Section

    def load(self, isolation: Isolation) -> Guest:
        """Bring up a guest with this configuration."""
        return self.subject.load(self.config, isolation=isolation)

    def report_violation(self, name: str, event: bytes, judge: Judge, *, count: int, spec: str | None = None) -> None:
        """Make the event smaller, save it as a case, and add the failed check."""
        smallest = shrink_event(event, lambda candidate: judge(candidate) is not None)
        violation = judge(smallest) or Violation("an event broke it once, and not again")
        finding = Finding(
            event=smallest,
            config=dict(self.config),
            explanation=violation.explanation,
            differences=violation.differences,
            saved_as=save_found_case(self.trial.saves, name, violation.problem, self.config, smallest),
        )
        self.section.failed(name, violation.problem, spec=spec, count=count, finding=finding)
