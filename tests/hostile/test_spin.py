"""Guests that never come back, from every export. Fuel ends them, and names what was under way."""

import pytest

import wasm_host
from tests.hostile.containment import assert_contained, assert_process_is_healthy, assert_refused, healthy_events
from tests.hostile.wat_guest import HAND_BACK, IS_POISON, IS_POISON_SIZE, SPIN, build, on_poison
from wasm_host import FuelExhaustedError, Limits

LIMITS = Limits(fuel_per_event=500_000, init_fuel=1_000_000)
SAYS_FUEL = ("fuel_per_event, which is 500,000", "hint: raise Limits.fuel_per_event")


@pytest.mark.parametrize(
    ("parts", "stage"),
    [
        ({"start": SPIN}, "start"),
        ({"initialize": SPIN}, "_initialize"),
        ({"version": f"{SPIN} (unreachable)"}, "wasm_host_abi_version"),
        ({"init": f"{SPIN} (unreachable)"}, "init"),
        ({"init": "(i32.const 0)", "alloc": f"{SPIN} (unreachable)"}, "alloc"),
        ({"init": "(i32.const 0)", "dealloc": SPIN}, "dealloc"),
    ],
    ids=["start", "_initialize", "abi_version", "init", "alloc-for-init", "dealloc-after-init"],
)
def test_spin_before_the_guest_is_ready_is_refused_under_init_fuel(parts: dict[str, str], stage: str) -> None:
    error = assert_refused(
        build(**parts), FuelExhaustedError, limits=LIMITS, says=("init_fuel is 1,000,000", f"export {stage}")
    )
    assert error.details["limit_name"] == "init_fuel"


def test_spin_in_alloc_fails_the_event() -> None:
    wasm = build(alloc=f"(if {IS_POISON_SIZE} (then {SPIN})) (call $take (local.get $size))")
    assert_contained(wasm, "FUEL_EXHAUSTED", limits=LIMITS, says=(*SAYS_FUEL, "in export alloc"))


def test_spin_in_transform_fails_the_event() -> None:
    failure = assert_contained(
        build(transform=on_poison(SPIN)), "FUEL_EXHAUSTED", limits=LIMITS, says=(*SAYS_FUEL, "in export transform")
    )
    assert failure.fuel == LIMITS.fuel_per_event


def test_spin_in_dealloc_of_the_answer_fails_the_event() -> None:
    wasm = build(dealloc=f"(if {IS_POISON_SIZE} (then {SPIN})) (call $give (local.get $ptr) (local.get $size))")
    assert_contained(wasm, "FUEL_EXHAUSTED", limits=LIMITS, says=(*SAYS_FUEL, "in export dealloc"))


def test_spin_in_dealloc_of_a_dropped_input_fails_the_event() -> None:
    wasm = build(
        transform=f"(if {IS_POISON} (then (return (i64.const 0)))) {HAND_BACK}",
        dealloc=f"(if {IS_POISON_SIZE} (then {SPIN})) (call $give (local.get $ptr) (local.get $size))",
    )
    assert_contained(wasm, "FUEL_EXHAUSTED", limits=LIMITS, says=(*SAYS_FUEL, "in export dealloc"))


def test_mutual_recursion_by_loop_of_calls_fails_the_event() -> None:
    wasm = build(
        extra="(func $ping (loop $l (call $pong) (br $l))) (func $pong (drop (i32.const 1)))",
        transform=on_poison("(call $ping)"),
    )
    assert_contained(wasm, "FUEL_EXHAUSTED", limits=LIMITS, says=SAYS_FUEL)


def test_spin_in_shutdown_is_noted_and_costs_no_event() -> None:
    guest = wasm_host.load(build(shutdown=f"{SPIN} (unreachable)"), limits=LIMITS)
    result = guest.transform(list(healthy_events()))
    assert result.events.to_pylist() == list(healthy_events())
    guest.close()
    assert guest.shutdown_failure is not None
    assert "shutdown trapped: all fuel consumed" in guest.shutdown_failure
    assert_process_is_healthy()


def test_spin_in_shutdown_of_each_events_instance_costs_no_event() -> None:
    with wasm_host.load(build(shutdown=f"{SPIN} (unreachable)"), limits=LIMITS, isolation="event") as guest:
        result = guest.transform(list(healthy_events()))
        assert result.events.to_pylist() == list(healthy_events())
        assert not result.failures
        assert guest.shutdown_failure is not None
