"""Every limit from both sides: what just fits passes, one more fails, with the code and the field that name it."""

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import wasm_host
from tests.hostile.containment import assert_process_is_healthy, event_bytes
from tests.hostile.wat_guest import HAND_BACK, build
from wasm_host import (
    BatchResult,
    ConfigError,
    DeadlineExceededError,
    FuelExhaustedError,
    GuestTrapError,
    Limits,
    MemoryLimitError,
    ModuleTooLargeError,
)
from wasm_host.limits import KIB, MIB, WASM_PAGE_BYTES
from wasm_host.wasm_code import measure_code

EVENT = event_bytes(1, 100)
LOG = '(import "env" "log" (func $log (param i32 i32 i32)))'
FIELDS = [field.name for field in dataclasses.fields(Limits)]

# Counts down from a number in the guest's data, as long as it takes.
COUNT_DOWN = """(local $n i32) (local.set $n (i32.const {count}))
  (loop $more (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br_if $more (local.get $n)))"""


def run(wasm: bytes, limits: Limits, event: bytes = EVENT) -> BatchResult:
    with wasm_host.load(wasm, limits=limits) as guest:
        return guest.transform([event])


def assert_passes(wasm: bytes, limits: Limits) -> BatchResult:
    result = run(wasm, limits)
    assert result.failures == []
    return result


def assert_fails(wasm: bytes, limits: Limits, code: str, *says: str) -> None:
    (failure,) = run(wasm, limits).failures
    assert failure.code == code
    for text in says:
        assert text in failure.message


