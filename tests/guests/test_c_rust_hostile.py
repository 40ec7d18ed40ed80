"""Hostile shapes against the C and Rust guests: a failed event with a reason, and the next one fine."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

import wasm_host
from abi import Event
from guest_examples import load_wasm
from wasm_host import Guest, Limits

GOOD = Event(op=1, table="t", after=b'{"email":"a@b"}').SerializeToString()
CONFIGS: dict[str, dict[str, Any]] = {
    "mask_pii": {"rules": [{"path": "email", "action": "hash"}, {"path": "b", "action": "redact"}]},
    "filter_rows": {"where": {"field": "email", "op": "!=", "value": "nobody"}},
}
GUESTS = [(name, lang) for name in CONFIGS for lang in ("c", "rust")]
MIB = 1 << 20


def row(image: bytes) -> bytes:
    return Event(op=1, table="t", after=image).SerializeToString()


@pytest.fixture(scope="module", params=GUESTS, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def guest(request: pytest.FixtureRequest) -> Iterator[Guest]:
    name, lang = request.param
    with wasm_host.load(load_wasm(name, lang), config=CONFIGS[name]) as loaded:
        yield loaded


@pytest.mark.parametrize(
    ("event", "text"),
    [
        pytest.param(b"\xff" * 20, "not an Event at byte 0", id="no tag"),
        pytest.param(GOOD + b"\x0a\x05abc", f"not an Event at byte {len(GOOD)}", id="length past the end"),
        pytest.param(b"\x18\x01\x00\x01", "not an Event at byte 2", id="field number 0"),
        pytest.param(b"\x18\x01\x7b\x7c", "not an Event at byte 2", id="group"),
        pytest.param(b"\x18" + b"\x80" * 10 + b"\x01", "not an Event at byte 0", id="varint of eleven bytes"),
        pytest.param(b"\x98\x80\x80\x80\x80\x00\x01", "not an Event at byte 0", id="tag of six bytes"),
        pytest.param(b"\x0a\xff\xff\xff\xff\x0f", "not an Event at byte 0", id="length of four gigabytes"),
        pytest.param(row(b""), "after is not valid JSON at byte 0", id="empty image"),
        pytest.param(row(b'{"email": '), "after is not valid JSON at byte 10", id="image cut short"),
        pytest.param(row(b'{"a": "\xff"}'), "after is not valid JSON at byte 6", id="not UTF-8"),
        pytest.param(row(b'["\\ud800"]'), "after is not valid JSON at byte 1", id="lone surrogate"),
        pytest.param(row(b"[" * 1000 + b"]" * 1000), "after is nested deeper than 128 levels", id="1,000 arrays"),
        pytest.param(row(b'{"a":' * 1000), "after is nested deeper than 128 levels", id="1,000 objects"),
    ],
)
def test_broken_event_fails_with_a_reason_and_the_next_is_fine(guest: Guest, event: bytes, text: str) -> None:
    result = guest.transform([event, GOOD])
    assert [(failure.row, failure.code, failure.guest_text) for failure in result.failures] == [
        (0, "GUEST_FAILURE", text)
    ]
    assert result.rows.to_pylist() == [1]


BIG_IMAGES = {
    "one string": b'{"email":"' + b"x" * 10_000_000 + b'"}',
    "an array": b'{"email":[' + b"1," * 5_000_000 + b"1]}",
    "escapes": b'{"email":"' + b"\\n" * 5_000_000 + b'"}',
    "unterminated": b'{"email":"' + b"\\n" * 5_000_000,
}


@pytest.mark.parametrize("shape", BIG_IMAGES)
def test_image_of_10_mb_fails_for_want_of_fuel_and_the_next_is_fine(guest: Guest, shape: str) -> None:
    result = guest.transform([row(BIG_IMAGES[shape]), GOOD])
    assert [(failure.row, failure.code) for failure in result.failures] == [(0, "FUEL_EXHAUSTED")]
    assert result.rows.to_pylist() == [1]


@pytest.mark.parametrize(("name", "lang"), GUESTS)
def test_image_of_10_mb_is_served_with_fuel_to_match(name: str, lang: str) -> None:
    limits = Limits(fuel_per_event=2_000_000_000)
    events = [row(BIG_IMAGES["one string"]), GOOD, row(BIG_IMAGES["unterminated"])]
    with wasm_host.load(load_wasm(name, lang), config=CONFIGS[name], limits=limits) as guest:
        result = guest.transform(events)
    assert result.rows.to_pylist() == [0, 1]
    assert [failure.guest_text for failure in result.failures] == ["after is not valid JSON at byte 9"]


@pytest.mark.parametrize("lang", ["c", "rust"])
def test_memory_that_cannot_be_had_is_logged_and_trapped(lang: str) -> None:
    limits = Limits(fuel_per_event=1_000_000_000, max_memory_bytes=2 * MIB)
    image = b'{"a":"' + b"x" * 1_500_000 + b'","b":1}'
    with wasm_host.load(load_wasm("mask_pii", lang), config=CONFIGS["mask_pii"], limits=limits) as guest:
        result = guest.transform([GOOD, row(image), GOOD])
    (failure,) = result.failures
    assert (failure.row, failure.code) == (1, "TRAP_UNREACHABLE")
    assert failure.guest_text is not None
    assert failure.guest_text.startswith("out of memory, bytes asked for: 15000")
    assert result.rows.to_pylist() == [0, 2]


@pytest.mark.parametrize("lang", ["c", "rust"])
def test_freed_blocks_are_used_again(lang: str) -> None:
    limits = Limits(fuel_per_event=1_000_000_000, max_memory_bytes=4 * MIB)
    rng = random.Random(1)
    events = [row(b'{"a":"' + b"x" * rng.randrange(600_000) + b'","b":1}') for _ in range(60)]
    with wasm_host.load(load_wasm("mask_pii", lang), config=CONFIGS["mask_pii"], limits=limits) as guest:
        guest.transform([GOOD])
        result = guest.transform(events)
    # An instance that ran out of memory would have been replaced by a fresh one.
    assert (result.failures, result.stats.instances_made, result.stats.events_out) == ([], 0, 60)


def test_spoilt_bytes_have_the_same_outcome_in_c_and_in_rust() -> None:
    rng = random.Random(2)
    events = []
    for _ in range(6000):
        event = bytearray(GOOD + rng.choice((b"", b"\xc2\x3e\x06\x0a\x01k\x12\x01v", b"\x0a\x02{}")))
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(event))
            event[place : place + rng.randrange(2)] = bytes([rng.choice((0, 1, 2, 5, 10, 34, 123, 128, 255))])
        events.append(bytes(event))
    for name, config in CONFIGS.items():
        seen = []
        for lang in ("c", "rust"):
            with wasm_host.load(load_wasm(name, lang), config=config) as guest:
                result = guest.transform(events)
            failures = [(failure.row, failure.code, failure.guest_text) for failure in result.failures]
            seen.append((result.rows.to_pylist(), result.events.to_pylist(), failures))
        assert seen[0] == seen[1], name
        assert len(seen[0][0]) > 100
        assert len(seen[0][2]) > 100
