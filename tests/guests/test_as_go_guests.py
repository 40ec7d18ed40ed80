"""The built AssemblyScript and Go modules: what they import, that they are deterministic, what hostile input does."""

import re
from typing import Any

import pytest

import wasm_host
from abi import ConfigRefused, Event
from guest_examples import load_wasm, twin
from wasm_host import Guest, Limits
from wasm_host.generate import generate_events
from wasm_host.wasi import WASI_IMPORT_MODULE, WASI_IMPORTS

LANGUAGES = ("as", "go")
MODULES = [(name, language) for name in ("mask_pii", "pass_through") for language in LANGUAGES]
RULES: dict[str, Any] = {
    "rules": [{"path": "email", "action": "hmac"}, {"path": "contact.*", "action": "keep_last", "n": 2}],
    "default": {"action": "truncate", "n": 3},
    "hmac_key": "0123456789abcdef",
}
GOOD = Event(op=1, table="t", after=b'{"email":"a@b"}').SerializeToString()


def load(language: str, config: dict[str, Any], limits: Limits | None = None) -> Guest:
    return wasm_host.load(load_wasm("mask_pii", language), config=config, limits=limits or Limits(), wasi=True)


def row(image: bytes) -> bytes:
    return Event(op=1, table="t", after=image).SerializeToString()


@pytest.mark.parametrize(("name", "language"), MODULES)
def test_module_imports_only_what_it_may(name: str, language: str) -> None:
    env = {("env", symbol) for symbol in ("log", "record_metric", "get_metric", "abort")}
    wasi = {(WASI_IMPORT_MODULE, symbol.name) for symbol in WASI_IMPORTS} if language == "go" else set()
    config = RULES if name == "mask_pii" else {}
    with wasm_host.load(load_wasm(name, language), config=config, wasi=True) as guest:
        imported = set(guest.module.imports)
    assert imported <= env | wasi
    assert bool(imported & wasi) == (language == "go")


@pytest.mark.parametrize(("name", "language"), MODULES)
def test_module_is_small_for_its_language_and_names_no_folder_of_its_builder(name: str, language: str) -> None:
    module = load_wasm(name, language)
    assert len(module) < (100_000 if language == "as" else 2_200_000)
    assert re.search(rb"/(?:home|root|work|Users)/", module) is None
    assert re.search(rb"/\0(?:h\0o\0m\0e|r\0o\0o\0t|w\0o\0r\0k)\0/", module) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_fresh_instances_give_the_same_bytes_for_the_same_fuel(language: str) -> None:
    events = generate_events(seed=11, count=400)
    runs = []
    for _ in range(2):
        with load(language, RULES) as guest:
            result = guest.transform(events)
        runs.append((result.events, result.failures, result.stats.fuel, result.metrics))
    assert runs[0] == runs[1]
    assert runs[0][2] > 0


def test_go_collects_garbage_deterministically() -> None:
    # A megabyte and more is not kept for the next event, so that 60 of them are several times what the memory holds.
    events = [row(b'{"note":"' + b"x" * (1_100_000 + 1_000 * i) + b'"}') for i in range(60)]
    limits = Limits(fuel_per_event=1_000_000_000)
    runs = []
    for _ in range(2):
        with load("go", {"rules": [{"path": "note", "action": "truncate", "n": 1}]}, limits) as guest:
            result = guest.transform(events)
        assert result.failures == []
        assert result.stats.instances_made <= 1
        runs.append((result.events, result.stats.fuel))
    assert runs[0] == runs[1]
    assert set(runs[0][0].to_pylist()) == {row(b'{"note":"x"}')}


@pytest.mark.parametrize("language", LANGUAGES)
def test_answer_does_not_depend_on_the_events_before(language: str) -> None:
    events = generate_events(seed=12, count=300)
    with load(language, RULES) as guest:
        together = guest.transform(events)
    failed = {failure.row: failure.guest_text for failure in together.failures}
    outputs = dict(zip(together.rows.to_pylist(), together.events.to_pylist(), strict=True))
    with load(language, RULES) as guest:
        for index in (299, 150, 0, *sorted(failed)[:5]):
            alone = guest.transform([events[index]])
            assert [failure.guest_text for failure in alone.failures] == ([failed[index]] if index in failed else [])
            assert alone.events.to_pylist() == ([outputs[index]] if index in outputs else [])


