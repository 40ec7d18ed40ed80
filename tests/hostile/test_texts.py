"""Guests whose words are the attack: failure messages, log lines, abort texts, names."""

import pytest

import wasm_host
from tests.hostile.containment import (
    POISON_ROW,
    assert_contained,
    assert_one_safe_line,
    assert_refused,
    healthy_events,
    poisoned_events,
)
from tests.hostile.wat_guest import build, on_poison
from wasm_host import InitError, Limits
from wasm_host.limits import MIB

LOG = '(import "env" "log" (func $log (param i32 i32 i32)))'
ABORT = '(import "env" "abort" (func $abort (param i32 i32 i32 i32)))'


def literal(content: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in content)


def says(content: bytes) -> bytes:
    """A guest that fails the poison event with these words."""
    return build(
        extra=f'(data (i32.const 65536) "{literal(content)}")',
        transform=on_poison(f"(return (call $packed (i32.const 2) (i32.const 65536) (i32.const {len(content)})))"),
    )


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"no such column", "no such column"),
        (b"\xff\xfe not text", "\\xff\\xfe not text"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
        (b"\x00\x01\x07\x1b[31m\x7f", "\\x00\\x01\\x07\\x1b[31m\\x7f"),
        (b"one\r\ntwo\n[ERROR] forged", "one\\r\\ntwo\\n[ERROR] forged"),
        ("\u202egnp.exe\u2066\u200b\ufeff".encode(), "\\u202egnp.exe\\u2066\\u200b\\ufeff"),
        ("line\u2028para\u2029next\x85".encode(), "line\\u2028para\\u2029next\\x85"),
        ("\U000e0001\ue000".encode(), "\\U000e0001\\ue000"),
        (b"{0.__class__} %s %(x)s ${jndi:ldap://x}", "{0.__class__} %s %(x)s ${jndi:ldap://x}"),
    ],
    ids=["plain", "not-utf-8", "surrogate", "control", "newlines", "bidi", "separators", "private-use", "formats"],
)
def test_words_of_a_failure_are_one_escaped_line(content: bytes, shown: str) -> None:
    assert_contained(says(content), "GUEST_FAILURE", guest_text=shown, says=(f'the guest says: "{shown}"',))


def test_failure_without_words_says_so_with_none() -> None:
    failure = assert_contained(build(transform=on_poison("(return (i64.const 0x8000000000000000))")), "GUEST_FAILURE")
    assert failure.guest_text is None
    assert 'says: ""' not in failure.message


def test_huge_words_are_cut_to_the_limit() -> None:
    wasm = build(
        memory='(memory (export "memory") 40)',
        transform=on_poison("(return (call $packed (i32.const 2) (i32.const 65536) (i32.const 2000000)))"),
        extra='(data (i32.const 65536) "%s")' % ("abcd" * 1000),
    )
    failure = assert_contained(wasm, "GUEST_FAILURE", limits=Limits(max_error_message_bytes=100))
    assert failure.guest_text == "abcd" * 25 + "…"


def test_huge_words_from_every_event_stay_within_the_failures_own_bound() -> None:
    # All 2,000 events fail with two megabytes of NULs, each shown as four characters.
    wasm = build(
        memory='(memory (export "memory") 40)',
        transform="(call $packed (i32.const 2) (i32.const 65536) (i32.const 2000000))",
    )
    with wasm_host.load(wasm) as guest:
        result = guest.transform(list(healthy_events()) * 50)
    assert [(failure.row, failure.code) for failure in result.failures] == [(n, "GUEST_FAILURE") for n in range(2000)]
    assert all(failure.guest_text == "\\x00" * 1024 + "…" for failure in result.failures)


def test_last_log_line_goes_with_the_trap() -> None:
    wasm = build(
        imports=LOG,
        extra='(data (i32.const 512) "first linepanic: index 7 of 3\\1b[2J")',
        transform=on_poison(
            """(call $log (i32.const 4) (i32.const 512) (i32.const 10))
               (call $log (i32.const 4) (i32.const 522) (i32.const 23)) (unreachable)"""
        ),
    )
    shown = "panic: index 7 of 3\\x1b[2J"
    assert_contained(wasm, "TRAP_UNREACHABLE", guest_text=shown, says=(f'the guest says: "{shown}"',))


