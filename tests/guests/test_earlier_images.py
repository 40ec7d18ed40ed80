"""Of an image that occurs more than once only the last occurrence is looked at, so only that one may go out."""

from typing import Any

import pytest

from abi import Event
from tests.guests.examples import BUILDS, load_example

SECRET = b"SECRET"
EARLIER = b'{"email":"SECRET","nested":{"email":"SECRET"},"tenant":"SECRET"}'
# Nothing in it is to be hidden, removed, renamed or dissolved, and it passes every filter and guard below.
LAST = b'{"id":"1","tenant":"x"}'
OUTBOX_ROW = b'{"id":"1","aggregatetype":"a","aggregateid":"2","type":"made","payload":{"ok":1}}'
CASCADE = b'{"updated":[{"entity_type":"t","entity_id":"7"}]}'

CONFIGURATIONS: dict[str, list[dict[str, Any]]] = {
    "explode_cascade": [{}],
    "filter_rows": [
        {},
        {"where": {"field": "id", "op": "=", "value": "1"}},
        {"tenants": ["x"], "tenant_field": "tenant"},
    ],
    "flatten": [{}],
    "mask_pii": [
        {"rules": [{"path": "email", "action": "redact"}]},
        {"default": {"action": "truncate", "n": 1}},
    ],
    "outbox": [{}, {"table": "*"}],
    "project_columns": [{"exclude": ["email"]}, {"include": ["id", "tenant"]}],
    "rename_fields": [
        {"steps": [{"op": "remove", "field": "email"}]},
        {"steps": [{"op": "rename", "field": "email", "to": "e"}]},
        {"steps": [{"op": "set", "field": "nested.email", "value": "y"}]},
    ],
    "route": [
        {"field": "email", "routes": [{"match": "x", "to": "y"}]},
        {"field": "id", "routes": [{"match": "1", "to": "y"}]},
    ],
    "tenant_guard": [{"tenant": "x", "field": "row:tenant"}],
}
RUNS = [(name, language, config) for name, language in BUILDS for config in CONFIGURATIONS.get(name, [])]

UNKNOWN = b"\xfa\x01\x03abc"  # field 31
# The image's number with the wire type of a varint, of 4 and of 8 bytes: unknown fields, no images.
OTHER_WIRE_TYPES = b"\x10\x05" + b"\x15abcd" + b"\x09abcdefgh"


def _events(last: bytes) -> list[tuple[bytes, bytes]]:
    """Events with earlier images, each beside the same event without them."""
    before, after = Event(before=EARLIER).SerializeToString(), Event(after=EARLIER).SerializeToString()
    head = Event(op="INSERT", table="t").SerializeToString()
    tail = Event(op="INSERT", envelope_version=1, attributes={"app.note": b"n"}).SerializeToString()
    last_after, last_both = Event(after=last).SerializeToString(), Event(before=last, after=last).SerializeToString()
    cascade = Event(attributes={"cdc.cascade": CASCADE}).SerializeToString()
    return [
        (head + after + last_after, head + last_after),
        (after + head + after + UNKNOWN + last_after + tail, head + UNKNOWN + last_after + tail),
        (before + after + head + last_both, head + last_both),
        (before + before + head + tail + after + UNKNOWN + last_both, head + tail + UNKNOWN + last_both),
        (after + OTHER_WIRE_TYPES + head + last_after, OTHER_WIRE_TYPES + head + last_after),
        (before + head + after + last_both + cascade, head + last_both + cascade),
    ]


@pytest.mark.parametrize(("name", "language", "config"), RUNS)
def test_earlier_occurrence_of_an_image_never_goes_out(name: str, language: str, config: dict[str, Any]) -> None:
    pairs = _events(OUTBOX_ROW if config == {"table": "*"} else LAST)
    with load_example(name, language, config) as guest:
        found = guest.transform([event for event, _ in pairs])
        expected = guest.transform([event for _, event in pairs])
    assert found.failures == expected.failures == []
    assert set(found.rows.to_pylist()) == set(range(len(pairs)))
    assert [row for row, event in enumerate(found.events.to_pylist()) if SECRET in event] == []
    assert found.events.equals(expected.events)


@pytest.mark.parametrize(("name", "language"), [build for build in BUILDS if build[0] == "pass_through"])
def test_pass_through_hands_earlier_occurrences_back_because_it_does_not_look(name: str, language: str) -> None:
    events = [event for event, _ in _events(LAST)]
    with load_example(name, language, {}) as guest:
        assert guest.transform(events).events.to_pylist() == events


def test_every_example_that_reads_events_is_tested_here() -> None:
    assert {name for name, _ in BUILDS} - set(CONFIGURATIONS) <= {"pass_through", "drop_all", "misbehaving"}
