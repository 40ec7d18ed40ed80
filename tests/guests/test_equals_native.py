"""A guest and its native twin agree on every event: the same bytes, or the same failure in the same words.

20,000 events an example run in CI. `GUEST_FUZZ_EVENTS=1000000` runs more, and `GUEST_FUZZ_SEED` other ones.
"""

import os

import pytest

from guest_examples import NAMES, languages_of, twin
from guest_examples.sample_configurations import ACCEPTED
from tests.guests.examples import load_example
from tests.guests.outcomes import differences
from wasm_host.generate import EventMaker
from wasm_host.native import Pipeline

EVENTS = int(os.environ.get("GUEST_FUZZ_EVENTS", "20000"))
SEED = int(os.environ.get("GUEST_FUZZ_SEED", "1"))
CHUNK = 5_000


@pytest.mark.parametrize("name", NAMES)
def test_guest_equals_native_twin_on_generated_events(name: str) -> None:
    configurations = ACCEPTED[name]
    share = -(-EVENTS // len(configurations))
    for index, config in enumerate(configurations):
        native = Pipeline([twin(name).build(config)])
        guests = {language: load_example(name, language, config) for language in languages_of(name)}
        assert guests, f"{name} has not been built"
        maker = EventMaker(SEED * 1000 + index)
        for start in range(0, share, CHUNK):
            events = [maker.make() for _ in range(min(CHUNK, share - start))]
            expected = native.transform(events)
            for language, guest in guests.items():
                found = differences(events, guest.transform(events), expected)
                assert not found, f"{name} in {language} with {config}: {len(found)} differ, first: {found[0]}"
        for guest in guests.values():
            guest.close()
