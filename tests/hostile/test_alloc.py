"""Guests whose `alloc` and `dealloc` lie."""

import pytest

import wasm_host
from tests.hostile.containment import assert_contained, assert_refused, healthy_events, outputs
from tests.hostile.wat_guest import IS_POISON_SIZE, build, on_poison
from wasm_host import ISOLATIONS, GuestError, Isolation


def alloc_on_poison(answer: str) -> str:
    return f"(if {IS_POISON_SIZE} (then (return {answer}))) (call $take (local.get $size))"


def test_alloc_that_returns_zero_fails_the_event() -> None:
    assert_contained(build(alloc=alloc_on_poison("(i32.const 0)")), "ALLOC_FAILED", says=("alloc returned 0",))


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        ("(i32.const -1)", 4_294_967_295),
        ("(i32.const 0x80000000)", 2_147_483_648),
        ("(i32.const 131072)", 131_072),
        (f"(i32.const {131_072 - 776})", 131_072 - 776),
    ],
    ids=["all-ones", "negative", "just-behind", "one-byte-short"],
)
def test_alloc_out_of_range_fails_the_event(answer: str, pointer: int) -> None:
    wasm = build(alloc=alloc_on_poison(answer))
    assert_contained(wasm, "ALLOC_OUT_OF_BOUNDS", says=(f"pointer {pointer:,}", "777 bytes", "131,072 bytes"))


def test_alloc_of_the_last_bytes_of_memory_is_taken() -> None:
    with wasm_host.load(build(alloc="(i32.sub (i32.const 131072) (local.get $size))")) as guest:
        assert guest.transform(list(healthy_events())).events.to_pylist() == list(healthy_events())


def test_alloc_that_always_gives_the_previous_block_is_its_own_harm() -> None:
    with wasm_host.load(build(alloc="(i32.const 4096)")) as guest:
        assert guest.transform(list(healthy_events())).events.to_pylist() == list(healthy_events())


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_alloc_over_the_guests_own_stack_corrupts_one_answer(isolation: Isolation) -> None:
    # The guest keeps a pointer at 512, as a compiler keeps a frame; the input is written over it.
    wasm = build(
        alloc=alloc_on_poison("(i32.const 500)"),
        extra='(data (i32.const 512) "\\00\\08\\00\\00")',
        transform="""(memory.copy (i32.load (i32.const 512)) (local.get $ptr) (local.get $len))
            (call $packed (i32.const 0) (i32.load (i32.const 512)) (local.get $len))""",
        dealloc="",
    )
    assert_contained(wasm, "TRAP_MEMORY_OUT_OF_BOUNDS", isolations=[isolation])


def test_alloc_over_the_answer_that_the_guest_still_holds_changes_only_its_own_output() -> None:
    # The answer is a fixed block, and the input is put right into it.
    wasm = build(
        alloc=alloc_on_poison("(i32.const 65536)"),
        transform=on_poison("(return (call $packed (i32.const 0) (i32.const 65537) (i32.const 100)))"),
    )
    assert_contained(wasm, "RESULT_OVERLAPS_INPUT", says=("pointer 65,537, 100 bytes",))


def test_alloc_that_traps_fails_the_event() -> None:
    wasm = build(alloc=f"(if {IS_POISON_SIZE} (then (unreachable))) (call $take (local.get $size))")
    assert_contained(wasm, "TRAP_UNREACHABLE", says=("in export alloc",))


def test_dealloc_that_traps_fails_the_event_although_its_answer_was_read() -> None:
    wasm = build(dealloc=f"(if {IS_POISON_SIZE} (then (unreachable))) (call $give (local.get $ptr) (local.get $size))")
    assert_contained(wasm, "TRAP_UNREACHABLE", says=("in export dealloc",))


def test_dealloc_that_traps_on_a_drop_fails_the_event() -> None:
    wasm = build(
        transform=on_poison("(return (i64.const 0))"),
        dealloc=f"(if {IS_POISON_SIZE} (then (unreachable))) (call $give (local.get $ptr) (local.get $size))",
    )
    assert_contained(wasm, "TRAP_UNREACHABLE", says=("in export dealloc",))


def test_dealloc_that_traps_after_a_failure_message_fails_the_event_with_the_trap() -> None:
    wasm = build(
        transform=on_poison("(return (call $packed (i32.const 2) (local.get $ptr) (i32.const 5)))"),
        dealloc=f"(if {IS_POISON_SIZE} (then (unreachable))) (call $give (local.get $ptr) (local.get $size))",
    )
    assert_contained(wasm, "TRAP_UNREACHABLE", says=("in export dealloc",))


def test_dealloc_of_the_input_that_scribbles_over_the_answer_changes_only_that_answer() -> None:
    wasm = build(
        transform=on_poison(
            """(memory.copy (i32.const 70000) (local.get $ptr) (local.get $len))
               (return (call $packed (i32.const 0) (i32.const 70000) (local.get $len)))"""
        ),
        dealloc=f"""(if {IS_POISON_SIZE} (then (memory.fill (i32.const 70000) (i32.const 255) (i32.const 777))))
                    (call $give (local.get $ptr) (local.get $size))""",
    )
    assert_contained(wasm, "OUTPUT_NOT_AN_EVENT")


def test_alloc_without_a_block_for_the_configuration_is_refused() -> None:
    for answer in ("(i32.const 0)", "(i32.const -1)"):
        error = assert_refused(
            build(init="(i32.const 0)", alloc=answer), GuestError, says=("alloc(1)", "configuration")
        )
        assert error.code == "GUEST_ERROR"


def test_alloc_that_moves_the_memory_by_growing_is_followed() -> None:
    wasm = build(alloc="(drop (memory.grow (i32.const 1))) (call $take (local.get $size))")
    with wasm_host.load(wasm) as guest:
        result = guest.transform(list(healthy_events()))
        assert outputs(result) == list(enumerate(healthy_events()))
