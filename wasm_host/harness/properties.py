"""Section 4: what must hold for every event, tried on generated and on odd ones.

Each property looks at all events in bulk, inside WebAssembly, which is quick; where one breaks, the event is made
smaller with the same judgement on single events, and kept as a case.
"""

from collections.abc import Callable, Sequence

from wasm_host.dialects.protobuf_v1 import ProtobufV1
from wasm_host.guest import Guest
from wasm_host.harness.ageing import ageing
from wasm_host.harness.corpus import Corpus, with_unknown_fields
from wasm_host.harness.difference import differences
from wasm_host.harness.event_rules import lost_key, lost_unknown_fields
from wasm_host.harness.guest_words import LOGS, check_words
from wasm_host.harness.memory_level import check_memory_level
from wasm_host.harness.outcome import Outcome, outcomes_of, run_all, run_one
from wasm_host.harness.probe import Probe, Violation
from wasm_host.harness.report import RUNS_TO_ITS_END, Section
from wasm_host.harness.subject import Subject, Trial

_PROBE_EVENTS = 16
_MAX_BROKEN = 3
_BATCH_SIZES = (1, 7, 64)
_NO_TRAP, _DECODES = "no trap", "output decodes"
_MAKE_UNSOUND = (_NO_TRAP, _DECODES, LOGS, RUNS_TO_ITS_END)
_ANY_ANSWER = ("expected: any answer (keep, change, several, drop, or a failure of kind 2)",)


def check_properties(subject: Subject, trial: Trial, corpus: Corpus) -> Section:
    """Try every property with every configuration."""
    section = Section("properties")
    for config in subject.configs:
        share = corpus.ordinary[:: len(subject.configs)] if len(subject.configs) > 1 else corpus.ordinary
        _Properties(Probe(subject, config, trial, section), share, corpus).check_all()
        if section.status == "fail":
            break
    _merge_passed(section)
    return section


def is_sound(section: Section) -> bool:
    """Whether the guest answers every event and floods nobody, so that it makes sense to send it more."""
    return not any(check.status == "fail" and check.name in _MAKE_UNSOUND for check in section.checks)


