"""The AssemblyScript and Go SDKs where no example leads: fields set, removed and inserted, each of the four answers.

The probe guests edit an event as their configuration says; the model that says what must come out is the one for C and
Rust. The code in each SDK's README is built and run as it stands there.
"""

import os
import random
import re
from pathlib import Path

import pytest

import wasm_host
from abi import Event, EventFailure
from guest_examples.configuration import parse_path
from guest_examples.jsonpath import Segment, parse, select, splice
from guest_examples.toolchains import EXAMPLES
from tests.guests.built_for_test import compile_guest
from tests.guests.test_c_rust_sdk import changed, random_edits, random_fields
from wasm_host.generate import generate_events

pytestmark = pytest.mark.toolchain

SOURCES = Path(__file__).parent / "sdk_probe"
PROBES = {"as": SOURCES / "probe.ts", "go": SOURCES / "go" / "main.go"}
EVENT = Event(op=1, table="users", after=b"{}").SerializeToString()


@pytest.fixture(scope="module", params=sorted(PROBES))
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The built probe of one language."""
    return compile_guest(request.param, PROBES[request.param], tmp_path_factory.mktemp("probe"))


def test_edits_keep_every_other_byte(probe: bytes) -> None:
    rng = random.Random(5)
    for _ in range(60):
        edits = random_edits(rng)
        events = [random_fields(rng) for _ in range(20)]
        with wasm_host.load(probe, config={"answer": "both", "edits": edits}, wasi=True) as guest:
            result = guest.transform([b"".join(field.encoded for field in event) for event in events])
        assert result.failures == []
        outputs = result.events.to_pylist()
        assert len(outputs) == 40
        for row, event in enumerate(events):
            # The probe in Go builds the event before it edits it; the one in AssemblyScript hands the bytes on unread.
            assert outputs[2 * row] in (b"".join(field.encoded for field in event), changed(event, []))
            assert outputs[2 * row + 1] == changed(event, edits), (event, edits)


def test_one_edited_event_is_handed_over(probe: bytes) -> None:
    edited = Event(op=2, table="users", after=b"{}").SerializeToString()
    with wasm_host.load(probe, config={"answer": "event", "edits": [{"field": 3, "number": 2}]}, wasi=True) as guest:
        assert guest.transform([EVENT, EVENT]).events.to_pylist() == [edited, edited]


def test_event_that_loses_all_its_fields_fails(probe: bytes) -> None:
    with wasm_host.load(probe, config={"answer": "event", "edits": [{"field": 7}]}, wasi=True) as guest:
        result = guest.transform([Event(table="t").SerializeToString()])
    assert [failure.guest_text for failure in result.failures] == ["the event has no fields left"]


@pytest.mark.parametrize(("answer", "texts"), [("drop", []), ("fail", ["as asked"] * 5)])
def test_drop_fail_log_and_metrics_reach_the_host(probe: bytes, answer: str, texts: list[str]) -> None:
    with wasm_host.load(probe, config={"answer": answer, "edits": [{"field": 3}]}, wasi=True) as guest:
        result = guest.transform([EVENT] * 5)
    assert result.stats.events_out == 0
    assert [failure.guest_text for failure in result.failures] == texts
    assert [(line.level, line.text) for line in result.logs] == [("warn", "seen")] * 5
    # Two, and then what was recorded so far for this event, which is two again: events do not see each other.
    assert result.metrics == {"probe.events": 20}


def test_scalar_fields_are_read_as_protobuf_reads_them(probe: bytes) -> None:
    event = Event(op=6, ts=2**64 - 1, envelope_version=1, before_is_key_only=True, table="users")
    absent = event.SerializeToString()
    event.schema = ""
    event.attributes["k"] = b""
    empty = event.SerializeToString()
    # Of several occurrences the last one counts; a known number with another wire type is not the field.
    twice = empty + Event(op=3, schema="s", attributes={"k": b"w"}).SerializeToString() + b"\x1a\x01x\x28\x00"
    with wasm_host.load(probe, config={"answer": "fields", "edits": [{"field": 3}]}, wasi=True) as guest:
        texts = [failure.guest_text for failure in guest.transform([absent, empty, twice]).failures]
    assert texts == [
        "6 18446744073709551615 1 1 - users -",
        "6 18446744073709551615 1 1  users ",
        "3 0 1 1 s users w",
    ]


def hidden(text: bytes, path: tuple[Segment, ...]) -> bytes | str:
    """The document without the values of a path, or why there is none."""
    try:
        return splice(text, [(node.start, node.end, b'"hidden"') for node in select(parse(text, "after"), path)])
    except EventFailure as failure:
        return failure.message


@pytest.mark.parametrize("path", ["id", "contact.email", "emails.*", "*.*", "*", r"a\.b", "a.b.c"])
def test_values_are_found_by_path_and_replaced_in_place(probe: bytes, path: str) -> None:
    segments = parse_path(path, "path")
    events = [event for event in generate_events(seed=21, count=300) if Event.FromString(event).HasField("after")]
    # A root that is a number stands directly before the next field of the message.
    events += [Event(after=b"12", transaction={"tx_id": 1}).SerializeToString()]
    config = {"answer": "path", "edits": [{"field": 3}], "path": path}
    with wasm_host.load(probe, config=config, wasi=True) as guest:
        result = guest.transform(events)
    outputs = dict(zip(result.rows.to_pylist(), result.events.to_pylist(), strict=True))
    failures = {failure.row: failure.guest_text for failure in result.failures}
    for row, event in enumerate(events):
        found = failures[row] if row in failures else Event.FromString(outputs[row]).after
        assert found == hidden(Event.FromString(event).after, segments)
    assert len(outputs) > 200


def readme_guest(language: str, folder: Path) -> Path:
    """The README's example, written out where its imports lead to the SDK."""
    readme = EXAMPLES / "sdk" / {"as": "assemblyscript", "go": "go"}[language] / "README.md"
    found = re.search(r"```(?:ts|go)\n(.*?)```", readme.read_text(), re.DOTALL)
    assert found
    if language == "as":
        source = folder / "guest.ts"
        source.write_text(found[1].replace("../sdk", os.path.relpath(EXAMPLES / "sdk", folder)))
        return source
    (folder / "go.mod").write_text(
        f"module guest\n\ngo 1.24\n\nrequire wasmhost v0.0.0\n\nreplace wasmhost => {EXAMPLES / 'sdk' / 'go'}\n"
    )
    (folder / "main.go").write_text(found[1])
    return folder / "main.go"


@pytest.mark.parametrize("language", ["as", "go"])
def test_example_of_the_readme_works(language: str, tmp_path: Path) -> None:
    wasm = compile_guest(language, readme_guest(language, tmp_path), tmp_path)
    with wasm_host.load(wasm, config={"table": "users"}, wasi=True) as guest:
        result = guest.transform([EVENT, Event(table="orders").SerializeToString(), EVENT])
    assert result.events.to_pylist() == [EVENT, EVENT]
    assert result.metrics == {"only_table.dropped": 1}
    with pytest.raises(wasm_host.InitError, match="configuration: table is missing"):
        wasm_host.load(wasm, config={}, wasi=True)
