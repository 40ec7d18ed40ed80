"""The public strategies give what they promise, and guests agree with their twins on them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abi import Event, EventFailure
from guest_examples import NAMES, twin
from guest_examples.jsonpath import parse
from guest_examples.sample_configurations import Configuration
from guest_examples.strategies import configurations
from tests.guests.examples import load_example
from tests.guests.outcomes import canonical, differences
from wasm_host import strategies
from wasm_host.generate import generate_events
from wasm_host.native import Pipeline

ZIG = [name for name in NAMES if name != "drop_all"]


@settings(max_examples=60, deadline=None)
@given(image=strategies.row_images())
def test_row_images_are_objects(image: bytes) -> None:
    assert parse(image, "after").kind == "object"


@settings(max_examples=60, deadline=None)
@given(document=strategies.json_documents())
def test_documents_are_json(document: str) -> None:
    assert parse(document.encode(), "after").end <= len(document.encode())


@settings(max_examples=60, deadline=None)
@given(event=strategies.events())
def test_events_are_in_protobufs_own_order(event: bytes) -> None:
    assert canonical(event) == event


@pytest.mark.parametrize("name", NAMES)
def test_twin_takes_every_configuration_of_its_strategy(name: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(config=configurations(name))
    def check(config: Configuration) -> None:
        assert callable(twin(name).build(config))

    check()


@pytest.mark.parametrize("name", ZIG)
def test_guest_equals_native_twin_for_generated_configurations(name: str) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(config=configurations(name), events=st.lists(strategies.events(), min_size=1, max_size=8))
    def check(config: Configuration, events: list[bytes]) -> None:
        expected = Pipeline([twin(name).build(config)]).transform(events)
        with load_example(name, "zig", config) as guest:
            assert differences(events, guest.transform(events), expected) == []

    check()


def test_bulk_generator_is_reproducible_and_as_odd_as_promised() -> None:
    events = generate_events(11, 4000)
    assert events == generate_events(11, 4000)
    assert events != generate_events(12, 4000)
    messages = [Event.FromString(event) for event in events]
    images = [message.after for message in messages if message.HasField("after")]
    broken = 0
    for image in images:
        try:
            parse(image, "after")
        except EventFailure:
            broken += 1
    assert 0.01 < broken / len(images) < 0.15
    assert any(not message.HasField("before") and not message.HasField("after") for message in messages)
    assert any(message.attributes for message in messages)
    assert any(canonical(event) != event for event in events)
    for needle in (b"9007199254740993", b"\\u", "日本語".encode(), b"null", b"[]"):
        assert any(needle in image for image in images), needle
