"""A bounded set of guests: the least recently used go first, and nothing is shared between keys."""

import pytest

import wasm_host
from abi import TransformError
from tests.hostile.containment import healthy_events
from tests.hostile.wat_guest import HAND_BACK, build
from wasm_host import ClosedError, Guest, GuestPool
from wasm_host.limits import MIB

EVENTS = list(healthy_events())


def load() -> Guest:
    return wasm_host.load(build())


def test_guest_is_loaded_once_for_its_key() -> None:
    pool = GuestPool()
    first = pool.get("a", load)
    assert pool.get("a", load) is first
    assert pool.get("b", load) is not first
    assert (len(pool), pool.hits, pool.misses) == (2, 1, 2)
    pool.close()
    with pytest.raises(ClosedError):
        first.transform(EVENTS)


def test_least_recently_used_guest_is_closed_when_there_are_too_many() -> None:
    pool = GuestPool(max_guests=2)
    first, second = pool.get("a", load), pool.get("b", load)
    pool.get("a", load)
    pool.get("c", load)
    assert len(pool) == 2
    assert first.transform(EVENTS).events.to_pylist() == EVENTS
    with pytest.raises(ClosedError):
        second.transform(EVENTS)
    pool.close()


def test_guests_that_hold_too_much_memory_push_others_out() -> None:
    def load_hungry() -> Guest:
        return wasm_host.load(build(transform=f"(drop (memory.grow (i32.const 160))) {HAND_BACK}"))

    pool = GuestPool(max_memory_bytes=25 * MIB)
    for key in ("a", "b", "c"):
        pool.get(key, load_hungry).transform(EVENTS[:1])
        pool.settle(key)
    assert len(pool) == 2
    pool.close()
    assert len(pool) == 0


def test_guest_that_cannot_be_loaded_is_not_kept() -> None:
    pool = GuestPool()
    with pytest.raises(TransformError):
        pool.get("bad", lambda: wasm_host.load(b"garbage"))
    assert len(pool) == 0
    assert pool.get("bad", load).transform(EVENTS).events.to_pylist() == EVENTS
    pool.close()
