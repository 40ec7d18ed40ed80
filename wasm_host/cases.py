"""Golden cases of a transform: what goes in, what must come out. The format is described in `guest_examples/CASES.md`.

A case is a JSON file that a transform's author writes by hand; the loader turns it into events, and `run_case` tells in
plain sentences what came out otherwise. Works with anything that transforms a batch: a guest or a native pipeline.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from abi import AbiError, ConfigRefused, Event, formats
from abi.failures import FailureCode
from wasm_host.errors import ConfigError, InitError
from wasm_host.result import BatchResult

_TEXT_FIELDS = ("before", "after")
_EXPECTATIONS = ("events", "dropped", "unchanged", "failure", "answered")


class Transformer(Protocol):
    """A guest, or a native pipeline."""

    def transform(self, events: list[bytes]) -> BatchResult:
        """Run a batch."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class CaseEvent:
    """One event and what must become of it: `outputs`, or a `failure` in the transform's own words.

    `is_open` asks only for an answer, whichever: no trap, and nothing that breaks the contract.
    """

    input: bytes
    outputs: tuple[bytes, ...]
    failure: str | None
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One file: a configuration, and either the events it is tried on or the text with which it is refused."""

    name: str
    description: str
    config: dict[str, Any]
    events: tuple[CaseEvent, ...]
    refused: str | None


def load_cases(folder: Path) -> list[Case]:
    """Every case of a folder, in the order of their names.

    Raises:
        ConfigError: a file is not a case.
    """
    return [load_case(file) for file in sorted(folder.glob("*.json"))]


def load_case(file: Path) -> Case:
    """Read one case.

    Raises:
        ConfigError: the file is not a case; the message says where and why.
    """
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"case {file.name} is not JSON: {error}") from None
    return _Reader(file.name).case(document)


class _Reader:
    """Reads one file; knows its name for messages."""

    def __init__(self, name: str) -> None:
        self._name = name

    def case(self, document: object) -> Case:
        top = self._map(document, "the case", {"description", "config", "events", "refused"})
        if ("events" in top) == ("refused" in top):
            raise self._problem("the case", "needs either events or refused")
        description = self._text(top.get("description"), "description")
        config = self._decoded(self._map(top.get("config", {}), "config", None), "config")
        if "refused" in top:
            return Case(self._name, description, config, (), self._text(top["refused"], "refused"))
        if not isinstance(top["events"], list) or not top["events"]:
            raise self._problem("events", "must be a list of at least one event")
        events = tuple(self._event(entry, f"events[{index}]") for index, entry in enumerate(top["events"]))
        return Case(self._name, description, config, events, None)

    def _event(self, entry: object, place: str) -> CaseEvent:
        members = self._map(entry, place, {"input", "expect"})
        event = self._encoded(members.get("input"), f"{place}.input")
        expect = self._map(members.get("expect"), f"{place}.expect", set(_EXPECTATIONS))
        if len(expect) != 1:
            raise self._problem(f"{place}.expect", f"needs exactly one of {', '.join(_EXPECTATIONS)}")
        if "failure" in expect:
            return CaseEvent(event, (), self._text(expect["failure"], f"{place}.expect.failure"))
        if "events" in expect:
            outputs = expect["events"]
            if not isinstance(outputs, list) or not outputs:
                raise self._problem(f"{place}.expect.events", "must be a list of at least one event")
            return CaseEvent(
                event,
                tuple(self._encoded(item, f"{place}.expect.events[{index}]") for index, item in enumerate(outputs)),
                None,
            )
        if next(iter(expect.values())) is not True:
            raise self._problem(f"{place}.expect.{next(iter(expect))}", "must be true")
        return CaseEvent(event, (event,) if "unchanged" in expect else (), None, is_open="answered" in expect)

    def _encoded(self, value: object, place: str) -> bytes:
        members = dict(self._map(value, place, None))
        if "format" in members:
            return self._of_format(members, place)
        if "base64" in members:
            return self._base64(members["base64"], place)
        for name in _TEXT_FIELDS:
            if name in members:
                members[name] = _base64_of(self._text(members[name], f"{place}.{name}"))
        attributes = self._map(members.get("attributes", {}), f"{place}.attributes", None)
        members["attributes"] = {
            key: _base64_of(self._text(text, f"{place}.attributes.{key}")) for key, text in attributes.items()
        }
        try:
            return ParseDict(members, Event()).SerializeToString(deterministic=True)
        except ParseError as error:
            raise self._problem(place, f"is not an Event: {error}") from None

    def _of_format(self, members: Mapping[str, Any], place: str) -> bytes:
        """An event as another system wrote it: `{"format": "debezium", "text": "…"}`, or `base64` for binary ones."""
        self._map(members, place, {"format", "text", "base64"})
        if ("text" in members) == ("base64" in members):
            raise self._problem(place, "needs either text or base64 beside its format")
        name = self._text(members["format"], f"{place}.format")
        try:
            if "text" in members:
                document = self._text(members["text"], f"{place}.text").encode()
            else:
                document = self._base64(members["base64"], f"{place}.base64")
            return formats.get(name).decode(document).SerializeToString(deterministic=True)
        except AbiError as error:
            raise self._problem(place, f"cannot be read: {error.message}") from None

    def _decoded(self, value: Any, place: str) -> Any:
        """Replace `{"$bytes": base64}` by the bytes: JSON has no other way to write a binary key."""
        if isinstance(value, dict):
            if set(value) == {"$bytes"}:
                return self._base64(value["$bytes"], place)
            return {key: self._decoded(item, f"{place}.{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self._decoded(item, f"{place}[{index}]") for index, item in enumerate(value)]
        return value

    def _base64(self, value: object, place: str) -> bytes:
        try:
            return base64.b64decode(self._text(value, place), validate=True)
        except binascii.Error:
            raise self._problem(place, "is not base64") from None

    def _map(self, value: object, place: str, allowed: set[str] | None) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._problem(place, "must be an object")
        unknown = sorted(set(value) - allowed) if allowed is not None else []
        if unknown:
            raise self._problem(place, f"has an unknown member {unknown[0]!r}")
        return value

    def _text(self, value: object, place: str) -> str:
        if not isinstance(value, str):
            raise self._problem(place, "must be a string")
        return value

    def _problem(self, place: str, problem: str) -> ConfigError:
        return ConfigError(f"case {self._name}: {place} {problem}", hint="see guest_examples/CASES.md")


def _base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def run_case(case: Case, load: Callable[[dict[str, Any]], Transformer]) -> list[str]:
    """Try a case and describe what came out otherwise; an empty list means that it holds.

    Args:
        case: the case.
        load: gives the transform for a configuration; it raises `InitError` or `abi.ConfigRefused` to refuse it.
    """
    try:
        transformer = load(case.config)
    except (InitError, ConfigRefused) as error:
        if case.refused is not None and case.refused in str(error):
            return []
        return [f"{case.name}: the configuration was refused: {error}"]
    try:
        if case.refused is not None:
            return [f"{case.name}: the configuration was taken; it must be refused with {case.refused!r}"]
        return _compare(case, transformer.transform([event.input for event in case.events]))
    finally:
        transformer.close()


def _compare(case: Case, result: BatchResult) -> list[str]:
    outputs: list[list[bytes]] = [[] for _ in case.events]
    for row, output in zip(result.rows.to_pylist(), result.events.to_pylist(), strict=True):
        outputs[row].append(output)
    failures = {failure.row: failure.guest_text or failure.message for failure in result.failures}
    broken = {failure.row for failure in result.failures if failure.code != FailureCode.GUEST_FAILURE}
    problems = []
    for row, (event, found) in enumerate(zip(case.events, outputs, strict=True)):
        failure = failures.get(row)
        if event.is_open and row not in broken:
            continue
        if failure == event.failure and [*map(_ordered, found)] == [*map(_ordered, event.outputs)]:
            continue
        problems.append(
            f"{case.name}: events[{row}] gave {_verdict(found, failure)}; "
            f"expected {_verdict(list(event.outputs), event.failure)}"
        )
    return problems


def _verdict(outputs: list[bytes], failure: str | None) -> str:
    if failure is not None:
        return f"the failure {failure!r}"
    return " and ".join(_readable(output) for output in outputs) or "nothing (dropped)"


def _ordered(event: bytes) -> bytes:
    """The event with its fields and attributes in order; guests keep theirs."""
    return Event.FromString(event).SerializeToString(deterministic=True)


def _readable(event: bytes) -> str:
    """An event on one line, images and attributes as text."""
    message = Event.FromString(event)
    members = MessageToDict(message, preserving_proto_field_name=True)
    for name in _TEXT_FIELDS:
        if message.HasField(name):
            members[name] = getattr(message, name).decode(errors="backslashreplace")
    if message.attributes:
        members["attributes"] = {
            key: message.attributes[key].decode(errors="backslashreplace") for key in sorted(message.attributes)
        }
    return json.dumps(members, ensure_ascii=False)
