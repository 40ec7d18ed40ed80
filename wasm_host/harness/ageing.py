"""What the host hides and the author should know: an instance that breaks down or slows down with age."""

import statistics
from collections.abc import Sequence

from abi.failures import FailureCode
from wasm_host.guest import Guest
from wasm_host.harness.probe import Probe

_COMPARED_EVENTS = 50
# A collector or a free list makes some events dearer than on their first time; this is far more, for most of them.
_SLOWER = 3


def ageing(probe: Probe, events: Sequence[bytes]) -> str | None:
    """Send the events one by one to one instance; gives what is wrong with its old age.

    One event a call, so that each has its whole fuel: in a batch, fuel too can end an instance that is sound.
    """
    with probe.load("worker") as guest:
        answers = [_answer(guest, event) for event in events]
        first = [fuel for fuel, _ in answers[:_COMPARED_EVENTS]]
        again = [_answer(guest, event)[0] for event in events[:_COMPARED_EVENTS]]
    # The very first call may make its instance.
    replaced = sum(is_replaced for _, is_replaced in answers[1:])
    if replaced:
        return (
            f"{replaced:,} time(s) in {len(events):,} events the instance broke down on an event that a fresh one "
            "answers: it does not bear what came before"
        )
    slower = (
        statistics.median(after / max(before, 1) for before, after in zip(first, again, strict=True)) if first else 1
    )
    if slower > _SLOWER:
        return f"an event takes {slower:.1f} times the fuel after {len(events):,} others: it slows down with age"
    return None


def _answer(guest: Guest, event: bytes) -> tuple[int, bool]:
    """The fuel of one event, and whether its instance was replaced although a fresh one answers."""
    result = guest.transform([event])
    is_broken = any(failure.code != FailureCode.GUEST_FAILURE for failure in result.failures)
    return result.stats.fuel, result.stats.instances_made > 0 and not is_broken
