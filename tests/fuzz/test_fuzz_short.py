"""The short form of the long fuzz runs; `make fuzz-modules` is the long one."""

from tests.fuzz.modules import fuzz

COUNT = 2_000


def test_hostile_modules_end_in_a_coded_error_or_a_correct_result() -> None:
    outcomes = fuzz(COUNT, seed=0)
    assert outcomes.total() == COUNT
    # Both halves of the promise were really exercised.
    assert outcomes["ran"] > COUNT // 20
    assert outcomes["INVALID_MODULE"] > COUNT // 20
    assert len(outcomes) >= 5
