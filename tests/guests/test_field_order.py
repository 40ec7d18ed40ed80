"""The fields of an event may stand in any order, and images more than once: guest and twin agree all the same."""

import random

import pytest

from abi import Event
from guest_examples import NAMES, languages_of, twin
from guest_examples.sample_configurations import ACCEPTED
from tests.guests.examples import load_example
from tests.guests.outcomes import differences
from wasm_host.generate import EventMaker
from wasm_host.native import Pipeline

EVENTS_PER_CONFIGURATION = 200
EARLIER = [
    Event(before=b'{"email":"SECRET"}'),
    Event(after=b'{"email":"SECRET"}'),
    Event(op="UPDATE"),
    Event(table="User"),
]


def _varint_end(message: bytes, at: int) -> int:
    while message[at] & 0x80:
        at += 1
    return at + 1


def _fields_of(message: bytes) -> list[bytes]:
    """The top-level fields of a message that protobuf has written."""
    found, at = [], 0
    while at < len(message):
        end = _varint_end(message, at)
        match message[at] & 7:
            case 0:
                end = _varint_end(message, end)
            case 2:
                start, end, size = end, _varint_end(message, end), 0
                for place, byte in enumerate(message[start:end]):
                    size |= (byte & 0x7F) << 7 * place
                end += size
            case wire_type:
                end += {1: 8, 5: 4}[wire_type]
        found.append(message[at:end])
        at = end
    return found


def _shuffled(events: list[bytes], rng: random.Random) -> list[bytes]:
    mixed = []
    for event in events:
        fields = _fields_of(event)
        rng.shuffle(fields)
        earlier = [rng.choice(EARLIER).SerializeToString() for _ in range(rng.randrange(3))]
        mixed.append(b"".join([*earlier, *fields]))
    return mixed


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"pass_through", "drop_all", "misbehaving"}))
def test_guest_equals_native_twin_on_fields_in_any_order(name: str) -> None:
    rng = random.Random(3)
    for index, config in enumerate(ACCEPTED[name]):
        maker = EventMaker(index)
        made = [event for event in (maker.make() for _ in range(EVENTS_PER_CONFIGURATION)) if _is_event(event)]
        events = _shuffled(made, rng)
        expected = Pipeline([twin(name).build(config)]).transform(events)
        for language in languages_of(name):
            with load_example(name, language, config) as guest:
                found = differences(events, guest.transform(events), expected)
            assert not found, f"{name} in {language} with {config}: {len(found)} differ, first: {found[0]}"


def test_new_attribute_and_changed_image_in_any_order_of_fields() -> None:
    image = b'{"id":"1","aggregatetype":"a","aggregateid":"2","type":"made","payload":{"ok":1}}'
    made = Event(op="READ", table="outbox", before=image, after=image, primary_key=["id"], envelope_version=1)
    # A new attribute goes behind the last one, and so it may have to stand right before an image that is replaced.
    made.attributes["a"] = made.attributes["b"] = b"v"
    events = _shuffled([made.SerializeToString()] * EVENTS_PER_CONFIGURATION, random.Random(4))
    # The last `op` and `table` count, so the plain ones go behind the earlier ones that `_shuffled` has added.
    events = [event + Event(op="READ", table="outbox").SerializeToString() for event in events]
    expected = Pipeline([twin("outbox").build({})]).transform(events)
    assert expected.stats.events_out == len(events)
    with load_example("outbox", "zig", {}) as guest:
        assert differences(events, guest.transform(events), expected) == []


def _is_event(event: bytes | None) -> bool:
    try:
        return event is not None and Event.FromString(event).IsInitialized()
    except ValueError:
        return False