def smallest(low: int, high: int, passes: Callable[[int], bool]) -> int:
    """The smallest number in (low, high] that passes; everything above it does as well."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def check_fuel_per_event() -> None:
    wasm = build(transform=f"{COUNT_DOWN.format(count=2_000)} {HAND_BACK}")
    used = assert_passes(wasm, Limits()).stats.fuel
    enough = smallest(1_000, used + 1, lambda fuel: not run(wasm, Limits(fuel_per_event=fuel)).failures)
    assert used - 100 < enough <= used, "fuel is exact, up to the last check in the event"
    assert_passes(wasm, Limits(fuel_per_event=enough))
    says = (f"fuel_per_event, which is {enough - 1:,}", "Limits.fuel_per_event")
    assert_fails(wasm, Limits(fuel_per_event=enough - 1), "FUEL_EXHAUSTED", *says)


def check_init_fuel() -> None:
    wasm = build(init=f"{COUNT_DOWN.format(count=2_000)} (i32.const 0)")

    def starts(fuel: int) -> bool:
        try:
            wasm_host.load(wasm, limits=Limits(init_fuel=fuel)).close()
        except FuelExhaustedError:
            return False
        return True

    enough = smallest(1_000, 100_000, starts)
    assert 8_000 < enough < 20_000
    assert starts(enough)
    with pytest.raises(FuelExhaustedError, match=f"init_fuel is {enough - 1:,}.*Limits.init_fuel") as caught:
        wasm_host.load(wasm, limits=Limits(init_fuel=enough - 1))
    assert caught.value.details["limit_name"] == "init_fuel"


def check_max_memory_bytes() -> None:
    grows = build(
        transform=f"(if (i32.eq (memory.grow (i32.const 5)) (i32.const -1)) (then (unreachable))) {HAND_BACK}"
    )
    assert_passes(grows, Limits(max_memory_bytes=7 * WASM_PAGE_BYTES))
    page_by_page = build(
        transform=f"""(local $n i32) (local.set $n (i32.const 5))
          (loop $more (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
            (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br_if $more (local.get $n))) {HAND_BACK}"""
    )
    assert_passes(page_by_page, Limits(max_memory_bytes=7 * WASM_PAGE_BYTES))
    limit = 7 * WASM_PAGE_BYTES - 1
    assert_fails(
        page_by_page,
        Limits(max_memory_bytes=limit),
        "MEMORY_LIMIT",
        f"393,216 of max_memory_bytes={limit:,}",
        "Limits.max_memory_bytes",
    )
    declared = build(memory='(memory (export "memory") 7)')
    assert_passes(declared, Limits(max_memory_bytes=7 * WASM_PAGE_BYTES))
    with pytest.raises(MemoryLimitError, match=f"declares 458,752 bytes.*{limit:,}.*Limits.max_memory_bytes"):
        run(declared, Limits(max_memory_bytes=limit))


def check_max_tables() -> None:
    wasm = build(extra="(table 1 funcref) (table 1 externref) (table 1 funcref)")
    assert_passes(wasm, Limits(max_tables=3))
    with pytest.raises(MemoryLimitError, match=r"declares 3 tables; max_tables is 2; hint: raise Limits.max_tables"):
        run(wasm, Limits(max_tables=2))
    assert_passes(build(), Limits(max_tables=0))


def check_max_table_elements() -> None:
    declared = build(extra="(table 10 funcref)")
    assert_passes(declared, Limits(max_table_elements=10))
    with pytest.raises(MemoryLimitError, match=r"declares 10 elements in a table; max_table_elements is 9"):
        run(declared, Limits(max_table_elements=9))
    grown = build(
        extra="(table $t 1 funcref)",
        transform=f"""(if (i32.eq (table.grow $t (ref.null func) (i32.const 9)) (i32.const -1)) (then (unreachable)))
            {HAND_BACK}""",
    )
    assert_passes(grown, Limits(max_table_elements=10))
    assert_fails(grown, Limits(max_table_elements=9), "TRAP_UNREACHABLE")


def check_max_stack_bytes() -> None:
    def recursive(depth: int) -> bytes:
        return build(
            extra="""(func $down (param $n i32) (result i32)
                (if (i32.eqz (local.get $n)) (then (return (i32.const 0))))
                (i32.add (call $down (i32.sub (local.get $n) (i32.const 1))) (i32.load (i32.const 0))))""",
            transform=f"(drop (call $down (i32.const {depth}))) {HAND_BACK}",
        )

    def is_too_deep(depth: int) -> bool:
        return bool(run(recursive(depth), Limits(max_stack_bytes=64 * KIB)).failures)

    too_deep = smallest(16, 10_000, is_too_deep)
    assert_passes(recursive(too_deep - 1), Limits(max_stack_bytes=64 * KIB))
    says = ("max_stack_bytes is 65,536", "Limits.max_stack_bytes")
    assert_fails(recursive(too_deep), Limits(max_stack_bytes=64 * KIB), "TRAP_STACK_OVERFLOW", *says)
    assert_passes(recursive(too_deep), Limits(max_stack_bytes=65 * KIB))


def check_max_output_bytes_per_event() -> None:
    assert_passes(build(), Limits(max_output_bytes_per_event=100))
    says = ("the answer has 100 bytes", "max_output_bytes_per_event is 99", "Limits.max_output_bytes_per_event")
    assert_fails(build(), Limits(max_output_bytes_per_event=99), "OUTPUT_TOO_LARGE", *says)


def check_max_output_events_per_event() -> None:
    wasm = build(transform="(call $packed (i32.const 1) (i32.const 65536) (i32.const 7))")
    assert len(assert_passes(wasm, Limits(max_output_events_per_event=7)).events) == 7
    says = ("max_output_events_per_event, which is 6", "Limits.max_output_events_per_event")
    assert_fails(wasm, Limits(max_output_events_per_event=6), "TOO_MANY_OUTPUT_EVENTS", *says)


def check_max_log_bytes_per_batch() -> None:
    # A line takes 12 bytes beside its text.
    wasm = build(imports=LOG, transform=f"(call $log (i32.const 2) (local.get $ptr) (i32.const 20)) {HAND_BACK}")
    fits = assert_passes(wasm, Limits(max_log_bytes_per_batch=32))
    assert (len(fits.logs), fits.stats.log_lines_lost) == (1, 0)
    lost = assert_passes(wasm, Limits(max_log_bytes_per_batch=31))
    assert (len(lost.logs), lost.stats.log_lines_lost) == (0, 1)
    assert assert_passes(wasm, Limits(max_log_bytes_per_batch=0)).stats.log_lines_lost == 1


def check_max_error_message_bytes() -> None:
    wasm = build(
        extra='(data (i32.const 65536) "0123456789")',
        transform="(call $packed (i32.const 2) (i32.const 65536) (i32.const 10))",
    )
    shown = {limit: run(wasm, Limits(max_error_message_bytes=limit)).failures[0].guest_text for limit in (10, 9, 1, 0)}
    assert shown == {10: "0123456789", 9: "012345678…", 1: "0…", 0: "…"}


def check_max_module_bytes() -> None:
    size = len(build())
    assert_passes(build(), Limits(max_module_bytes=size))
    with pytest.raises(ModuleTooLargeError, match=rf"has {size:,} bytes; max_module_bytes is {size - 1:,}; hint:"):
        run(build(), Limits(max_module_bytes=size - 1))


def assert_bounds_what_is_compiled(field: str, attribute: str) -> None:
    wasm = build(transform=f"{COUNT_DOWN.format(count=3)} {'(block (br_if 0 (i32.const 0)))' * 50} {HAND_BACK}")
    seen = getattr(measure_code(wasm), attribute)
    assert_passes(wasm, Limits(**{field: seen}))
    says = rf"has .*: {seen:,}; {field} is {seen - 1:,}; hint: .*raise Limits\.{field}"
    with pytest.raises(ModuleTooLargeError, match=says):
        run(wasm, Limits(**{field: seen - 1}))


def check_max_code_bytes() -> None:
    assert_bounds_what_is_compiled("max_code_bytes", "code_bytes")


def check_max_function_bytes() -> None:
    assert_bounds_what_is_compiled("max_function_bytes", "largest_function_bytes")


def check_max_module_complexity() -> None:
    assert_bounds_what_is_compiled("max_module_complexity", "complexity")


def check_max_function_complexity() -> None:
    assert_bounds_what_is_compiled("max_function_complexity", "largest_function_complexity")


def check_max_wall_ms_per_batch() -> None:
    wasm = build(transform=f"{COUNT_DOWN.format(count=300_000_000)} {HAND_BACK}")
    assert_passes(wasm, Limits(fuel_per_event=10**12, max_wall_ms_per_batch=60_000))
    with pytest.raises(DeadlineExceededError, match=r"max_wall_ms_per_batch, which is 20 .*no event was marked"):
        run(wasm, Limits(fuel_per_event=10**12, max_wall_ms_per_batch=20))


CHECKS: dict[str, Callable[[], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}


@pytest.mark.parametrize("name", FIELDS)
def test_limit_holds_from_both_sides(name: str) -> None:
    CHECKS[name]()
    assert_process_is_healthy()


def test_every_field_is_checked_and_nothing_else() -> None:
    assert sorted(CHECKS) == sorted(FIELDS)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", [-1, 10**13, 1.5, True, "1", None, float("inf")], ids=repr)
def test_value_that_is_no_number_in_range_is_refused_with_the_range(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"Limits\.{name} is .*; allowed is a whole number from [\d,]+ to [\d,]+"):
        Limits(**{name: value})  # type: ignore[arg-type]  # wrong on purpose


def test_limits_are_frozen_hashable_and_picklable() -> None:
    limits = Limits(fuel_per_event=5_000)
    with pytest.raises(dataclasses.FrozenInstanceError):
        limits.fuel_per_event = 6_000  # type: ignore[misc]  # wrong on purpose
    again = pickle.loads(pickle.dumps(limits))
    assert (again, hash(again)) == (limits, hash(limits))
    assert again != Limits()


def test_limits_from_a_file_refuse_unknown_names() -> None:
    values: dict[str, Any] = {"fuel_per_event": 5_000}
    assert Limits.from_mapping(values).fuel_per_event == 5_000
    with pytest.raises(ConfigError, match=r"unknown limit 'fuel'; known are fuel_per_event"):
        Limits.from_mapping({"fuel": 1})


def test_guest_runs_at_the_low_end_of_every_limit_that_leaves_room() -> None:
    low = Limits(
        fuel_per_event=1_000,
        init_fuel=1_000,
        max_memory_bytes=128 * KIB,
        max_tables=0,
        max_table_elements=0,
        max_stack_bytes=16 * KIB,
        max_output_bytes_per_event=100,
        max_output_events_per_event=1,
        max_log_bytes_per_batch=0,
        max_error_message_bytes=0,
        max_module_bytes=4 * KIB,
    )
    with wasm_host.load(build(), limits=low) as guest:
        assert guest.transform([EVENT] * 50).events.to_pylist() == [EVENT] * 50


def test_guest_runs_at_the_high_end_of_every_limit() -> None:
    high = Limits(
        fuel_per_event=10**12,
        init_fuel=10**12,
        max_memory_bytes=1024 * MIB,
        max_tables=1_000,
        max_table_elements=10_000_000,
        max_stack_bytes=2 * MIB,
        max_output_bytes_per_event=512 * MIB,
        max_output_events_per_event=1_000_000,
        max_log_bytes_per_batch=16 * MIB,
        max_error_message_bytes=64 * KIB,
        max_module_bytes=256 * MIB,
        max_wall_ms_per_batch=24 * 3600 * 1000,
    )
    with wasm_host.load(build(), limits=high) as guest:
        assert guest.transform([EVENT] * 50).events.to_pylist() == [EVENT] * 50
    deep = build(extra="(func $down (call $down))", initialize="(call $down)")
    with pytest.raises(GuestTrapError, match="call stack exhausted"):
        wasm_host.load(deep, limits=high)
