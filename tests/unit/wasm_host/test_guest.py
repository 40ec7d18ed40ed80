"""What a caller holds: loading, configuration, isolation, the wall clock, closing."""

import hashlib
import math
import pickle
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgpack
import pytest

import wasm_host
from tests.hostile.containment import (
    assert_process_is_healthy,
    event_bytes,
    healthy_events,
    outputs,
    poisoned_events,
)
from tests.hostile.wat_guest import HAND_BACK, SPIN, build, on_poison
from wasm_host import (
    ISOLATIONS,
    ClosedError,
    ConfigError,
    DeadlineExceededError,
    InitError,
    Isolation,
    Limits,
    ModuleTooLargeError,
)

EVENTS = list(healthy_events())
LOG = '(import "env" "log" (func $log (param i32 i32 i32)))'

# Logs its configuration, so that a test can read what `init` got.
TELLS_CONFIG = build(imports=LOG, init="(call $log (i32.const 2) (local.get $ptr) (local.get $len)) (i32.const 0)")
REFUSES = build(
    imports=LOG,
    extra='(data (i32.const 512) "columns is missing")',
    init="""(if (result i32) (i32.eq (local.get $len) (i32.const 1))
        (then (call $log (i32.const 4) (i32.const 512) (i32.const 18)) (i32.const 3)) (else (i32.const 0)))""",
)


def test_module_loads_from_bytes_and_paths_with_the_same_digest(tmp_path: Path) -> None:
    path = tmp_path / "guest.wasm"
    path.write_bytes(build())
    digest = hashlib.sha256(build()).hexdigest()
    for source in (build(), bytearray(build()), memoryview(build()), path, str(path)):
        with wasm_host.load(source) as guest:  # type: ignore[arg-type]  # buffers work, and are not promised
            assert guest.module.digest == digest
            assert guest.module.size_bytes == len(build())
            assert guest.module.dialect.name == "wasm-host/1"
            assert digest[:12] in repr(guest)
            assert digest[:12] in repr(guest.module)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("missing.wasm", "cannot read the module 'missing.wasm': No such file"),
        (Path("/"), "it is not a file"),
        ("a\0b", "cannot read the module"),
        (None, "NoneType; allowed is a path or bytes"),
        (7, "a path or bytes"),
        (["x"], "a path or bytes"),
    ],
    ids=repr,
)
def test_source_that_cannot_be_read_is_refused(source: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        wasm_host.load(source)


def test_path_that_never_ends_is_refused() -> None:
    with pytest.raises(ConfigError, match="it is not a file"):
        wasm_host.load("/dev/zero")


def test_file_that_is_too_large_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "large.wasm"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ModuleTooLargeError, match="1,099,511,627,776 bytes; max_module_bytes is 16,777,216"):
        wasm_host.load(path)


@pytest.mark.parametrize("isolation", ["thread", "", None, 1, ["worker"]], ids=repr)
def test_unknown_isolation_is_refused_with_those_there_are(isolation: Any) -> None:
    with pytest.raises(ConfigError, match=r"isolation is .*allowed are worker, batch, event"):
        wasm_host.load(build(), isolation=isolation)


@pytest.mark.parametrize("limits", [{"fuel_per_event": 1}, 5, "high"], ids=repr)
def test_limits_of_another_type_are_refused(limits: Any) -> None:
    with pytest.raises(ConfigError, match=r"limits are a .*allowed is wasm_host.Limits"):
        wasm_host.load(build(), limits=limits)


def test_init_gets_an_empty_map_when_there_is_no_configuration() -> None:
    for config in (None, {}):
        with wasm_host.load(TELLS_CONFIG, config=config) as guest:
            assert [(line.row, line.text) for line in guest.transform([]).logs] == [(None, "\\x80")]