class _Properties:
    """The properties of one guest with one configuration."""

    def __init__(self, probe: Probe, ordinary: Sequence[bytes], corpus: Corpus) -> None:
        self._probe = probe
        self._ordinary = list(ordinary)
        self._corpus = corpus

    def check_all(self) -> None:
        with self._probe.load("event") as fresh, self._probe.load("worker") as worker:
            self._fresh = fresh
            self._worker = worker
            self._check_sound()
            if self._has_failed():
                return
            check_words(self._probe, [*self._ordinary, *self._corpus.odd])
            if self._has_failed():
                return  # reading what it says takes so long that the rest would not fit the time
            self._check_deterministic()
            self._check_stateless()
            self._check_unknown_fields()
            self._check_key()
        if is_sound(self._probe.section):
            check_memory_level(self._probe, self._ordinary, len(self._probe.subject.configs))

    def _has_failed(self) -> bool:
        return self._probe.section.status == "fail"

    def _check_sound(self) -> None:
        """No trap on any event, odd ones included, and every answer an answer."""
        corpus = self._corpus
        # A few ordinary ones first: what breaks there is easier to understand than what breaks on the odd ones.
        events = [*self._ordinary[:_PROBE_EVENTS], *corpus.odd, *corpus.not_events, *self._ordinary[_PROBE_EVENTS:]]
        traps: list[bytes] = []
        breaches: list[bytes] = []
        start, size = 0, _PROBE_EVENTS
        while start < len(events) and len(traps) + len(breaches) < _MAX_BROKEN:
            batch = events[start : start + size]
            for event, outcome in zip(batch, run_all(self._worker, batch), strict=True):
                if outcome.is_trap:
                    traps.append(event)
                elif outcome.is_breach and event not in corpus.not_events:
                    breaches.append(event)
            start, size = start + size, size * 2
        tried = min(start, len(events))
        self._settle(_DECODES, breaches, lambda event: self._broken(event, "is_breach"), tried, "SPEC.md 4 to 6")
        self._settle(_NO_TRAP, traps, lambda event: self._broken(event, "is_trap"), tried, "SPEC.md 9.2")

    def _broken(self, event: bytes, kind: str) -> Violation | None:
        outcome = run_one(self._fresh, event)
        if not getattr(outcome, kind):
            return None
        return Violation(
            outcome.message or outcome.describe(),
            _ANY_ANSWER,
        )

    def _settle(
        self,
        name: str,
        broken: Sequence[bytes],
        judge: Callable[[bytes], Violation | None],
        count: int,
        spec: str,
    ) -> None:
        if not broken:
            self._probe.section.passed(name, count=count)
            return
        self._probe.report_violation(name, broken[0], judge, count=count, spec=spec)

    def _check_deterministic(self) -> None:
        events = self._ordinary
        first, second = self._fresh.transform(events), self._fresh.transform(events)
        pairs = zip(outcomes_of(first, len(events)), outcomes_of(second, len(events)), strict=True)
        broken = [event for event, (one, other) in zip(events, pairs, strict=True) if not one.same_as(other)]
        # Fuel and words are compared for the whole batch; only when they differ is the event looked for.
        if not broken and (first.stats.fuel, first.logs, first.metrics) != (
            second.stats.fuel,
            second.logs,
            second.metrics,
        ):
            broken = [event for event in events if self._judge_deterministic(event)]
        self._settle("deterministic", broken, self._judge_deterministic, 2 * len(events), "SPEC.md 14")

    def _judge_deterministic(self, event: bytes) -> Violation | None:
        first, second = self._fresh.transform([event]), self._fresh.transform([event])
        one, other = outcomes_of(first, 1)[0], outcomes_of(second, 1)[0]
        if not one.same_as(other):
            return _disagreement("the same event twice, each time on a fresh instance", one, other)
        if first.stats.fuel != second.stats.fuel:
            return Violation(f"used {first.stats.fuel:,} fuel the first time and {second.stats.fuel:,} the second")
        if (first.logs, first.metrics) != (second.logs, second.metrics):
            return Violation("logged or measured something else the second time")
        return None

    def _check_stateless(self) -> None:
        """The law: an event's outcome is what a fresh instance gives it, whatever came before it."""
        events = self._ordinary
        expected = run_all(self._fresh, events)
        count = 0
        for size in _BATCH_SIZES:
            for order in (events, events[::-1]):
                wanted = expected if order is events else expected[::-1]
                count += len(order)
                at = _first_difference(_in_batches(self._worker, order, size), wanted)
                if at is not None:
                    self._report_state(order, at, count)
                    return
        problem = ageing(self._probe, events)
        if problem:
            self._probe.section.failed("stateless", problem, spec="SPEC.md 9.1", count=count)
            return
        self._probe.section.passed("stateless", "order, batch size and fresh instances do not matter", count=count)

    def _report_state(self, order: Sequence[bytes], at: int, count: int) -> None:
        """Some guests remember any event, some only certain ones: find a short history that shows it."""
        for history in ([order[at]], [order[0]], list(order[max(0, at - 20) : at]), list(order[:at])):

            def judge(event: bytes, history: list[bytes] = history) -> Violation | None:
                return self._judge_stateless([*history[:-1], event] if history == [event] else history, event)

            if judge(order[at]) is not None:
                self._probe.report_violation("stateless", order[at], judge, count=count, spec="SPEC.md 9.1")
                return
        self._probe.report_violation(
            "stateless", order[at], lambda _: Violation("answered otherwise than on a fresh instance"), count=count,
            spec="SPEC.md 9.1",
        )  # fmt: skip

    def _judge_stateless(self, history: list[bytes], event: bytes) -> Violation | None:
        fresh = run_one(self._fresh, event)
        with self._probe.load("worker") as guest:
            used = run_all(guest, [*history, event])[-1]
        if fresh.same_as(used):
            return None
        return _disagreement(f"fresh instance, against one that had seen {len(history)} event(s)", fresh, used)

    def _check_unknown_fields(self) -> None:
        if self._worker.module.dialect.name != ProtobufV1.name:
            self._probe.section.skipped("unknown fields survive", "the module's dialect has no place for them")
            return
        events = [with_unknown_fields(event) for event in self._ordinary]
        self._check_rule("unknown fields survive", events, lost_unknown_fields, "SPEC.md 6.1")

    def _check_key(self) -> None:
        self._check_rule("primary key resolvable", self._ordinary, lost_key, "SPEC.md 6.1")

    def _check_rule(
        self, name: str, events: Sequence[bytes], rule: Callable[[bytes, bytes], str | None], spec: str
    ) -> None:
        def judge(event: bytes) -> Violation | None:
            for output in run_one(self._worker, event).outputs:
                problem = rule(event, output) if output is not None else None
                if problem and output is not None:
                    return Violation(problem, differences=differences(event, output))
            return None

        outcomes = run_all(self._worker, events)
        broken = [
            event
            for event, outcome in zip(events, outcomes, strict=True)
            if any(output is not None and rule(event, output) for output in outcome.outputs)
        ]
        self._settle(name, broken, judge, sum(len(outcome.outputs) for outcome in outcomes), spec)


def _disagreement(what: str, one: Outcome, other: Outcome) -> Violation:
    shown = differences(one.outputs[0], other.outputs[0]) if one.outputs and other.outputs else ()
    return Violation(f"{what}: {one.describe()} / {other.describe()}", differences=shown)


def _in_batches(guest: Guest, events: Sequence[bytes], size: int) -> list[Outcome]:
    return [
        outcome for start in range(0, len(events), size) for outcome in run_all(guest, events[start : start + size])
    ]


def _first_difference(seen: Sequence[Outcome], expected: Sequence[Outcome]) -> int | None:
    for at, (one, other) in enumerate(zip(seen, expected, strict=True)):
        if not one.same_as(other):
            return at
    return None


def _merge_passed(section: Section) -> None:
    """With several configurations each property has passed several times: one line is enough."""
    merged: dict[tuple[str, str], int] = {}
    for index, check in enumerate(list(section.checks)):
        key = (check.name, check.status)
        if check.status != "fail" and key in merged:
            first = section.checks[merged[key]]
            first.count = (first.count or 0) + (check.count or 0)
            section.checks[index].name = ""
        else:
            merged[key] = index
    section.checks = [check for check in section.checks if check.name]
