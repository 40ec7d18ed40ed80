"""Guests that want more than they may have: memory, tables, stack."""

import pytest

import wasm_host
from tests.hostile.containment import (
    assert_contained,
    assert_process_is_healthy,
    assert_refused,
    event_bytes,
    healthy_events,
    resident_bytes,
)
from tests.hostile.wat_guest import HAND_BACK, IS_POISON_SIZE, build, on_poison
from wasm_host import InvalidModuleError, Limits, MemoryLimitError
from wasm_host.limits import MIB

SMALL = Limits(max_memory_bytes=4 * MIB)
GROW_TO_THE_LIMIT = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))"


def test_grow_bomb_that_gives_up_fails_with_the_memory_limit() -> None:
    assert_contained(
        build(transform=on_poison(f"{GROW_TO_THE_LIMIT} (unreachable)")),
        "MEMORY_LIMIT",
        limits=SMALL,
        says=("4,194,304 of max_memory_bytes=4,194,304", "hint: raise Limits.max_memory_bytes"),
    )


def test_grow_bomb_that_uses_the_minus_one_fails_with_the_memory_limit() -> None:
    wasm = build(transform=on_poison(f"{GROW_TO_THE_LIMIT} (i32.store (i32.const -1) (i32.const 0))"))
    assert_contained(wasm, "MEMORY_LIMIT", limits=SMALL, says=("max_memory_bytes", "out of bounds"))


def test_grow_bomb_in_alloc_that_returns_zero_fails_with_the_memory_limit() -> None:
    wasm = build(
        alloc=f"""(if {IS_POISON_SIZE} (then {GROW_TO_THE_LIMIT} (return (i32.const 0))))
                  (call $take (local.get $size))"""
    )
    assert_contained(wasm, "MEMORY_LIMIT", limits=SMALL, says=("max_memory_bytes", "alloc returned 0"))


def test_grow_bomb_at_once_gets_minus_one_and_goes_on() -> None:
    wasm = build(
        transform=f"(if (i32.ne (memory.grow (i32.const 60000)) (i32.const -1)) (then (unreachable))) {HAND_BACK}"
    )
    with wasm_host.load(wasm) as guest:
        result = guest.transform(list(healthy_events()))
        assert not result.failures
        assert guest.memory_bytes == 2 * 65536


def test_grow_bomb_that_touches_every_page_of_every_instance_stays_bounded() -> None:
    # Each event fills 16 MiB and traps, on instance after instance; the memories of the dead must not pile up.
    fill = "(memory.fill (i32.const 65536) (i32.const 7) (i32.const 16000000))"
    wasm = build(transform=f"(drop (memory.grow (i32.const 254))) {fill} (unreachable)")
    limits = Limits(max_memory_bytes=17 * MIB)
    before_bytes = resident_bytes()
    with wasm_host.load(wasm, limits=limits) as guest:
        result = guest.transform(list(healthy_events(24)))
    assert [failure.code for failure in result.failures] == ["TRAP_UNREACHABLE"] * 24
    assert resident_bytes() - before_bytes < 160 * MIB
    assert_process_is_healthy()


def test_declared_memory_of_4_gib_is_refused() -> None:
    wasm = build(memory='(memory (export "memory") 65536)')
    error = assert_refused(
        wasm,
        MemoryLimitError,
        says=("declares 4,294,967,296 bytes", "max_memory_bytes is 67,108,864", "Limits.max_memory_bytes"),
    )
    assert (error.details["limit"], error.details["observed"]) == (64 * MIB, 1 << 32)


def test_declared_maximum_of_4_gib_is_no_promise() -> None:
    with wasm_host.load(build(memory='(memory (export "memory") 2 65536)', transform=on_poison(""))) as guest:
        assert guest.transform(list(healthy_events())).events.to_pylist() == list(healthy_events())
        assert guest.memory_bytes == 2 * 65536


