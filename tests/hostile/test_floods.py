"""Guests that flood what the host keeps for them: log and metrics."""

import wasm_host
from tests.hostile.containment import (
    POISON_ROW,
    assert_contained,
    assert_process_is_healthy,
    healthy_events,
    poisoned_events,
    resident_bytes,
)
from tests.hostile.wat_guest import HAND_BACK, build, on_poison
from wasm_host import ISOLATIONS, BatchResult, Limits
from wasm_host.driver_state import METRIC_SLOTS
from wasm_host.limits import MIB

IMPORTS = """(import "env" "log" (func $log (param i32 i32 i32)))
  (import "env" "record_metric" (func $record (param i32 i64)))
  (import "env" "get_metric" (func $get (param i32) (result i64)))"""


def times(count: int, code: str) -> str:
    return f"""(local.set $n (i32.const {count}))
      (loop $again {code} (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br_if $again (local.get $n)))"""


def run(wasm: bytes, events: list[bytes], limits: Limits | None = None) -> BatchResult:
    before_bytes = resident_bytes()
    with wasm_host.load(wasm, limits=limits) as guest:
        result = guest.transform(events)
    assert resident_bytes() - before_bytes < 64 * MIB
    assert_process_is_healthy()
    return result


def test_log_flood_keeps_what_fits_and_counts_the_rest() -> None:
    flood = times(10_000, "(call $log (i32.const 2) (local.get $ptr) (i32.const 20))")
    wasm = build(imports=IMPORTS, transform=f"(local $n i32) {flood} {HAND_BACK}")
    events = list(healthy_events())
    result = run(wasm, events, Limits(max_log_bytes_per_batch=3_200))
    assert result.events.to_pylist() == events
    assert len(result.logs) == 100, "a line takes 12 bytes beside its text"
    assert result.stats.log_lines_lost == 40 * 10_000 - 100


def test_log_flood_does_not_push_out_the_last_words() -> None:
    flood = times(10_000, "(call $log (i32.const 2) (local.get $ptr) (i32.const 100))")
    wasm = build(
        imports=IMPORTS,
        extra='(data (i32.const 512) "the reason")',
        transform=f"""(local $n i32)
          {on_poison(f"{flood} (call $log (i32.const 4) (i32.const 512) (i32.const 10)) (unreachable)")}""",
    )
    assert_contained(wasm, "TRAP_UNREACHABLE", guest_text="the reason")


def test_log_lines_lost_by_an_event_that_is_tried_again_count_once() -> None:
    flood = times(100, "(call $log (i32.const 2) (local.get $ptr) (i32.const 20))")
    wasm = build(imports=IMPORTS, transform=f"(local $n i32) {on_poison(f'{flood} (unreachable)')}")
    result = run(wasm, list(poisoned_events()), Limits(max_log_bytes_per_batch=320))
    assert [line.row for line in result.logs] == [POISON_ROW] * 10
    assert result.stats.log_lines_lost == 90


def test_log_with_bad_pointers_loses_the_line_and_nothing_else() -> None:
    bad = ((-1, 1), (131_072, 1), (131_071, 2), (1024, -1), (-1, -1), (0, 131_073))
    calls = "".join(f"(call $log (i32.const 2) (i32.const {ptr}) (i32.const {size}))" for ptr, size in bad)
    result = run(build(imports=IMPORTS, transform=f"{calls} {HAND_BACK}"), list(healthy_events()))
    assert result.events.to_pylist() == list(healthy_events())
    assert result.logs == []
    assert result.stats.log_lines_lost == 40 * len(bad)


def test_log_of_the_whole_memory_is_one_cut_line() -> None:
    wasm = build(imports=IMPORTS, transform=f"(call $log (i32.const 2) (i32.const 0) (i32.const 131072)) {HAND_BACK}")
    result = run(wasm, list(healthy_events(1)))
    assert [(line.row, len(line.text) <= 4 * 1024 + 1) for line in result.logs] == [(0, True)]


def test_log_before_the_guest_is_ready_is_counted_as_lost() -> None:
    wasm = build(imports=IMPORTS, start="(call $log (i32.const 2) (i32.const 1024) (i32.const 4))")
    result = run(wasm, list(healthy_events()))
    assert result.logs == []
    assert result.stats.log_lines_lost == 1


