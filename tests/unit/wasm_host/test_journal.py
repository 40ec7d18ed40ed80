"""What guests say beside their answers: log lines, metrics, aborts. Bounded, counted, and never counted twice."""

import pytest

import wasm_host
from tests.hostile.containment import POISON_ROW, healthy_events, poisoned_events
from tests.hostile.wat_guest import HAND_BACK, build, on_poison
from wasm_host import ISOLATIONS, Isolation, Limits, LogLine

EVENTS = list(healthy_events())
IMPORTS = """(import "env" "log" (func $log (param i32 i32 i32)))
  (import "env" "record_metric" (func $record (param i32 i64)))
  (import "env" "get_metric" (func $get (param i32) (result i64)))"""
DATA = '(data (i32.const 512) "hello\\00\\00\\00seen\\00\\00\\00\\00other\\00")'
SAY_HELLO = "(call $log (i32.const 2) (i32.const 512) (i32.const 5))"


def record(value: int, at: int = 520) -> str:
    return f"(call $record (i32.const {at}) (i64.const {value}))"


def test_log_lines_carry_row_level_and_text() -> None:
    calls = "".join(
        f"(call $log (i32.const {level}) (i32.const 512) (i32.const 5))" for level in (0, 1, 2, 3, 4, 5, -1)
    )
    with wasm_host.load(build(imports=IMPORTS, extra=DATA, transform=f"{calls} {HAND_BACK}")) as guest:
        result = guest.transform(EVENTS[:2])
    levels = ["trace", "debug", "info", "warn", "error", "error", "error"]
    assert result.logs == [LogLine(row, level, "hello") for row in (0, 1) for level in levels]


def test_rows_of_log_lines_count_through_nulls_and_chunks() -> None:
    wasm = build(imports=IMPORTS, extra=DATA, transform=f"{SAY_HELLO} {HAND_BACK}")
    events = [None if number % 3 else EVENTS[number % 40] for number in range(3_000)]
    with wasm_host.load(wasm, limits=Limits(max_log_bytes_per_batch=1 << 20)) as guest:
        result = guest.transform(events)
    assert [line.row for line in result.logs] == list(range(0, 3_000, 3))


def test_every_batch_has_the_whole_log_to_itself() -> None:
    wasm = build(imports=IMPORTS, extra=DATA, transform=f"{SAY_HELLO} {HAND_BACK}")
    limits = Limits(max_log_bytes_per_batch=40 * 17)
    with wasm_host.load(wasm, limits=limits) as guest:
        for _ in range(3):
            result = guest.transform(EVENTS)
            assert (len(result.logs), result.stats.log_lines_lost) == (40, 0)


def test_log_is_bounded_over_all_instances_of_a_batch() -> None:
    wasm = build(imports=IMPORTS, extra=DATA, transform=f"{SAY_HELLO} {HAND_BACK}")
    with wasm_host.load(wasm, isolation="event", limits=Limits(max_log_bytes_per_batch=10 * 17)) as guest:
        result = guest.transform(EVENTS)
    assert [line.row for line in result.logs] == list(range(10))
    assert result.stats.log_lines_lost == 30


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_event_that_is_tried_again_is_heard_once(isolation: Isolation) -> None:
    wasm = build(imports=IMPORTS, extra=DATA, transform=f"{SAY_HELLO} {record(1)} {on_poison('(unreachable)')}")
    with wasm_host.load(wasm, isolation=isolation) as guest:
        result = guest.transform(list(poisoned_events()))
    assert [line.row for line in result.logs] == list(range(41)), "the failed event's words are kept"
    assert result.metrics == {"seen": 40}, "what a failed event recorded does not count"


def test_metrics_add_up_by_name_and_stay_out_of_the_next_batch() -> None:
    wasm = build(imports=IMPORTS, extra=DATA, transform=f"{record(2)} {record(-5, at=528)} {record(3)} {HAND_BACK}")
    with wasm_host.load(wasm) as guest:
        assert guest.transform(EVENTS).metrics == {"seen": 200, "other": -200}
        assert guest.transform(EVENTS[:1]).metrics == {"seen": 5, "other": -5}
        assert guest.transform([]).metrics == {}


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_get_metric_sees_only_the_event_under_way(isolation: Isolation) -> None:
    # Records 3, then adds what it reads: 3 + 3. It would grow from event to event if it read more.
    read_back = "(call $record (i32.const 520) (call $get (i32.const 520)))"
    unknown = "(if (i64.ne (call $get (i32.const 528)) (i64.const 0)) (then (unreachable)))"
    wasm = build(imports=IMPORTS, extra=DATA, transform=f"{unknown} {record(3)} {read_back} {HAND_BACK}")
    with wasm_host.load(wasm, isolation=isolation) as guest:
        for _ in range(2):
            result = guest.transform(EVENTS)
            assert (result.failures, result.metrics) == ([], {"seen": 240})


def test_metrics_of_a_failure_by_answer_count_because_the_guest_went_on() -> None:
    wasm = build(imports=IMPORTS, extra=DATA, transform=f"{record(1)} (i64.const 0x8000000000000000)")
    with wasm_host.load(wasm) as guest:
        result = guest.transform(EVENTS)
    assert (len(result.failures), result.metrics) == (40, {"seen": 40})


def test_init_and_shutdown_are_heard_without_a_row() -> None:
    wasm = build(
        imports=IMPORTS,
        extra=DATA,
        init=f"{SAY_HELLO} {record(100)} (i32.const 0)",
        shutdown=f"{SAY_HELLO} {record(1000)} (i32.const 0)",
        transform=f"{record(1)} {HAND_BACK}",
    )
    with wasm_host.load(wasm, isolation="batch") as guest:
        first, second = guest.transform(EVENTS), guest.transform(EVENTS)
    assert first.logs == second.logs == [LogLine(None, "info", "hello")] * 2
    assert first.metrics == second.metrics == {"seen": 1140}


def test_failed_row_is_known_also_when_it_logged_nothing() -> None:
    wasm = build(transform=on_poison("(unreachable)"))
    with wasm_host.load(wasm) as guest:
        (failure,) = guest.transform(list(poisoned_events())).failures
    assert (failure.row, failure.guest_text) == (POISON_ROW, None)
