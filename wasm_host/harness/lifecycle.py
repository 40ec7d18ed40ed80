"""Section 2: coming up, refusing, and going down."""

from typing import Any

from abi import Event, Operation, TransformError
from wasm_host.errors import ConfigError, InitError
from wasm_host.harness.outcome import run_one
from wasm_host.harness.report import Section
from wasm_host.harness.subject import Subject

_INIT = "SPEC.md 2 `init`"
_LIFE = "SPEC.md 1"

BAD_CONFIGURATIONS: tuple[dict[str, Any], ...] = (
    {"no such key \u0001\U0001f600": None},
    {"rules": 7},
    {"": [[[[[[[[{}]]]]]]]]},
    {"rules": [{"path": "a" * 5_000, "action": 2**63}]},
    {"x": b"\xff" * 2_000, "y": -(2**63), "z": float("nan")},
)
"""What nobody means: a guest must take each, or refuse it with a reason; it must not trap."""


def check_lifecycle(subject: Subject) -> Section:
    """Bring the guest up and down in every way that a host does."""
    section = Section("lifecycle")
    if not _check_start(subject, section):
        return section
    _check_without_configuration(subject, section)
    _check_bad_configurations(subject, section)
    _check_shutdown(subject, section)
    _check_second_instance(subject, section)
    return section


def _check_start(subject: Subject, section: Section) -> bool:
    """Each configuration that is going to be used; without them, nothing else can be tried."""
    for config in subject.configs:
        given = f"with its configuration ({', '.join(config)})" if config else "without configuration"
        try:
            subject.load(config).close()
        except InitError as error:
            words = error.details.get("guest_text")
            if subject.takes_config or config:
                detail = f"refuses its configuration: {words or 'no reason was logged'}"
            else:
                detail = f"needs a configuration ({words or 'no reason was logged'}); give one with --config FILE"
            section.failed("starts", detail, spec=_INIT)
            return False
        except TransformError as error:
            section.failed("starts", f"{given}: {error}", spec=_LIFE)
            return False
    section.passed("starts", f"with {len(subject.configs)} configuration(s)", count=len(subject.configs))
    return True


def _check_without_configuration(subject: Subject, section: Section) -> None:
    name = "without configuration"
    try:
        subject.load({}).close()
    except InitError as error:
        _note_refusal(section, name, error)
    except TransformError as error:
        section.failed(name, str(error), spec=_INIT)
    else:
        section.passed(name, "starts")


def _check_bad_configurations(subject: Subject, section: Section) -> None:
    name = "bad configuration"
    refused = taken = 0
    for config in BAD_CONFIGURATIONS:
        try:
            subject.load(config).close()
        except ConfigError:
            section.skipped(name, "the guest exports no init, so it takes no configuration")
            return
        except InitError as error:
            if not error.details.get("guest_text"):
                section.failed(name, "was refused without a reason: log one at level error", spec=_INIT)
                return
            refused += 1
        except TransformError as error:
            section.failed(name, f"{sorted(config)!r:.60}: {error}", spec=_INIT)
            return
        else:
            taken += 1
    section.passed(name, f"{refused} refused with a reason, {taken} accepted", count=len(BAD_CONFIGURATIONS))


def _note_refusal(section: Section, name: str, error: InitError) -> None:
    words = error.details.get("guest_text")
    if words:
        section.passed(name, f"refuses: {words}")
    else:
        section.failed(name, "is refused without a reason: log one at level error", spec=_INIT)


def _check_shutdown(subject: Subject, section: Section) -> None:
    guest = subject.load()
    has_shutdown = "shutdown" in guest.module.exports
    guest.close()
    guest.close()
    if guest.shutdown_failure:
        section.failed("shutdown", guest.shutdown_failure, spec="SPEC.md 2 `shutdown`")
    elif has_shutdown:
        section.passed("shutdown", "returns 0")
    else:
        section.passed("shutdown", "not exported, nothing to do")


def _check_second_instance(subject: Subject, section: Section) -> None:
    """Two at once, and one after the other: none may know of the others."""
    event = Event(op=Operation.INSERT, table="users", after=b'{"id":1}', primary_key=["id"]).SerializeToString()
    with subject.load() as first, subject.load() as second:
        outcomes = [run_one(first, event), run_one(second, event), run_one(first, event)]
    with subject.load() as third:
        outcomes.append(run_one(third, event))
    if all(outcome.same_as(outcomes[0]) for outcome in outcomes):
        section.passed("second instance", "answers as the first", count=len(outcomes))
    else:
        seen = " / ".join(outcome.describe() for outcome in outcomes)
        section.failed("second instance", f"four calls with one event do not agree: {seen}", spec=_LIFE)