@pytest.mark.parametrize(
    "config",
    [
        {"columns": ["email", "phone"], "mode": "redact"},
        {"n": None, "t": True, "i": -(2**63), "u": 2**64 - 1, "f": 1.5, "b": b"\x00\xff", "m": {"deep": [[{}]]}},
        {"tuple": (1, 2), "nan": math.inf, "text": "é😀\u0000"},
    ],
)
def test_init_gets_the_configuration_as_messagepack(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr("wasm_host.journal.clean_text", lambda raw, **_: seen.append(raw) or "")
    with wasm_host.load(TELLS_CONFIG, config=config) as guest:
        guest.transform([])
    assert seen == [msgpack.packb(config, use_bin_type=True)]


def test_configuration_larger_than_a_chunk_reaches_init() -> None:
    wasm = build(
        memory='(memory (export "memory") 60)',
        init="(i32.ne (local.get $len) (i32.const 3000009))",
        extra='(data (i32.const 512) "x")',
    )
    config = {"k": "x" * 3_000_001}
    assert len(msgpack.packb(config)) == 3_000_009
    with wasm_host.load(wasm, config=config) as guest:
        assert guest.transform(EVENTS).events.to_pylist() == EVENTS


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (["a"], "a list; allowed is a map"),
        ("text", "a str; allowed is a map"),
        ({"when": datetime(2026, 1, 1, tzinfo=UTC)}, "datetime"),
        ({"set": {1}}, "set"),
        ({"big": 2**64}, "MessagePack"),
        ({"half": "\ud800"}, "MessagePack"),
        ({1: "x"}, "key 1, .*texts"),
        ({"deep": [{"x": {2: "y"}}]}, "key 2, .*texts"),
        ({"ext": msgpack.ExtType(1, b"")}, "ExtType"),
        ({"ts": msgpack.Timestamp(1)}, "Timestamp"),
        ({"f": len}, "builtin_function"),
    ],
    ids=repr,
)
def test_configuration_that_messagepack_cannot_carry_is_refused(config: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        wasm_host.load(TELLS_CONFIG, config=config)


def test_configuration_that_holds_itself_is_refused() -> None:
    config: dict[str, Any] = {}
    config["self"] = config
    with pytest.raises(ConfigError, match="nests"):
        wasm_host.load(TELLS_CONFIG, config=config)


def test_configuration_for_a_guest_without_init_is_refused() -> None:
    with pytest.raises(ConfigError, match="takes no configuration"):
        wasm_host.load(build(), config={"a": 1})
    wasm_host.load(build(), config={}).close()


def test_refusal_of_init_has_status_and_the_guests_words() -> None:
    with pytest.raises(InitError, match=r'status 3 .*the guest says: "columns is missing"; hint:') as caught:
        wasm_host.load(REFUSES)
    assert caught.value.details == {"status": 3, "guest_text": "columns is missing"}
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    wasm_host.load(REFUSES, config={"columns": []}).close()


def test_refusal_of_init_without_words_says_so() -> None:
    with pytest.raises(InitError, match=r"status -1 .*the guest logged no reason"):
        wasm_host.load(build(init="(i32.const -1)"))


@pytest.mark.parametrize(("isolation", "instances"), [("worker", [0, 0]), ("batch", [0, 1]), ("event", [39, 40])])
def test_isolation_decides_how_many_instances_are_made(isolation: Isolation, instances: list[int]) -> None:
    # The first instance was made by load.
    with wasm_host.load(build(), isolation=isolation) as guest:
        results = [guest.transform(EVENTS) for _ in range(2)]
    assert [result.stats.instances_made for result in results] == instances
    assert all(result.events.to_pylist() == EVENTS for result in results)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_configuration_reaches_every_fresh_instance(isolation: Isolation) -> None:
    wasm = build(
        extra="(global $configured (mut i32) (i32.const 0))",
        init="(global.set $configured (local.get $len)) (i32.const 0)",
        transform=on_poison("(unreachable)").replace(
            HAND_BACK, f"(if (i32.ne (global.get $configured) (i32.const 5)) (then (return (i64.const 0)))) {HAND_BACK}"
        ),
    )
    with wasm_host.load(wasm, config={"k": "v"}, isolation=isolation) as guest:
        result = guest.transform(list(poisoned_events()))
    assert len(result.events) == 40


def test_stats_add_up() -> None:
    # Keeps what is longer than 300 bytes, doubles what is shorter than 100, fails 777.
    wasm = build(
        transform=f"""(if (i32.eq (local.get $len) (i32.const 777)) (then (unreachable)))
            (if (i32.gt_u (local.get $len) (i32.const 300)) (then (return {HAND_BACK})))
            (if (i32.lt_u (local.get $len) (i32.const 100)) (then
              (memory.copy (i32.const 65537) (local.get $ptr) (local.get $len))
              (i32.store8 (i32.const 65536) (local.get $len))
              (memory.copy (i32.add (i32.const 65537) (local.get $len)) (i32.const 65536)
                (i32.add (local.get $len) (i32.const 1)))
              (return (call $packed (i32.const 1) (i32.const 65536)
                (i32.mul (i32.const 2) (i32.add (local.get $len) (i32.const 1)))))))
            (i64.const 0)""",
        dealloc="",
        alloc="(i32.const 1024)",
    )
    events: list[bytes | None] = [*poisoned_events(), None]
    with wasm_host.load(wasm) as guest:
        result = guest.transform(events)
    sizes = [len(event) for event in events if event is not None and len(event) != 777]
    kept, doubled = [size for size in sizes if size > 300], [size for size in sizes if size < 100]
    stats = result.stats
    assert stats.events_in == 42
    assert stats.events_out == len(kept) + 2 * len(doubled) + 1
    assert stats.events_failed == 1
    assert stats.events_dropped == len(sizes) - len(kept) - len(doubled)
    assert stats.bytes_in == sum(sizes) + 777
    assert stats.bytes_out == sum(kept) + 2 * sum(doubled)
    assert stats.fuel > 0
    assert 0 < stats.wall_seconds < 60


def test_fuel_of_a_batch_is_the_same_every_time() -> None:
    fuels = set()
    for _ in range(3):
        with wasm_host.load(build()) as guest:
            fuels.add(guest.transform(EVENTS).stats.fuel)
    assert len(fuels) == 1


def test_deadline_fails_the_call_marks_no_event_and_the_next_batch_is_fine() -> None:
    limits = Limits(fuel_per_event=10**12, max_wall_ms_per_batch=300)
    with wasm_host.load(build(transform=on_poison(SPIN)), limits=limits) as guest:
        with pytest.raises(DeadlineExceededError, match="no event was marked") as caught:
            guest.transform(list(poisoned_events()))
        assert caught.value.code == "DEADLINE_EXCEEDED"
        assert caught.value.details == {"limit_name": "max_wall_ms_per_batch", "limit": 300}
        assert outputs(guest.transform(EVENTS)) == list(enumerate(EVENTS))
    assert_process_is_healthy()


def test_deadline_is_for_each_batch_anew() -> None:
    limits = Limits(max_wall_ms_per_batch=400)
    with wasm_host.load(build(), limits=limits) as guest:
        time.sleep(0.6)
        assert guest.transform(EVENTS).events.to_pylist() == EVENTS


def test_deadline_while_a_guest_is_brought_up_is_told() -> None:
    limits = Limits(init_fuel=10**12, max_wall_ms_per_batch=200)
    for parts, stage in (({"start": SPIN}, "start"), ({"init": f"{SPIN} (unreachable)"}, "init")):
        with pytest.raises(DeadlineExceededError, match=f"bringing the guest up .*export {stage}"):
            wasm_host.load(build(**parts), limits=limits)


def test_deadline_ends_a_flood_of_short_failures() -> None:
    # Each event fails quickly and costs two instances; together they take too long.
    limits = Limits(max_wall_ms_per_batch=100)
    guest = wasm_host.load(build(transform="(unreachable)"), limits=limits)
    with pytest.raises(DeadlineExceededError):
        guest.transform(EVENTS * 2_000)
    guest.close()


def test_use_after_close_is_refused_and_close_may_be_called_again() -> None:
    guest = wasm_host.load(build(shutdown="(i32.const 0)"))
    guest.close()
    guest.close()
    assert guest.shutdown_failure is None
    assert (guest.memory_bytes, guest.held_bytes) == (0, 0)
    with pytest.raises(ClosedError, match="the guest is closed; hint: load it again"):
        guest.transform(EVENTS)


def test_shutdown_is_called_once_for_each_healthy_instance() -> None:
    wasm = build(
        imports=LOG,
        extra='(data (i32.const 512) "bye")',
        shutdown="(call $log (i32.const 2) (i32.const 512) (i32.const 3)) (i32.const 0)",
        transform=on_poison("(unreachable)"),
    )
    with wasm_host.load(wasm, isolation="event") as guest:
        result = guest.transform(list(poisoned_events()))
    assert [(line.row, line.text) for line in result.logs] == [(None, "bye")] * 40, "not for the one that trapped"


def test_guests_side_by_side_do_not_touch_each_other() -> None:
    guests = [wasm_host.load(build(transform=on_poison("(unreachable)"))) for _ in range(5)]
    for _ in range(3):
        for guest in guests:
            assert len(guest.transform(list(poisoned_events())).failures) == 1
    for guest in guests:
        guest.close()


def test_memory_of_a_guest_is_told() -> None:
    grow = f"(drop (memory.grow (i32.const 3))) {HAND_BACK}"
    with wasm_host.load(build(transform=grow)) as guest:
        assert guest.memory_bytes == 2 * 65536
        guest.transform([event_bytes(1)])
        assert guest.memory_bytes == 5 * 65536
        assert guest.held_bytes >= guest.memory_bytes
