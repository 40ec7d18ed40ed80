"""What the harness found, as plain data: a `Report` of sections, each of checks, each with what a person needs.

The renderers in `wasm_host.report` turn it into text, JSON, JUnit and HTML; nothing here knows how it will be shown.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from wasm_host.harness.facts import ModuleFacts

Status = Literal["pass", "fail", "skip"]

SECTION_NAMES = ("contract", "lifecycle", "cases", "properties", "reference", "masking", "cost")
"""The sections, in the order in which they run and are shown."""

RUNS_TO_ITS_END = "runs to its end"
"""The check that fails when a guest ended a section before it was over."""


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One place where two events differ; `None` means that it is not there."""

    path: str
    expected: str | None
    seen: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """The event that shows a failure, as small as it could be made.

    Attributes:
        event: Canonical protobuf bytes.
        config: The configuration that the guest had.
        explanation: Lines for people: what was done, what was expected, what was seen.
        differences: Field by field, where there was something to compare with.
        saved_as: The case file that shows it again, if one was written.
    """

    event: bytes
    config: dict[str, Any]
    explanation: tuple[str, ...] = ()
    differences: tuple[FieldDifference, ...] = ()
    saved_as: str | None = None


@dataclass(slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        spec: The part of `abi/SPEC.md` that asks for it, when it failed.
        count: How many events, cases or calls it took.
    """

    name: str
    status: Status
    detail: str = ""
    spec: str | None = None
    count: int | None = None
    finding: Finding | None = None


@dataclass(slots=True)
class Section:
    """A group of checks with its time."""

    name: str
    checks: list[Check] = field(default_factory=list)
    seconds: float = 0.0

    def passed(self, name: str, detail: str = "", *, count: int | None = None) -> None:
        """Add a check that went well."""
        self.checks.append(Check(name, "pass", detail, count=count))

    def failed(
        self,
        name: str,
        detail: str,
        *,
        spec: str | None = None,
        count: int | None = None,
        finding: Finding | None = None,
    ) -> None:
        """Add a check that did not."""
        self.checks.append(Check(name, "fail", detail, spec, count, finding))

    def skipped(self, name: str, reason: str) -> None:
        """Add a check that was not made, with the reason."""
        self.checks.append(Check(name, "skip", reason))

    @property
    def status(self) -> Status:
        """Failed if one check failed; skipped if all were."""
        seen = {check.status for check in self.checks}
        if "fail" in seen:
            return "fail"
        return "pass" if "pass" in seen else "skip"

    @property
    def count(self) -> int:
        """How many checks were made."""
        return sum(check.status != "skip" for check in self.checks)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A sorted sample, with the figures that people ask for."""

    values: tuple[float, ...]

    def at(self, share: float) -> float:
        """The value below which that share of the sample lies."""
        if not self.values:
            return 0.0
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    @property
    def median(self) -> float:
        """The middle one."""
        return self.at(0.5)

    @property
    def p99(self) -> float:
        """All but one in a hundred are not above it."""
        return self.at(0.99)

    @property
    def largest(self) -> float:
        """The largest one."""
        return self.values[-1] if self.values else 0.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What the module uses.

    Attributes:
        fuel: For each event, alone.
        growth: Output bytes over input bytes, for each event that has an output.
        memory_bytes: Guest memory after all of them.
        events_per_second: On one core, in batches.
        compile_seconds: Without any cache.
        instance_seconds: A fresh instance with its `init`.
    """

    fuel: Distribution
    fuel_limit: int
    growth: Distribution
    memory_bytes: int
    memory_limit: int
    events_per_second: float
    bytes_per_second: float
    compile_seconds: float
    instance_seconds: float


@dataclass(slots=True)
class Report:
    """Everything that one run of the harness found."""

    module: ModuleFacts
    sections: list[Section] = field(default_factory=list)
    cost: Cost | None = None
    seed: int = 0
    examples: int = 0
    seconds: float = 0.0
    command: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def is_passed(self) -> bool:
        """Whether no section failed."""
        return all(section.status != "fail" for section in self.sections)

    def section(self, name: str) -> Section:
        """A section by name.

        Raises:
            KeyError: it is not in the report.
        """
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(name)

    @property
    def failures(self) -> list[tuple[Section, Check]]:
        """Every check that failed, with its section."""
        return [(section, check) for section in self.sections for check in section.checks if check.status == "fail"]
