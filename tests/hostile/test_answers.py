"""Guests whose packed answers and output bytes are chosen to do harm."""

import pytest

import wasm_host
from tests.hostile.containment import (
    POISON_ROW,
    assert_contained,
    event_bytes,
    healthy_events,
    outputs,
    poisoned_events,
)
from tests.hostile.wat_guest import HAND_BACK, build, on_poison
from wasm_host import Limits
from wasm_host.limits import MIB

MEMORY_BYTES = 131_072


def answers(packed: int) -> bytes:
    """A guest that answers the poison event with this packed result."""
    return build(transform=on_poison(f"(return (i64.const {packed}))"))


def pack(kind: int, pointer: int, length: int) -> int:
    return kind << 62 | pointer << 32 | length


@pytest.mark.parametrize(
    ("packed", "code", "says"),
    [
        (pack(0, MEMORY_BYTES - 1, 2), "RESULT_OUT_OF_BOUNDS", "pointer 131,071, 2 bytes"),
        (pack(0, 0x3FFF_FFFF, 1), "RESULT_OUT_OF_BOUNDS", "pointer 1,073,741,823, 1 bytes"),
        (pack(0, 1024, 0xFFFF_FFFF), "RESULT_OUT_OF_BOUNDS", "4,294,967,295 bytes"),
        (pack(0, 0x3FFF_FFFF, 0xFFFF_FFFF), "RESULT_OUT_OF_BOUNDS", "guest memory is 131,072"),
        (pack(1, 0x3FFF_FFFF, 0xFFFF_FFFF), "RESULT_OUT_OF_BOUNDS", "guest memory is 131,072"),
        (pack(2, 0x3FFF_FFFF, 0xFFFF_FFFF), "RESULT_OUT_OF_BOUNDS", "guest memory is 131,072"),
        (pack(2, MEMORY_BYTES - 1, 2), "RESULT_OUT_OF_BOUNDS", "guest memory is 131,072"),
        (pack(3, 1024, 10), "RESULT_RESERVED_KIND", "kind 3"),
        ((1 << 64) - 1, "RESULT_RESERVED_KIND", "kind 3"),
        (pack(3, 0, 0), "RESULT_RESERVED_KIND", "kind 3"),
        (pack(0, 1024, 0), "RESULT_EMPTY", "without bytes"),
        (pack(1, 1024, 0), "RESULT_EMPTY", "without bytes"),
        (pack(0, 0, 10), "RESULT_EMPTY", "null pointer"),
        (pack(1, 0, 10), "RESULT_EMPTY", "null pointer"),
        (pack(1, 0, 0), "RESULT_EMPTY", "null pointer"),
    ],
    ids=lambda value: hex(value) if isinstance(value, int) else None,
)
def test_impossible_answer_fails_the_event(packed: int, code: str, says: str) -> None:
    assert_contained(answers(packed), code, says=(says,))


@pytest.mark.parametrize(
    "answer",
    [
        "(i32.add (local.get $ptr) (i32.const 1)) (i32.const 8)",
        "(i32.sub (local.get $ptr) (i32.const 8)) (i32.const 16)",
        "(local.get $ptr) (i32.add (local.get $len) (i32.const 1))",
        "(i32.const 1) (i32.const 131000)",
        "(i32.sub (i32.add (local.get $ptr) (local.get $len)) (i32.const 1)) (i32.const 100)",
    ],
    ids=["begins-inside", "ends-inside", "longer-than-the-input", "around-it", "last-byte"],
)
def test_answer_that_overlaps_the_input_fails_the_event(answer: str) -> None:
    for kind in (0, 1, 2):
        wasm = build(transform=on_poison(f"(return (call $packed (i32.const {kind}) {answer}))"))
        assert_contained(wasm, "RESULT_OVERLAPS_INPUT", says=("overlaps the input",))


def test_shorter_part_of_the_input_handed_back_is_taken() -> None:
    # The first 19 bytes of a valid event need not be one: what counts is that the block is the input's own.
    wasm = build(transform=on_poison("(return (call $packed (i32.const 0) (local.get $ptr) (i32.const 2)))"))
    assert_contained(wasm, "OUTPUT_NOT_AN_EVENT", says=("2 bytes",))


def test_answer_of_the_whole_memory_is_too_large() -> None:
    wasm = build(
        memory='(memory (export "memory") 40)',
        transform=on_poison("(return (call $packed (i32.const 0) (i32.const 131072) (i32.const 2097153)))"),
    )
    assert_contained(
        wasm,
        "OUTPUT_TOO_LARGE",
        limits=Limits(max_output_bytes_per_event=2 * MIB),
        says=("2,097,153 bytes", "max_output_bytes_per_event is 2,097,152", "Limits.max_output_bytes_per_event"),
    )