@pytest.mark.parametrize("language", LANGUAGES)
def test_guest_starts_within_a_tenth_of_the_default_limits(language: str) -> None:
    limits = Limits(init_fuel=Limits().init_fuel // 10, max_memory_bytes=Limits().max_memory_bytes // 10)
    with load(language, RULES, limits) as guest:
        assert guest.transform([GOOD]).failures == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("event", "text"),
    [
        pytest.param(b"\xff" * 20, "not an Event at byte 0", id="no tag"),
        pytest.param(GOOD + b"\x0a\x05abc", f"not an Event at byte {len(GOOD)}", id="length past the end"),
        pytest.param(b"\x18\x01\x00\x01", "not an Event at byte 2", id="field number 0"),
        pytest.param(b"\x18\x01\x7b\x7c", "not an Event at byte 2", id="group"),
        pytest.param(b"\x18" + b"\x80" * 10 + b"\x01", "not an Event at byte 0", id="varint of eleven bytes"),
        pytest.param(b"\x98\x80\x80\x80\x80\x00\x01", "not an Event at byte 0", id="tag of six bytes"),
        pytest.param(b"\x0a\xff\xff\xff\xff\x0f", "not an Event at byte 0", id="length of four gigabytes"),
        pytest.param(GOOD + b"\xc2\x3e\x02\x0a\x05", f"not an Event at byte {len(GOOD)}", id="broken attribute"),
        pytest.param(row(b""), "after is not valid JSON at byte 0", id="empty image"),
        pytest.param(row(b'{"email": '), "after is not valid JSON at byte 10", id="image cut short"),
        pytest.param(row(b'["a" 1]'), "after is not valid JSON at byte 5", id="no comma"),
        pytest.param(row(b"-"), "after is not valid JSON at byte 0", id="no digit"),
        pytest.param(row(b"1.5.2"), "after is not valid JSON at byte 3", id="two points"),
        pytest.param(row(b"[truex]"), "after is not valid JSON at byte 5", id="long literal"),
        pytest.param(row(b'{"a": "\xff"}'), "after is not valid JSON at byte 6", id="not UTF-8"),
        pytest.param(row(b'["\\ud800"]'), "after is not valid JSON at byte 1", id="lone surrogate"),
        pytest.param(row(b"[" * 1000 + b"]" * 1000), "after is nested deeper than 128 levels", id="1,000 arrays"),
        pytest.param(row(b'{"a":' * 1000), "after is nested deeper than 128 levels", id="1,000 objects"),
    ],
)
def test_broken_event_fails_with_a_reason_and_the_next_is_fine(language: str, event: bytes, text: str) -> None:
    with load(language, RULES) as guest:
        result = guest.transform([event, GOOD])
    assert [(failure.row, failure.code, failure.guest_text) for failure in result.failures] == [
        (0, "GUEST_FAILURE", text)
    ]
    assert result.rows.to_pylist() == [1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_image_of_10_mb_wants_fuel_and_is_served_with_it(language: str) -> None:
    big = row(b'{"email":"' + b"\\n" * 4_900_000 + b'x"}')
    config = {"rules": [{"path": "email", "action": "keep_last", "n": 1}]}
    with load(language, config) as guest:
        result = guest.transform([big, GOOD])
    assert [(failure.row, failure.code) for failure in result.failures] == [(0, "FUEL_EXHAUSTED")]
    with load(language, config, Limits(fuel_per_event=4_000_000_000)) as guest:
        result = guest.transform([big, GOOD])
    assert result.failures == []
    assert result.events[0].as_py() == row(b'{"email":"' + b"*" * 4_900_000 + b'x"}')


@pytest.mark.parametrize(
    ("language", "code", "words"),
    [("as", "GUEST_ABORT", "out of memory"), ("go", "TRAP_UNREACHABLE", "fatal error: out of memory")],
)
def test_event_that_does_not_fit_the_memory_fails_with_words(language: str, code: str, words: str) -> None:
    limits = Limits(fuel_per_event=4_000_000_000, max_memory_bytes=8 << 20)
    big = row(b'{"email":"' + b"x" * 6_000_000 + b'"}')
    with load(language, RULES, limits) as guest:
        result = guest.transform([GOOD, big, GOOD])
    assert [(failure.row, failure.code) for failure in result.failures] == [(1, code)]
    assert (result.failures[0].guest_text or "").startswith(words)
    assert result.rows.to_pylist() == [0, 2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_earlier_occurrence_of_an_image_does_not_carry_on_what_is_hidden(language: str) -> None:
    event = row(b'{"email":"secret@example.com"}') + row(b"{}")
    with load(language, {"rules": [{"path": "email", "action": "redact"}]}) as guest:
        (output,) = guest.transform([event]).events.to_pylist()
    assert b"secret" not in output
    assert Event.FromString(output).after == b"{}"


REFUSED: list[dict[Any, Any]] = [
    {},
    {"bogus": 1},
    {"rules": []},
    {"rules": 1},
    {"rules": [1]},
    {"rules": [{}]},
    {"rules": [{"path": ["a"]}]},
    {"rules": [{"path": ""}]},
    {"rules": [{"path": "a.", "action": "keep"}]},
    {"rules": [{"path": "a\\", "action": "keep"}]},
    {"rules": [{"path": "é" * 51, "action": "keep"}]},
    {"rules": [{"path": "a\x01", "action": "keep"}]},
    {"rules": [{"path": "a", "action": "mask"}]},
    {"rules": [{"path": "a", "action": 7}]},
    {"rules": [{"path": "a", "action": "keep"}, {"path": "a", "action": "hash"}]},
    {"rules": [{"path": "a", "action": "keep", "n": 1}]},
    {"rules": [{"path": "a", "action": "hash", "marker": "x"}]},
    {"rules": [{"path": "a", "action": "redact", "marker": ""}]},
    *({"rules": [{"path": "a", "action": "truncate", "n": n}]} for n in (-1, 1_000_001, 1.0, True, None, 2**64 - 1)),
    {"rules": [{"path": f"p{i}", "action": "keep"} for i in range(65)]},
    {"rules": [{"path": "a", "action": "hmac"}]},
    {"rules": [{"path": "a", "action": "hmac"}], "hmac_key": 5},
    {"rules": [{"path": "a", "action": "hmac"}], "hmac_key": b"short"},
    {"default": None},
    {"default": {"action": "keep"}},
    {"default": {"action": "hash", "path": "a"}},
    {"default": {"action": "hash"}, "remove_attributes": ["a", ""]},
    {"default": {"action": "hash"}, "remove_attributes": "a"},
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_bad_configuration_is_refused_in_the_words_of_the_twin(language: str) -> None:
    for config in REFUSED:
        with pytest.raises(ConfigRefused) as native:
            twin("mask_pii").build(config)
        with pytest.raises(wasm_host.InitError) as refused:
            load(language, config)
        assert native.value.message in refused.value.message, config


@pytest.mark.parametrize("language", LANGUAGES)
def test_sixty_four_rules_are_one_mask_of_bits(language: str) -> None:
    config = {"rules": [{"path": f"p{i}", "action": "redact", "marker": str(i)} for i in range(64)]}
    with load(language, config) as guest:
        result = guest.transform([row(b'{"p0":1,"p63":2,"p64":3}')])
    assert result.events.to_pylist() == [row(b'{"p0":"0","p63":"63","p64":3}')]
    assert result.metrics == {f"mask_pii.unmatched.p{i}": 1 for i in range(1, 63)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_pass_through_takes_any_bytes_and_no_configuration(language: str) -> None:
    wasm = load_wasm("pass_through", language)
    with wasm_host.load(wasm, wasi=True) as guest:
        assert guest.transform([GOOD, GOOD]).events.to_pylist() == [GOOD, GOOD]
    with pytest.raises(wasm_host.InitError, match="configuration: unknown key a"):
        wasm_host.load(wasm, config={"a": 1}, wasi=True)