def test_a_million_metric_names_are_bounded_and_counted() -> None:
    # Each event makes names of four digits from a counter that survives it.
    name = """(i32.store (i32.const 512) (i32.or (i32.const 0x40404040) (global.get $n)))
      (call $record (i32.const 512) (i64.const 1))
      (global.set $n (i32.add (global.get $n) (i32.const 1)))"""
    wasm = build(
        imports=IMPORTS,
        extra="(global $n (mut i32) (i32.const 0))",
        transform=f"(local $n i32) {times(25_000, name)} {HAND_BACK}",
    )
    limits = Limits(fuel_per_event=1_000_000_000)
    result = run(wasm, list(healthy_events()), limits)
    assert result.events.to_pylist() == list(healthy_events())
    assert len(result.metrics) <= METRIC_SLOTS
    assert sum(result.metrics.values()) + result.stats.metrics_lost == 40 * 25_000


def test_new_metric_names_on_every_fresh_instance_are_bounded_too() -> None:
    # The name comes from the event, and every instance has a table of its own: the batch must not add them all up.
    name = """(i32.store (i32.const 512) (i32.or (i32.const 0x40404040) (local.get $n)))
      (memory.copy (i32.const 516) (i32.add (local.get $ptr) (i32.const 2)) (i32.const 12))
      (call $record (i32.const 512) (i64.const 1))"""
    wasm = build(
        imports=IMPORTS,
        transform=f"(local $n i32) {times(200, name)} {HAND_BACK}",
    )
    with wasm_host.load(wasm, isolation="event") as guest:
        result = guest.transform([b"\x12\x0c%012d" % n for n in range(300)])
    assert len(result.metrics) <= METRIC_SLOTS
    assert result.stats.metrics_lost > 300 * 50


def test_metric_names_with_bad_pointers_or_without_an_end_are_lost() -> None:
    bad = (-1, 131_072, 131_071, 65_536)
    calls = "".join(
        f"(call $record (i32.const {ptr}) (i64.const 1)) (drop (call $get (i32.const {ptr})))" for ptr in bad
    )
    fill = "(memory.fill (i32.const 65536) (i32.const 65) (i32.const 65536))"
    wasm = build(imports=IMPORTS, start=fill, transform=f"{calls} {HAND_BACK}")
    result = run(wasm, list(healthy_events()))
    assert result.events.to_pylist() == list(healthy_events())
    assert result.metrics == {}
    assert result.stats.metrics_lost == 40 * len(bad)


def test_metric_name_of_128_bytes_counts_and_of_129_is_lost() -> None:
    wasm = build(
        imports=IMPORTS,
        extra=f'(data (i32.const 65536) "{"a" * 128}\\00{"b" * 129}\\00")',
        transform=f"""(call $record (i32.const 65536) (i64.const 1)) (call $record (i32.const 65665) (i64.const 1))
            {HAND_BACK}""",
    )
    result = run(wasm, list(healthy_events()))
    assert result.metrics == {"a" * 128: 40}
    assert result.stats.metrics_lost == 40


def test_hostile_metric_names_are_escaped() -> None:
    wasm = build(
        imports=IMPORTS,
        extra='(data (i32.const 512) "\\1b[31m\\0a\\ff{}\\00")',
        transform=f"(call $record (i32.const 512) (i64.const 1)) {HAND_BACK}",
    )
    assert run(wasm, list(healthy_events())).metrics == {"\\x1b[31m\\n\\xff{}": 40}


def test_metric_values_wrap_within_an_event_without_harm() -> None:
    top = "(i64.const 0x7fffffffffffffff)"
    wasm = build(
        imports=IMPORTS,
        extra='(data (i32.const 512) "m\\00")',
        transform=f"(call $record (i32.const 512) {top}) (call $record (i32.const 512) {top}) {HAND_BACK}",
    )
    assert run(wasm, list(healthy_events(3))).metrics == {"m": -6}


def test_metric_flood_in_an_event_that_traps_leaves_the_others_counts_exact() -> None:
    flood = times(1_000, "(call $record (i32.const 512) (i64.const 1000000))")
    wasm = build(
        imports=IMPORTS,
        extra='(data (i32.const 512) "m\\00")',
        transform=f"""(local $n i32) (call $record (i32.const 512) (i64.const 1))
            {on_poison(f"{flood} (unreachable)")}""",
    )
    assert_contained(wasm, "TRAP_UNREACHABLE")
    for isolation in ISOLATIONS:
        with wasm_host.load(wasm, isolation=isolation) as guest:
            assert guest.transform(list(poisoned_events())).metrics == {"m": 40}
