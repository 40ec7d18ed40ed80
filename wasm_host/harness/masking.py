"""Section 6: the masking proof. Values at the named paths appear nowhere: not in outputs, logs, errors or metrics."""

from collections.abc import Iterator, Sequence

from google.protobuf.message import DecodeError

from abi import Event
from wasm_host.errors import ConfigError
from wasm_host.guest import Guest
from wasm_host.harness.dotted_path import Path, parse_json, parse_path, scalars_below, values_at
from wasm_host.harness.leaks import find_leak
from wasm_host.harness.planting import Planted, Planter
from wasm_host.harness.probe import Probe, Violation
from wasm_host.harness.report import Section
from wasm_host.harness.subject import Subject, Trial
from wasm_host.result import BatchResult

_NAME = "masked"
_MIN_EVENTS = 300


def check_request(subject: Subject, trial: Trial) -> None:
    """Return if it is clear what is to be proven.

    Raises:
        ConfigError: a path cannot be read, or several configurations could be meant.
    """
    for text in trial.must_mask:
        parse_path(text)
    if trial.must_mask and len(subject.configs) > 1:
        raise ConfigError("the cases have several configurations", hint="say with --config FILE which one must mask")


def check_masking(subject: Subject, trial: Trial) -> Section:
    """Plant secrets, run them, and look for them everywhere."""
    section = Section("masking")
    if not trial.must_mask:
        section.skipped(_NAME, "no paths were named with --must-mask")
        return section
    paths = [parse_path(text) for text in trial.must_mask]
    probe = Probe(subject, subject.configs[0], trial, section)
    planted = Planter(paths, trial.seed).make(max(trial.examples, _MIN_EVENTS))
    with probe.load("worker") as guest:
        _prove(probe, guest, planted, paths)
    return section


def _prove(probe: Probe, guest: Guest, planted: Sequence[Planted], paths: Sequence[Path]) -> None:
    values = sum(len(item.secrets) for item in planted)
    for item in planted:
        if _leak(guest, item.event, item.secrets) is None:
            continue

        def judge(
            event: bytes, original: bytes = item.event, secrets: tuple[str, ...] = item.secrets
        ) -> Violation | None:
            if _has_json_rows(original) and not _has_json_rows(event):
                return None  # cut to pieces, an event is smaller and tells less
            leak = _leak(guest, event, _still_secret(event, secrets, paths))
            return None if leak is None else Violation(f"a value that must be masked is in {leak}")

        probe.report_violation(_NAME, item.event, judge, count=values, spec="SPEC.md 7.3 and 14")
        return
    probe.section.passed(_NAME, f"{values:,} values at {', '.join(probe.trial.must_mask)} appear nowhere", count=values)


def _leak(guest: Guest, event: bytes, secrets: Sequence[str]) -> str | None:
    # One event a call, so that nothing of another event's words is lost to the bounds of the log.
    return find_leak(secrets, _places(guest.transform([event])))


def _places(result: BatchResult) -> Iterator[tuple[str, bytes]]:
    for output in result.events.to_pylist():
        yield from _parts(output)
    for failure in result.failures:
        yield "the text of a failure", f"{failure.guest_text or ''} {failure.message}".encode()
    for line in result.logs:
        yield "a log line", line.text.encode()
    for name in result.metrics:
        yield "the name of a metric", name.encode()


def _parts(output: bytes | None) -> Iterator[tuple[str, bytes]]:
    if output is None:
        return
    event = Event.FromString(output)
    for image in ("before", "after"):
        if event.HasField(image):
            yield f"`{image}` of an output", getattr(event, image)
            event.ClearField(image)
    for key, value in event.attributes.items():
        yield f"the attribute {key} of an output", value
    event.attributes.clear()
    yield "another field of an output", event.SerializeToString()


def _rows(event: bytes) -> list[bytes]:
    try:
        message = Event.FromString(event)
    except DecodeError:
        return []
    return [getattr(message, image) for image in ("before", "after") if message.HasField(image)]


def _has_json_rows(event: bytes) -> bool:
    try:
        return all(parse_json(row) is not None for row in _rows(event))
    except (ValueError, RecursionError):
        return False


def _still_secret(event: bytes, secrets: tuple[str, ...], paths: Sequence[Path]) -> list[str]:
    """Which values are still at their paths, after the event was made smaller: a renamed column is no secret."""
    rows = _rows(event)
    if not _has_json_rows(event):
        return [secret for secret in secrets if any(secret.encode() in row for row in rows)]
    found = {
        text
        for row in rows
        for path in paths
        for value in values_at(parse_json(row), path)
        for text in scalars_below(value)
    }
    attributes = b"".join(Event.FromString(event).attributes.values())
    return [secret for secret in secrets if secret in found or secret.encode() in attributes]
