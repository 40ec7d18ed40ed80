"""The short form of the long fuzz run; `make fuzz-events` is the long one."""

from tests.fuzz.events import EVENTS_PER_BATCH, fuzz, subjects

ROUNDS = 3


def test_hostile_events_end_in_an_output_a_drop_or_a_coded_failure() -> None:
    outcomes = fuzz(ROUNDS * EVENTS_PER_BATCH * len(list(subjects())), seed=0)
    # All three ends were really met, and more than one reason to fail.
    assert outcomes["output"] > 500
    assert outcomes["drop"] > 50
    assert outcomes["GUEST_FAILURE"] > 50
    assert len(outcomes) >= 5
