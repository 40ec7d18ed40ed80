"""Input that nobody should send: each is a failed event with a reason, and the next event is fine."""

from typing import Any

import pytest

from abi import Event
from guest_examples.sample_configurations import ACCEPTED
from tests.guests.examples import BUILDS, load_example

READS_IMAGES: dict[str, dict[str, Any]] = {
    "filter_rows": {"where": {"field": "email", "op": "=", "value": "x"}},
    "flatten": {},
    "mask_pii": {"rules": [{"path": "email", "action": "redact"}]},
    "outbox": {"table": "*"},
    "project_columns": {"exclude": ["email"]},
    "rename_fields": {"steps": [{"op": "rename", "field": "email", "to": "e"}]},
    "route": {"field": "email", "routes": [{"match": "x", "to": "y"}]},
    "tenant_guard": {"tenant": "x", "field": "email"},
}
IMAGE_BUILDS = [(name, language) for name, language in BUILDS if name in READS_IMAGES]

# A message of bytes that the top-level walk refuses, by what is wrong with it.
NOT_EVENTS = {
    "length past the end": b"\x12\x7fabc",
    "field number 0": b"\x02\x01a",
    "tag cut off": b"\xff",
    "tag of six bytes": b"\xff\xff\xff\xff\xff\x01\x01",
    "varint of eleven bytes": b"\x28" + b"\xff" * 10 + b"\x01",
    "group": b"\x1b\x1c",
    "reserved wire type": b"\x1f\x01",
    "fixed64 cut off": b"\x29\x01\x02",
    "length above 32 bits": b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
}
HEALTHY = Event(op=1, table="t", after=b'{"email":"x"}').SerializeToString()


@pytest.mark.parametrize(("name", "language"), IMAGE_BUILDS)
def test_bytes_that_are_no_event_fail_with_the_place_and_the_next_event_is_fine(name: str, language: str) -> None:
    batch = [event for broken in NOT_EVENTS.values() for event in (broken, HEALTHY)]
    with load_example(name, language, READS_IMAGES[name]) as guest:
        result = guest.transform(batch)
        alone = guest.transform([HEALTHY])
    broken_rows = list(range(0, len(batch), 2))
    failures = {failure.row: failure for failure in result.failures}
    for row, what in zip(broken_rows, NOT_EVENTS, strict=True):
        assert failures[row].code == "GUEST_FAILURE", what
        assert failures[row].guest_text == "not an Event at byte 0", what
    healthy_rows = [row for row in result.rows.to_pylist() if row not in broken_rows]
    assert len(healthy_rows) == len(broken_rows) * alone.stats.events_out


@pytest.mark.parametrize(("name", "language"), IMAGE_BUILDS)
@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (b'{"email":"x"', "after is not valid JSON at byte 12"),
        (b'{"email":\xff}', "after is not valid JSON at byte 9"),
        (b'{"email":"\xc0\x80"}', "after is not valid JSON at byte 9"),
        (b"[" * 1000 + b"]" * 1000, "after is nested deeper than 128 levels"),
        (b'{"a":' * 1000 + b"1" + b"}" * 1000, "after is nested deeper than 128 levels"),
        (b"[" * 100_000, "after is nested deeper than 128 levels"),
        (b"", "after is not valid JSON at byte 0"),
        (b" " * 1000, "after is not valid JSON at byte 1000"),
    ],
    ids=["cut off", "bad byte", "overlong", "deep arrays", "deep objects", "very deep", "nothing", "only spaces"],
)
def test_image_that_is_no_json_fails_with_a_reason(name: str, language: str, image: bytes, reason: str) -> None:
    broken = Event(op=1, table="t", after=image).SerializeToString()
    with load_example(name, language, READS_IMAGES[name]) as guest:
        result = guest.transform([broken, HEALTHY])
        alone = guest.transform([HEALTHY])
    assert [failure.guest_text for failure in result.failures if failure.row == 0] == [reason]
    assert result.rows.to_pylist() == [1] * alone.stats.events_out


@pytest.mark.parametrize(("name", "language"), [build for build in IMAGE_BUILDS if build[1] != "go"])
def test_image_of_ten_megabytes_is_transformed_or_fails_with_a_reason(name: str, language: str) -> None:
    large = b'{"email":"x","note":"' + b"y" * 10_000_000 + b'"}'
    batch = [Event(op=1, table="t", after=large).SerializeToString(), HEALTHY]
    with load_example(name, language, READS_IMAGES[name]) as guest:
        result = guest.transform(batch)
        alone = guest.transform([HEALTHY])
    reasons = [failure.guest_text or failure.message for failure in result.failures if failure.row == 0]
    assert all(reasons)
    assert reasons or 0 in result.rows.to_pylist() or result.stats.events_dropped
    assert [row for row in result.rows.to_pylist() if row == 1] == [1] * alone.stats.events_out


def test_ten_megabyte_image_is_masked() -> None:
    large = b'{"email":"x","note":"' + b"y" * 10_000_000 + b'"}'
    event = Event(op=2, table="t", before=large, after=large)
    with load_example("mask_pii", "zig", READS_IMAGES["mask_pii"]) as guest:
        result = guest.transform([event.SerializeToString()])
    assert result.failures == []
    masked = Event.FromString(result.events[0].as_py())
    assert masked.before == masked.after == large.replace(b'"x"', b'"***"')


@pytest.mark.parametrize(("name", "language"), BUILDS)
def test_empty_message_does_not_disturb_the_next_event(name: str, language: str) -> None:
    config = ACCEPTED[name][0]
    with load_example(name, language, config) as guest:
        result = guest.transform([b"", HEALTHY])
        alone = guest.transform([HEALTHY])
    assert len([row for row in result.rows.to_pylist() if row == 1]) == alone.stats.events_out
