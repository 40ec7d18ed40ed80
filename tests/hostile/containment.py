"""What every hostile guest must not achieve, in two assertions.

`assert_contained`: one event of a batch misbehaves. Its failure is exact, nobody else's output changes by a byte,
memory stays bounded, and the process goes on to serve healthy batches, through the same guest and through another one.
`assert_refused`: the module does not even start, and the process serves a healthy batch afterwards.
"""

import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

import wasm_host
from abi import Event, Operation, TransformError
from tests.hostile.wat_guest import POISON_BYTES, build
from wasm_host import ISOLATIONS, BatchResult, Failure, Limits
from wasm_host.limits import MIB

POISON_ROW = 17
MAX_RESIDENT_GROWTH_BYTES = 96 * MIB
"""A guest may have 64 MiB by default, the host's staging of a few; compiled code and Arrow take the rest."""


def event_bytes(number: int, size: int | None = None) -> bytes:
    """A valid event; with `size`, padded to exactly that many bytes."""
    event = Event(op=Operation.INSERT, ts=number, table="orders", after=b'{"id": %d}' % number, envelope_version=1)
    if size is None:
        return event.SerializeToString()
    # A length prefix grows by a byte at 128, so not every size can be met with one field: the table helps out.
    for table in ("orders", "orders_"):
        rest = Event(op=Operation.INSERT, ts=number, table=table, envelope_version=1)
        for prefix_bytes in (2, 3, 4, 5):
            event = Event()
            event.CopyFrom(rest)
            event.after = b"x" * (size - rest.ByteSize() - prefix_bytes)
            if event.ByteSize() == size:
                return event.SerializeToString()
    raise ValueError(f"no event of {size} bytes")


@functools.cache
def healthy_events(count: int = 40) -> tuple[bytes, ...]:
    """Events of different lengths, none of them the poison's."""
    return tuple(event_bytes(number, 60 + number % 90 * 7) for number in range(count))


@functools.cache
def poisoned_events() -> tuple[bytes, ...]:
    """The healthy events, with the poison event in their middle."""
    events = healthy_events()
    return (*events[:POISON_ROW], event_bytes(POISON_ROW, POISON_BYTES), *events[POISON_ROW:])


def resident_bytes() -> int:
    """Resident set of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def outputs(result: BatchResult) -> list[tuple[int, bytes | None]]:
    """(row, bytes) of each output."""
    return list(zip(result.rows.to_pylist(), result.events.to_pylist(), strict=True))


def assert_process_is_healthy() -> None:
    """Another guest, in the same process, serves a batch."""
    events = list(healthy_events())
    with wasm_host.load(build()) as guest:
        result = guest.transform(events)
    assert result.events.to_pylist() == events
    assert not result.failures


def assert_one_safe_line(text: str, *, max_bytes: int = 8192) -> None:
    """Messages reach terminals and logs: one line, printable, bounded."""
    assert text.isprintable(), repr(text[:200])
    assert len(text.encode()) <= max_bytes


def assert_contained(
    wasm: bytes,
    code: str,
    *,
    says: Sequence[str] = (),
    guest_text: str | None = None,
    limits: Limits | None = None,
    isolations: Sequence[wasm_host.Isolation] = ISOLATIONS,
    events: Sequence[bytes] | None = None,
    wasi: bool = False,
) -> Failure:
    """Run the poisoned batch in each isolation and hold everything around the one failure to what it should be."""
    batch = list(events or poisoned_events())
    rest = batch[:POISON_ROW] + batch[POISON_ROW + 1 :]
    before_bytes = resident_bytes()
    limits = limits or Limits()
    failure: Failure | None = None
    for isolation in isolations:
        with wasm_host.load(wasm, limits=limits, isolation=isolation, wasi=wasi) as guest:
            expected = outputs(guest.transform(rest))
            result = guest.transform(batch)
            assert [(item.row, item.code) for item in result.failures] == [(POISON_ROW, code)], result.failures
            failure = result.failures[0]
            assert outputs(result) == [(row + (row >= POISON_ROW), output) for row, output in expected]
            assert result.stats.events_failed == 1
            assert guest.memory_bytes <= limits.max_memory_bytes
            again = guest.transform(rest)
            assert outputs(again) == expected
            assert not again.failures
    assert failure is not None
    assert_one_safe_line(failure.message)
    for text in says:
        assert text in failure.message
    if guest_text is not None:
        assert failure.guest_text == guest_text
    assert resident_bytes() - before_bytes < MAX_RESIDENT_GROWTH_BYTES
    assert_process_is_healthy()
    return failure


def assert_refused(
    wasm: bytes,
    kind: type[TransformError],
    *,
    says: Sequence[str] = (),
    limits: Limits | None = None,
    wasi: bool = False,
) -> TransformError:
    """Loading fails with exactly this class, in one safe line, without taking memory; the process goes on."""
    before_bytes = resident_bytes()
    with pytest.raises(kind) as caught:
        wasm_host.load(wasm, limits=limits, wasi=wasi)
    assert type(caught.value) is kind, caught.value
    message = str(caught.value)
    assert_one_safe_line(message)
    for text in says:
        assert text in message, message
    assert resident_bytes() - before_bytes < MAX_RESIDENT_GROWTH_BYTES
    assert_process_is_healthy()
    return caught.value
