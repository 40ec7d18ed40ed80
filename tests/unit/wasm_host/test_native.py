"""The native pipeline gives the same BatchResult as a guest does."""

from typing import Any

import pyarrow as pa
import pytest

import wasm_host
from abi import Event, EventFailure, Operation
from tests.hostile.wat_guest import build
from wasm_host import BatchResult
from wasm_host.native import Pipeline


def events(count: int = 6) -> list[bytes]:
    made = [Event(op=Operation.INSERT, ts=number + 1, table="t", after=b"{}") for number in range(count)]
    return [event.SerializeToString(deterministic=True) for event in made]


def times(result: BatchResult) -> list[tuple[int, int | None]]:
    decoded = [None if value is None else Event.FromString(value).ts for value in result.events.to_pylist()]
    return list(zip(result.rows.to_pylist(), decoded, strict=True))


def test_transforms_run_in_order_and_may_keep_drop_or_multiply() -> None:
    def odd_only(event: Event) -> Event | None:
        return event if event.ts % 2 else None

    def twice(event: Event) -> list[Event]:
        later = Event()
        later.CopyFrom(event)
        later.ts += 100
        return [event, later]

    def shift(event: Event) -> Event:
        event.ts += 1000
        return event

    result = Pipeline([odd_only, twice, shift]).transform([*events(3), None])
    assert times(result) == [(0, 1001), (0, 1101), (2, 1003), (2, 1103), (3, None)]
    stats = result.stats
    assert (stats.events_in, stats.events_out, stats.events_dropped, stats.events_failed) == (4, 5, 1, 0)


def test_pipeline_without_transforms_gives_what_a_pass_through_guest_gives() -> None:
    batch: list[bytes | None] = [*events(), None, *events(2)]
    with wasm_host.load(build()) as guest, Pipeline([]) as pipeline:
        for source in (
            batch,
            pa.array(batch, pa.binary()),
            pa.chunked_array([batch[:3], batch[3:]], pa.large_binary()),
        ):
            by_guest, natively = guest.transform(source), pipeline.transform(source)
            assert natively.events.equals(by_guest.events)
            assert natively.rows.equals(by_guest.rows)
            for name in ("events_in", "events_out", "events_dropped", "events_failed", "bytes_in", "bytes_out"):
                assert getattr(natively.stats, name) == getattr(by_guest.stats, name), name


def test_exception_is_that_events_failure_and_no_other() -> None:
    def fails_on_three(event: Event) -> Event:
        if event.ts == 3:
            raise ZeroDivisionError("by\nzero \x1b[31m")
        return event

    result = Pipeline([fails_on_three]).transform(events())
    (failure,) = result.failures
    assert (failure.row, failure.code) == (2, "NATIVE_EXCEPTION")
    assert failure.guest_text == "ZeroDivisionError: by\\nzero \\x1b[31m"
    assert "the transform raised ZeroDivisionError" in failure.message
    assert [row for row, _ in times(result)] == [0, 1, 3, 4, 5]


def test_event_failure_is_the_same_failure_as_a_guests_own_word() -> None:
    def refuse(event: Event) -> Event:
        raise EventFailure("no such column" * 200)

    result = Pipeline([refuse]).transform(events(1))
    (failure,) = result.failures
    assert failure.code == "GUEST_FAILURE"
    assert failure.guest_text is not None
    assert failure.guest_text.startswith("no such column")
    assert len(failure.guest_text) == 1024 + 1


def test_failure_of_a_later_transform_takes_the_whole_row_with_it() -> None:
    def twice(event: Event) -> list[Event]:
        later = Event(ts=event.ts + 100)
        return [event, later]

    def fails_on_late(event: Event) -> Event:
        if event.ts == 102:
            raise EventFailure("late")
        return event

    result = Pipeline([twice, fails_on_late]).transform(events(3))
    assert [failure.row for failure in result.failures] == [1]
    assert times(result) == [(0, 1), (0, 101), (2, 3), (2, 103)]


def test_input_that_is_no_event_fails_its_row() -> None:
    result = Pipeline([]).transform([b"\xff\xff", *events(1)])
    assert [(failure.row, failure.code) for failure in result.failures] == [(0, "INPUT_NOT_AN_EVENT")]
    assert times(result) == [(1, 1)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_are_not_swallowed(error: type[BaseException]) -> None:
    def stop(event: Event) -> Event:
        raise error

    with pytest.raises(error):
        Pipeline([stop]).transform(events(1))


def test_transform_that_returns_something_else_fails_the_event() -> None:
    def text(event: Event) -> Any:
        return event.table

    result = Pipeline([text]).transform(events(1))
    assert [failure.code for failure in result.failures] == ["NATIVE_EXCEPTION"]


def test_unknown_fields_survive() -> None:
    event = events(1)[0] + b"\xa2\x7d\x03abc"
    assert Pipeline([]).transform([event]).events.to_pylist() == [event]