def test_log_line_of_an_earlier_event_is_not_put_into_anothers_mouth() -> None:
    wasm = build(
        imports=LOG,
        extra='(data (i32.const 512) "private")',
        transform="""(if (i32.eq (local.get $len) (i32.const 777)) (then (unreachable)))
            (call $log (i32.const 4) (i32.const 512) (i32.const 7))
            (call $packed (i32.const 0) (local.get $ptr) (local.get $len))""",
    )
    failure = assert_contained(wasm, "TRAP_UNREACHABLE")
    assert failure.guest_text is None


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("at index 9".encode("utf-16-le"), "at index 9"),
        ("\x1b]0;x\x07".encode("utf-16-le"), "\\x1b]0;x\\x07"),
        (b"\x00\xd8", "\\x00\\xd8"),
    ],
    ids=["plain", "control", "lone-surrogate"],
)
def test_abort_text_is_utf16_and_escaped(message: bytes, shown: str) -> None:
    wasm = build(
        imports=ABORT,
        extra=f'(data (i32.const 508) "{literal(len(message).to_bytes(4, "little"))}{literal(message)}")',
        transform=on_poison("(call $abort (i32.const 512) (i32.const 0) (i32.const 12) (i32.const 34))"),
    )
    assert_contained(wasm, "GUEST_ABORT", guest_text=shown, says=("line 12, column 34", f'"{shown}"'))


@pytest.mark.parametrize("pointer", [0, 3, 4, 131_072, -1, 131_071])
def test_abort_with_a_bad_pointer_is_an_abort_without_words(pointer: int) -> None:
    wasm = build(
        imports=ABORT,
        transform=on_poison(f"(call $abort (i32.const {pointer}) (i32.const -1) (i32.const -1) (i32.const -1))"),
    )
    failure = assert_contained(wasm, "GUEST_ABORT", says=("line 4294967295",))
    assert failure.guest_text is None


def test_abort_with_a_length_of_4_gib_is_an_abort_without_words() -> None:
    wasm = build(
        imports=ABORT,
        extra='(data (i32.const 508) "\\ff\\ff\\ff\\ff")',
        transform=on_poison("(call $abort (i32.const 512) (i32.const 0) (i32.const 1) (i32.const 1))"),
    )
    assert assert_contained(wasm, "GUEST_ABORT").guest_text is None


def test_refusal_of_the_configuration_is_escaped_and_cut() -> None:
    wasm = build(
        imports=LOG,
        memory='(memory (export "memory") 40)',
        extra='(data (i32.const 512) "\\1b[31mkey is missing\\0a")',
        init="(call $log (i32.const 4) (i32.const 512) (i32.const 2000000)) (i32.const 7)",
    )
    error = assert_refused(wasm, InitError, says=("status 7", '"\\x1b[31mkey is missing\\n\\x00'))
    assert len(error.details["guest_text"]) < 5 * 1024


def test_names_of_exports_and_functions_never_reach_a_message_raw() -> None:
    wasm = build(
        extra='(func $"\\1b[31mfake\\0awasm trap: all is well" (unreachable))',
        transform=on_poison('(call $"\\1b[31mfake\\0awasm trap: all is well")'),
    )
    assert_contained(wasm, "TRAP_UNREACHABLE", says=("`unreachable` instruction executed",))


def test_words_beside_a_healthy_event_are_escaped_log_lines() -> None:
    wasm = build(
        imports=LOG,
        extra='(data (i32.const 512) "\\1b[2Jx\\0a")',
        transform="""(call $log (i32.const 99) (i32.const 512) (i32.const 6))
            (call $packed (i32.const 0) (local.get $ptr) (local.get $len))""",
    )
    with wasm_host.load(wasm, limits=Limits(max_memory_bytes=MIB)) as guest:
        result = guest.transform(list(poisoned_events()))
    assert result.logs[POISON_ROW].row == POISON_ROW
    assert {(line.level, line.text) for line in result.logs} == {("error", "\\x1b[2Jx\\n")}
    for line in result.logs:
        assert_one_safe_line(line.text)
