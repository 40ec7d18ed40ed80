"""Every SDK sets and removes attributes alike: in place, or in the order of keys, and every other byte stays.

The probe guests do as their configuration says; a plain model of `sdk/SEMANTICS.md` section 1 says what must come out.
"""

import random
from pathlib import Path
from typing import Any

import pytest

import wasm_host
from abi import Event
from tests.guests.built_for_test import compile_guest
from tests.guests.test_c_rust_sdk import Field, bytes_field, number_field, random_fields, varint

pytestmark = pytest.mark.toolchain

SOURCES = Path(__file__).parent / "sdk_probe"
PROBES = {"c": "probe.c", "rust": "probe.rs", "zig": "probe.zig", "as": "probe.ts", "go": "go/main.go"}
KEYS = ("", "a", "k", "ka", "z", "é")
NO_EDIT: list[dict[str, Any]] = [{"field": 9}]


@pytest.fixture(scope="module", params=sorted(PROBES))
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The built probe of one language."""
    return compile_guest(request.param, SOURCES / PROBES[request.param], tmp_path_factory.mktemp("probe"))


def text(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def key_of(field: Field) -> str:
    (key,) = Event.FromString(field.encoded).attributes
    return key


def with_attributes(fields: list[Field], settings: dict[str, bytes], removed: list[str]) -> bytes:
    """What the SDKs promise. Places are those of the event as it came."""
    entries = [place for place, field in enumerate(fields) if field.number == 1000 and field.is_known]
    known = [place for place, field in enumerate(fields) if field.is_known]
    written = [field.encoded for field in fields]
    inserted = [b""] * (len(fields) + 1)
    for place in entries:
        if key_of(fields[place]) in {*removed, *settings}:
            written[place] = b""
    for key in sorted(settings, key=str.encode):
        entry = bytes_field(1000, text(1, key.encode()) + text(2, settings[key])).encoded
        same = [place for place in entries if key_of(fields[place]) == key]
        greater = [place for place in entries if key_of(fields[place]).encode() > key.encode()]
        if same:
            written[same[-1]] = entry
        elif greater:
            inserted[greater[0]] += entry
        else:
            inserted[(entries or known)[-1] + 1 if known else 0] += entry
    return b"".join(new + old for new, old in zip(inserted, [*written, b""], strict=True))


def random_event(rng: random.Random) -> list[Field]:
    """Fields of every kind, without repeated images, and entries of attributes anywhere among the last."""
    fields = [field for field in random_fields(rng) if field.number not in (1, 2, 9)]
    for _ in range(rng.randrange(5)):
        key, value = text(1, rng.choice(KEYS).encode()), text(2, rng.choice((b"", b"v", b"w" * 150)))
        entry = bytes_field(1000, rng.choice((key + value, value + key, key, value)))
        fields.insert(rng.randrange(len(fields) // 2, len(fields) + 1), entry)
    return fields or [number_field(3, 1)]


def test_attributes_are_set_and_removed_in_place(probe: bytes) -> None:
    rng = random.Random(11)
    for _ in range(40):
        # Set in any order; a key that is set twice has the last value.
        settings = [(rng.choice(KEYS), rng.choice((b"", b"new", b"x" * 300))) for _ in range(rng.randrange(1, 6))]
        removed = rng.sample([key for key in KEYS if key], rng.randrange(1, 3))
        events = [random_event(rng) for _ in range(20)]
        attributes = [{"key": key, "value": value} for key, value in settings]
        config = {"answer": "event", "edits": NO_EDIT, "attributes": attributes, "removed": removed}
        with wasm_host.load(probe, config=config, wasi=True) as guest:
            result = guest.transform([b"".join(field.encoded for field in event) for event in events])
        assert result.failures == []
        for event, output in zip(events, result.events.to_pylist(), strict=True):
            assert output == with_attributes(event, dict(settings), removed), (event, settings, removed)


def test_absent_fields_stand_before_new_attributes(probe: bytes) -> None:
    fields = [bytes_field(7, b"users"), number_field(99, 1)]
    config = {
        "answer": "event",
        "edits": [{"field": 11, "number": 1}],
        "attributes": [{"key": "b", "value": b"2"}, {"key": "a", "value": b"1"}],
        "removed": ["x"],
    }
    with wasm_host.load(probe, config=config, wasi=True) as guest:
        (output,) = guest.transform([b"".join(field.encoded for field in fields)]).events.to_pylist()
    assert (
        output
        == Event(table="users", envelope_version=1).SerializeToString()
        + b"".join(
            bytes_field(1000, text(1, key) + text(2, value)).encoded for key, value in ((b"a", b"1"), (b"b", b"2"))
        )
        + number_field(99, 1).encoded
    )


def test_setting_fails_on_an_entry_that_cannot_be_walked(probe: bytes) -> None:
    fields = [bytes_field(7, b"users"), bytes_field(1000, b"\x0a\x7fk")]
    event = b"".join(field.encoded for field in fields)
    attributes = [{"key": "k", "value": b"v"}]
    config = {"answer": "event", "edits": NO_EDIT, "attributes": attributes, "removed": ["x"]}
    with wasm_host.load(probe, config=config, wasi=True) as guest:
        result = guest.transform([event])
    assert [failure.guest_text for failure in result.failures] == ["not an Event at byte 7"]
