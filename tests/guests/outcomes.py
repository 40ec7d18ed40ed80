"""What became of each event of a batch, in a form in which a guest and its native twin can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from abi import Event
from wasm_host import BatchResult


@dataclass(frozen=True)
class Outcome:
    """The output events of one input, or why it has none."""

    outputs: tuple[bytes, ...]
    failure: str | None


def outcomes_of(result: BatchResult, count: int) -> list[Outcome]:
    """One outcome for each of `count` inputs."""
    outputs: list[list[bytes]] = [[] for _ in range(count)]
    for row, event in zip(result.rows.to_pylist(), result.events.to_pylist(), strict=True):
        outputs[row].append(event)
    failures: dict[int, str] = {}
    for failure in result.failures:
        # A message of no bytes is a valid event in protobuf, but no answer in the contract: the host names it so.
        if failure.code == "RESULT_EMPTY":
            outputs[failure.row] = [b""]
        else:
            failures[failure.row] = failure.guest_text or failure.message
    return [Outcome(tuple(found), failures.get(row)) for row, found in enumerate(outputs)]


def differences(events: Sequence[bytes], guest: BatchResult, native: BatchResult) -> list[str]:
    """Describe the events for which guest and twin disagree.

    A guest keeps the order of fields; protobuf's own writer does not. So bytes are compared where the input is in
    protobuf's own order, and otherwise (unknown fields in front, fields twice) after writing both in that order.
    """
    found = []
    pairs = zip(outcomes_of(guest, len(events)), outcomes_of(native, len(events)), strict=True)
    for row, (ours, twin) in enumerate(pairs):
        if ours == twin:
            continue
        if ours.failure == twin.failure and canonical(events[row]) != events[row]:
            ours = Outcome(tuple(canonical(output) for output in ours.outputs), ours.failure)
            if ours == twin:
                continue
        found.append(f"event {row} {events[row]!r}: guest {ours}, twin {twin}")
    return found


def canonical(event: bytes) -> bytes:
    """The event as protobuf's own writer orders it."""
    return Event.FromString(event).SerializeToString(deterministic=True)