def literal(content: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in content)


def gives(content: bytes, kind: int) -> bytes:
    """A guest that answers the poison event with these bytes."""
    return build(
        extra=f'(data (i32.const 65536) "{literal(content)}")',
        transform=on_poison(f"(return (call $packed (i32.const {kind}) (i32.const 65536) (i32.const {len(content)})))"),
    )


@pytest.mark.parametrize(
    "content",
    [
        b"\x00",
        b"\xff" * 300,
        b"{}",
        b"\x3a\x01\xff",
        b"\x0a\x05abc",
        b"\x7b" * 200,
        b"\x28\x80",
        b"\x22\x02\x0a\x01",
        event_bytes(1, 100)[:-1],
        event_bytes(1, 100) + b"\x0a",
    ],
    ids=[
        "field-0",
        "all-ones",
        "json",
        "not-utf-8",
        "length-past-the-end",
        "nested-groups",
        "endless-varint",
        "bad-nested-message",
        "truncated-event",
        "one-byte-too-many",
    ],
)
def test_output_that_is_not_an_event_fails_the_event(content: bytes) -> None:
    assert_contained(gives(content, 0), "OUTPUT_NOT_AN_EVENT", says=(f"{len(content)} bytes", "not an Event"))


EVENT = event_bytes(1, 100)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\x64" + EVENT + b"\x65" + EVENT, "STREAM_MALFORMED"),
        (b"\x64" + EVENT[:-1], "STREAM_MALFORMED"),
        (b"\x64" + EVENT + b"\x80", "STREAM_MALFORMED"),
        (b"\xff\xff\xff\xff\x0f" + EVENT, "STREAM_MALFORMED"),
        (b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01" + EVENT, "STREAM_MALFORMED"),
        (b"\xff" * 20, "STREAM_MALFORMED"),
        (b"\x64" + EVENT + b"\x03\x3a\x01\xff", "OUTPUT_NOT_AN_EVENT"),
        (EVENT, "OUTPUT_NOT_AN_EVENT"),
    ],
    ids=[
        "second-cut-short",
        "only-one-cut-short",
        "length-cut-short",
        "length-of-4-gib",
        "length-of-ten-bytes",
        "length-without-end",
        "second-is-no-event",
        "no-lengths-at-all",
    ],
)
def test_broken_stream_fails_the_event_without_partial_output(content: bytes, code: str) -> None:
    assert_contained(gives(content, 1), code)


def test_million_event_stream_is_too_many() -> None:
    # A million empty events are a million zero bytes, which fresh memory already is.
    wasm = build(
        memory='(memory (export "memory") 20)',
        transform=on_poison("(return (call $packed (i32.const 1) (i32.const 131072) (i32.const 1000000)))"),
    )
    assert_contained(
        wasm,
        "TOO_MANY_OUTPUT_EVENTS",
        says=("max_output_events_per_event, which is 10,000", "Limits.max_output_events_per_event"),
    )


def test_as_many_events_as_allowed_from_every_event_are_all_there() -> None:
    count = 2_000
    wasm = build(
        memory='(memory (export "memory") 4)',
        transform=f"(return (call $packed (i32.const 1) (i32.const 131072) (i32.const {count})))",
    )
    with wasm_host.load(wasm, limits=Limits(max_output_events_per_event=count)) as guest:
        result = guest.transform(list(healthy_events()))
    assert outputs(result) == [(row, b"") for row in range(40) for _ in range(count)]


def test_huge_outputs_of_every_event_make_room_as_they_need_it() -> None:
    # 3 MiB from each of 41 events: more than the staging memory has room for at a time.
    size = 3 * MIB
    big = event_bytes(0, size)
    prefix = big[: big.index(b"x")]
    suffix = big[big.rindex(b"x") + 1 :]
    wasm = build(
        memory='(memory (export "memory") 60)',
        extra=f"""(data (i32.const 65536) "{literal(prefix)}")
            (data (i32.const {65536 + size - len(suffix)}) "{literal(suffix)}")
            (func $fill (memory.fill (i32.const {65536 + len(prefix)}) (i32.const 120)
                (i32.const {size - len(prefix) - len(suffix)})))
            (start $fill)""",
        transform=f"""(if (i32.eq (local.get $len) (i32.const 777)) (then (return {HAND_BACK})))
            (call $packed (i32.const 0) (i32.const 65536) (i32.const {size}))""",
        alloc="(i32.const 1024)",
        dealloc="",
    )
    with wasm_host.load(wasm) as guest:
        result = guest.transform(list(poisoned_events()))
    assert [failure.code for failure in result.failures] == []
    assert [len(output or b"") for _, output in outputs(result)] == [size] * POISON_ROW + [777] + [size] * 23
    assert result.events[0].as_py() == big
