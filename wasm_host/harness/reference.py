"""Section 5: the same as plain Python. A native twin answers the same events; verdict and content must be equal."""

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from abi import ConfigRefused, Event, EventFailure
from wasm_host.cases import load_case
from wasm_host.errors import ConfigError
from wasm_host.harness.cases import case_files
from wasm_host.harness.corpus import Corpus
from wasm_host.harness.difference import differences
from wasm_host.harness.outcome import Outcome, run_all, run_one
from wasm_host.harness.probe import Probe, Violation
from wasm_host.harness.report import Section
from wasm_host.harness.subject import Configuration, Subject, Trial
from wasm_host.native import Pipeline, Transform

Builder = Callable[[Configuration], Transform]


def load_twin(name: str) -> Builder:
    """Import `PACKAGE.MODULE:NAME`; modules of the current folder are found too.

    NAME (by default `build`) takes the configuration and returns the transform. A function whose only parameter is
    called `event` or annotated as an `Event` is taken for the transform itself.

    Raises:
        ConfigError: it cannot be imported, or is not callable.
    """
    module_name, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module_name), attribute or "build")
    except Exception as error:  # the author's module may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"cannot import the twin {name!r}: {reason}",
            hint="write PACKAGE.MODULE:NAME, and see that it can be imported",
        ) from error
    if not callable(found):
        raise ConfigError(f"the twin {name!r} is a {type(found).__name__}", hint="name a function")
    if _is_transform(found):
        return lambda _: found

    def build(config: Configuration) -> Transform:
        try:
            transform: Transform = found(config)
        except ConfigRefused:
            raise
        except Exception as error:  # as above
            reason = f"{type(error).__name__}: {error}"
            raise ConfigError(
                f"the twin {name!r} failed with its configuration: {reason}", hint="correct it"
            ) from error
        return transform

    return build


def _is_transform(function: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) != 1:
        return False
    return parameters[0].name == "event" or parameters[0].annotation in (Event, "Event")


def check_reference(subject: Subject, trial: Trial, corpus: Corpus) -> Section:
    """Compare with the twin on generated events and on the inputs of the cases."""
    section = Section("reference")
    if trial.against is None:
        section.skipped("reference", "no native twin was named with --against")
        return section
    build = load_twin(trial.against)
    by_config: list[tuple[Configuration, list[bytes], str]] = [
        (config, list(corpus.ordinary[index :: len(subject.configs)]), "generated events")
        for index, config in enumerate(subject.configs)
    ]
    for file in case_files(trial):
        case = load_case(file)
        if case.refused is None:
            by_config.append((case.config, [event.input for event in case.events], "cases"))
    counts: dict[str, int] = {}
    for config, events, what in by_config:
        if not _agree(Probe(subject, config, trial, section), build, events, what):
            return section
        counts[what] = counts.get(what, 0) + len(events)
    for what, count in counts.items():
        section.passed(what, f"same verdict and content as {trial.against}", count=count)
    return section


def _agree(probe: Probe, build: Builder, events: list[bytes], what: str) -> bool:
    try:
        twin = Pipeline([build(probe.config)])
    except ConfigRefused as error:
        probe.section.failed(what, f"the twin refuses a configuration that the guest takes: {error.message}")
        return False
    with probe.load("worker") as guest:

        def judge(event: bytes) -> Violation | None:
            wanted, seen = run_one(twin, event), run_one(guest, event)
            if agrees(wanted, seen):
                return None
            shown = differences(wanted.outputs[0], seen.outputs[0]) if wanted.outputs and seen.outputs else ()
            return Violation(
                f"the twin gives {wanted.describe()}; the guest gives {seen.describe()}", differences=shown
            )

        pairs = zip(events, run_all(twin, events), run_all(guest, events), strict=True)
        broken = [event for event, wanted, seen in pairs if not agrees(wanted, seen)]
        if broken:
            probe.report_violation(what, broken[0], judge, count=len(events))
    return not broken


def agrees(wanted: Outcome, seen: Outcome) -> bool:
    """Same verdict, same words of failure, same events.

    A twin writes its events anew, so fields may stand in another order there: both sides are compared as protobuf
    writes them. Where the twin says that the bytes are no event, any failure of the guest will do.
    """
    if wanted.code == "INPUT_NOT_AN_EVENT":
        return seen.code is not None
    if wanted.code == EventFailure.code or seen.code == EventFailure.code:
        return (wanted.code, wanted.words) == (seen.code, seen.words)
    if (wanted.code is None) != (seen.code is None):
        return False
    return [*map(_canonical, wanted.outputs)] == [*map(_canonical, seen.outputs)]


def _canonical(event: bytes | None) -> bytes | None:
    return None if event is None else Event.FromString(event).SerializeToString(deterministic=True)
