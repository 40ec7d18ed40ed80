"""Counters that the examples record."""

import pytest

from abi import Event
from guest_examples import languages_of
from tests.guests.examples import load_example

ROW = Event(op=1, table="t", after=b'{"email":"x"}').SerializeToString()
OTHER = Event(op=1, table="t", after=b"{}").SerializeToString()
NO_ROW = Event(op=6, table="t").SerializeToString()


@pytest.mark.parametrize("language", languages_of("mask_pii"))
def test_rule_that_matched_nothing_is_counted_for_each_event_with_an_image(language: str) -> None:
    config = {"rules": [{"path": "email", "action": "redact"}, {"path": "typo.email", "action": "redact"}]}
    with load_example("mask_pii", language, config) as guest:
        result = guest.transform([ROW, OTHER, NO_ROW])
    assert result.metrics == {"mask_pii.unmatched.email": 1, "mask_pii.unmatched.typo.email": 2}
