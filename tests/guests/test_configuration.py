"""Configurations: what is taken, what is refused, and in which words."""

import pytest

from abi import ConfigRefused
from guest_examples import NAMES, twin
from guest_examples.sample_configurations import ACCEPTED, REFUSED
from tests.guests.examples import BUILDS, load_example
from wasm_host import InitError
from wasm_host.guest_text import clean_text

WITH_INIT = [(name, language) for name, language in BUILDS if language != "wat"]


def _refusal(name: str, config: dict[str, object]) -> str:
    with pytest.raises(ConfigRefused) as caught:
        twin(name).build(config)
    return caught.value.message


@pytest.mark.parametrize(("name", "language"), WITH_INIT)
def test_guest_refuses_in_the_words_of_its_twin(name: str, language: str) -> None:
    assert REFUSED[name]
    for config in REFUSED[name]:
        expected = clean_text(_refusal(name, config).encode(), max_bytes=1024)
        with pytest.raises(InitError) as caught:
            load_example(name, language, config)
        assert caught.value.details["guest_text"] == expected, config


@pytest.mark.parametrize("name", NAMES)
def test_refusals_say_what_the_matter_is(name: str) -> None:
    for config in REFUSED[name]:
        assert _refusal(name, config).startswith("configuration: ")


@pytest.mark.parametrize(("name", "language"), WITH_INIT)
def test_guest_takes_every_sample(name: str, language: str) -> None:
    for config in ACCEPTED[name]:
        load_example(name, language, config).close()