@pytest.mark.parametrize(
    ("tables", "name", "seen"),
    [
        ("(table 4294967295 funcref)", "max_table_elements", "4,294,967,295"),
        ("(table 100001 externref)", "max_table_elements", "100,001"),
        ("(table 1 funcref)" * 5, "max_tables", "5"),
        ("(table 1 funcref)" * 100, "max_tables", "100"),
    ],
    ids=["four-billion-elements", "one-element-too-many", "one-table-too-many", "a-hundred-tables"],
)
def test_declared_table_bombs_are_refused(tables: str, name: str, seen: str) -> None:
    error = assert_refused(build(extra=tables), (MemoryLimitError), says=(f"declares {seen} ", f"Limits.{name}"))
    assert error.details["limit_name"] == name


def test_table_grow_bomb_gets_minus_one() -> None:
    wasm = build(
        extra="(table $t 1 funcref)",
        transform=on_poison(
            """(loop $more (br_if $more (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1))))
               (if (i32.gt_u (table.size $t) (i32.const 100000)) (then (return (i64.const 0))))
               (unreachable)"""
        ),
    )
    assert_contained(wasm, "TRAP_UNREACHABLE", says=("in export transform",))


def test_too_many_tables_for_the_engine_are_refused() -> None:
    assert_refused(build(extra="(table 1 funcref)" * 101), InvalidModuleError, says=("tables count",))


def test_deep_recursion_overflows_its_own_stack_only() -> None:
    wasm = build(extra="(func $down (call $down))", transform=on_poison("(call $down)"))
    assert_contained(
        wasm, "TRAP_STACK_OVERFLOW", says=("max_stack_bytes is 524,288", "hint: raise Limits.max_stack_bytes")
    )


def test_deep_recursion_before_the_guest_is_ready_is_refused() -> None:
    wasm = build(extra="(func $down (call $down))", initialize="(call $down)")
    assert_refused(wasm, wasm_host.GuestTrapError, says=("call stack exhausted", "export _initialize"))


def test_huge_locals_overflow_the_stack_and_nothing_else() -> None:
    # 6,000 locals that are all live across the call: each frame takes 48 kB.
    count = 6_000
    writes = "".join(f"(local.set {n} (i64.load offset={8 * n} (local.get $at)))" for n in range(1, count))
    reads = "".join(f"(local.set $sum (i64.add (local.get $sum) (local.get {n})))" for n in range(1, count))
    wasm = build(
        extra=f"""(func $wide (param $at i32) (result i64) (local {"i64 " * (count - 1)}) (local $sum i64)
            {writes}
            (local.set $sum (call $wide (local.get $at)))
            {reads} (local.get $sum))""",
        memory='(memory (export "memory") 8)',
        transform=on_poison("(drop (call $wide (i32.const 0)))"),
    )
    assert_contained(wasm, "TRAP_STACK_OVERFLOW", says=("max_stack_bytes",))


def test_more_locals_than_wasm_allows_are_refused() -> None:
    wasm = build(extra=f"(func (local {'i64 ' * 50_001}))")
    assert_refused(wasm, InvalidModuleError, says=("locals",))


def test_event_larger_than_the_guests_memory_fails_without_being_shown() -> None:
    batch = list(healthy_events())
    batch.insert(17, event_bytes(17, 5 * MIB))
    assert_contained(
        build(),
        "INPUT_TOO_LARGE",
        events=batch,
        limits=SMALL,
        says=("5,242,880 bytes", "max_memory_bytes is 4,194,304"),
    )


def test_event_that_fits_the_limit_but_not_what_is_left_of_it_fails_with_the_memory_limit() -> None:
    batch = list(healthy_events())
    batch.insert(17, event_bytes(17, 4 * MIB - 512))
    assert_contained(build(), "MEMORY_LIMIT", events=batch, limits=SMALL, says=("max_memory_bytes=4,194,304",))


def test_guest_that_writes_over_all_its_memory_harms_one_event() -> None:
    wasm = build(
        transform=on_poison("(memory.fill (i32.const 0) (i32.const 255) (i32.shl (memory.size) (i32.const 16)))")
    )
    assert_contained(wasm, "OUTPUT_NOT_AN_EVENT", says=("777 bytes", "not an Event"))
