"""Guests that carry something from one event to the next: leaks, counters, moods. It costs speed, never events."""

import pytest

import wasm_host
from tests.hostile.containment import event_bytes, healthy_events, outputs, resident_bytes
from tests.hostile.wat_guest import HAND_BACK, build
from wasm_host import ISOLATIONS, BatchResult, Isolation, Limits
from wasm_host.limits import MIB

COUNTER = "(global $n (mut i32) (i32.const 0))"
COUNT = "(global.set $n (i32.add (global.get $n) (i32.const 1)))"
SMALL = Limits(max_memory_bytes=MIB)


def run_all(wasm: bytes, *, isolation: Isolation = "worker", limits: Limits | None = None) -> BatchResult:
    events = list(healthy_events(500))
    with wasm_host.load(wasm, isolation=isolation, limits=limits) as guest:
        result = guest.transform(events)
        assert guest.memory_bytes <= (limits or Limits()).max_memory_bytes
    assert outputs(result) == list(enumerate(events))
    assert result.failures == []
    return result


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_guest_that_traps_at_every_nth_event_of_its_life_loses_none(isolation: Isolation) -> None:
    wasm = build(
        extra=COUNTER,
        transform=f"{COUNT} (if (i32.eq (global.get $n) (i32.const 7)) (then (unreachable))) {HAND_BACK}",
    )
    result = run_all(wasm, isolation=isolation)
    if isolation == "worker":
        # A fresh instance serves the retried event and five more.
        assert 500 // 6 - 1 <= result.stats.instances_made <= 500 // 6 + 1


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_leak_until_alloc_returns_zero_loses_no_event(isolation: Isolation) -> None:
    wasm = build(alloc="(call $take (i32.add (local.get $size) (i32.const 30000)))", dealloc="")
    assert run_all(wasm, isolation=isolation, limits=SMALL).stats.instances_made >= 10


def test_leak_until_alloc_traps_loses_no_event() -> None:
    wasm = build(
        extra="""(func $must (param $size i32) (result i32) (local $ptr i32)
            (local.set $ptr (call $take (local.get $size)))
            (if (i32.eqz (local.get $ptr)) (then (unreachable))) (local.get $ptr))""",
        alloc="(call $must (i32.add (local.get $size) (i32.const 30000)))",
        dealloc="",
    )
    run_all(wasm, limits=SMALL)


def test_leak_until_the_guest_says_out_of_memory_loses_no_event() -> None:
    wasm = build(
        dealloc="",
        transform=f"""(if (i32.eqz (call $take (i32.const 30000)))
            (then (return (call $packed (i32.const 2) (i32.const 0) (i32.const 0))))) {HAND_BACK}""",
    )
    run_all(wasm, limits=SMALL)


def test_leak_in_a_memory_that_cannot_grow_loses_no_event() -> None:
    wasm = build(
        memory='(memory (export "memory") 16 16)',
        dealloc="",
        transform=f"""(if (i32.eqz (call $take (i32.const 30000)))
            (then (return (call $packed (i32.const 2) (i32.const 0) (i32.const 0))))) {HAND_BACK}""",
    )
    run_all(wasm)


def test_leak_across_batches_stays_within_the_limit_and_loses_no_event() -> None:
    wasm = build(alloc="(call $take (i32.add (local.get $size) (i32.const 3000)))", dealloc="")
    events = list(healthy_events())
    before_bytes = resident_bytes()
    with wasm_host.load(wasm, limits=SMALL) as guest:
        for _ in range(100):
            assert guest.transform(events).events.to_pylist() == events
            assert guest.memory_bytes <= SMALL.max_memory_bytes
    assert resident_bytes() - before_bytes < 32 * MIB


def test_guest_that_slows_down_with_every_event_loses_none() -> None:
    # The work of an event grows with the instance's age, until an event would take more than its fuel.
    wasm = build(
        extra=COUNTER,
        transform=f"""(local $i i32)
            (global.set $n (i32.add (global.get $n) (i32.const 3000)))
            (local.set $i (global.get $n))
            (loop $work (local.set $i (i32.sub (local.get $i) (i32.const 1))) (br_if $work (local.get $i)))
            {HAND_BACK}""",
    )
    run_all(wasm, limits=Limits(fuel_per_event=200_000))


def test_guest_that_corrupts_its_answer_with_age_loses_no_event() -> None:
    wasm = build(
        extra=COUNTER,
        transform=f"""{COUNT} (if (i32.gt_u (global.get $n) (i32.const 20))
            (then (i32.store8 (local.get $ptr) (i32.const 0)))) {HAND_BACK}""",
    )
    run_all(wasm)


def test_counting_guest_tells_its_instances_apart_only_where_they_live_on() -> None:
    """A guest that breaks the contract by remembering: isolation decides what it can see, and no event fails."""
    wasm = build(
        extra=COUNTER,
        transform=f"""{COUNT} (i32.store8 (i32.const 514) (global.get $n))
            (call $packed (i32.const 0) (i32.const 513) (i32.const 2))""",
        start="(i32.store8 (i32.const 513) (i32.const 0x28))",
        alloc="(i32.const 1024)",
        dealloc="",
    )
    events = [event_bytes(number) for number in range(5)]
    seen = {}
    for isolation in ISOLATIONS:
        with wasm_host.load(wasm, isolation=isolation) as guest:
            seen[isolation] = [value.as_py()[1] for _ in range(2) for value in guest.transform(events).events]
    assert seen == {"worker": [*range(1, 11)], "batch": [*range(1, 6)] * 2, "event": [1] * 10}
