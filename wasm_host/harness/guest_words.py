"""What a guest says: log lines that fit, and failure texts that people can read."""

import re
from collections.abc import Sequence

from wasm_host.guest import Guest
from wasm_host.harness.outcome import run_all, run_one
from wasm_host.harness.probe import Probe, Violation

LOGS = "logs and metrics"
_MAX_JUDGED = 20
# What the host writes in place of bytes that are no UTF-8. Control characters are let be: they may come from a column's
# name that the guest quotes.
_ESCAPED = re.compile(r"\\x[a-f][0-9a-f]")


def check_words(probe: Probe, events: Sequence[bytes]) -> None:
    """Look at logs, metrics and failure texts of all events.

    On new instances: texts that lie in the guest's memory may have been written over by earlier events.
    """
    with probe.load("worker") as guest:
        _check_logs(probe, guest, events)
    with probe.load("worker") as guest:
        _check_failures(probe, guest, events)


def _check_logs(probe: Probe, guest: Guest, events: Sequence[bytes]) -> None:
    """A single event must not fill the log of a whole batch: what others log would be lost."""

    def judge(event: bytes) -> Violation | None:
        stats = guest.transform([event]).stats
        if not stats.log_lines_lost and not stats.metrics_lost:
            return None
        return Violation(
            f"one event alone lost {stats.log_lines_lost:,} log lines and {stats.metrics_lost:,} metrics: it says more "
            f"than a whole batch may (max_log_bytes_per_batch is {guest.limits.max_log_bytes_per_batch:,})"
        )

    stats = guest.transform(events).stats
    is_lossy = bool(stats.log_lines_lost or stats.metrics_lost)
    broken = next((event for event in events[:_MAX_JUDGED] if judge(event)), None) if is_lossy else None
    if broken is not None:
        probe.report_violation(LOGS, broken, judge, count=len(events), spec="SPEC.md 3")
    elif stats.metrics_lost:
        detail = (
            f"{stats.metrics_lost:,} metrics of {len(events):,} events were lost: together they have more names than a "
            "host keeps; take names from the code or the configuration, not from events"
        )
        probe.section.failed(LOGS, detail, spec="SPEC.md 3", count=len(events))
    else:
        probe.section.passed(LOGS, count=len(events))


def _check_failures(probe: Probe, guest: Guest, events: Sequence[bytes]) -> None:
    def judge(event: bytes) -> Violation | None:
        problem = _problem(run_one(guest, event).words)
        return Violation(problem) if problem else None

    outcomes = run_all(guest, events)
    failed = sum(outcome.code is not None for outcome in outcomes)
    broken = [event for event, outcome in zip(events, outcomes, strict=True) if _problem(outcome.words)]
    if broken:
        probe.report_violation("failure texts", broken[0], judge, count=failed, spec="SPEC.md 4")
    else:
        probe.section.passed("failure texts", count=failed)


def _problem(words: str | None) -> str | None:
    if words is None:
        return None
    if words.endswith("…"):
        return "the text of a failure is longer than max_error_message_bytes"
    if _ESCAPED.search(words):
        return f'the text of a failure is not UTF-8: "{words[:120]}"'
    return None
