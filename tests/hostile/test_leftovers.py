"""A guest that looks for what another tenant's guest left behind finds nothing: memory, logs, metrics, errors, code."""

import pytest

import wasm_host
from abi import Event, Operation
from tests.hostile.wat_guest import build
from wasm_host import ISOLATIONS, GuestPool, Isolation, Limits
from wasm_host.limits import MIB

SECRET = b"SECRET-of-tenant-A"
EVENT = Event(op=Operation.INSERT, table="users", after=b'{"note": "%s"}' % SECRET).SerializeToString()
INNOCENT = Event(op=Operation.INSERT, table="users", after=b"{}").SerializeToString()
LIMITS = Limits(max_memory_bytes=8 * MIB, fuel_per_event=2_000_000_000)

IMPORTS = """(import "env" "log" (func $log (param i32 i32 i32)))
  (import "env" "record_metric" (func $record (param i32 i64)))
  (import "env" "get_metric" (func $get (param i32) (result i64)))"""
NAME = '(data (i32.const 512) "secret_metric\\00")'

# Fills its whole memory with its event, says it everywhere, and keeps it in a metric; on a trap the store is shared
# with a successor of the same guest, so both endings are tried.
LEAVER = build(
    imports=IMPORTS,
    extra=NAME,
    transform="""(local $at i32)
      (drop (memory.grow (i32.const 64)))
      (local.set $at (i32.const 65536))
      (block $full
        (loop $more
          (br_if $full (i32.ge_u (i32.add (local.get $at) (local.get $len)) (i32.shl (memory.size) (i32.const 16))))
          (memory.copy (local.get $at) (local.get $ptr) (local.get $len))
          (local.set $at (i32.add (local.get $at) (local.get $len)))
          (br $more)))
      (call $log (i32.const 4) (local.get $ptr) (local.get $len))
      (call $record (i32.const 512) (i64.const 42))
      (if (i32.and (local.get $len) (i32.const 1)) (then (unreachable)))
      (call $packed (i32.const 2) (local.get $ptr) (local.get $len))""",
)
# Grows to its limit and answers kind 2 if any byte above its own data and input is not zero, or if the metric is known.
SEEKER = build(
    imports=IMPORTS,
    extra=NAME + '(data (i32.const 600) "found")',
    transform="""(local $at i32)
      (loop $grow (br_if $grow (i32.ne (memory.grow (i32.const 8)) (i32.const -1))))
      (local.set $at (i32.const 65536))
      (block $end
        (loop $more
          (br_if $end (i32.ge_u (local.get $at) (i32.shl (memory.size) (i32.const 16))))
          (if (i64.ne (i64.load (local.get $at)) (i64.const 0))
            (then (return (call $packed (i32.const 2) (i32.const 600) (i32.const 5)))))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br $more)))
      (if (i64.ne (call $get (i32.const 512)) (i64.const 0))
        (then (return (call $packed (i32.const 2) (i32.const 600) (i32.const 5)))))
      (call $packed (i32.const 0) (local.get $ptr) (local.get $len))""",
)


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("padding", [b"", b"x"], ids=["fails", "traps"])
def test_nothing_of_one_tenant_reaches_the_next(isolation: Isolation, padding: bytes) -> None:
    event = Event(op=Operation.INSERT, table="users" + padding.decode(), after=b'{"n":"%s"}' % SECRET)
    seen = event.SerializeToString()
    with wasm_host.load(LEAVER, limits=LIMITS, isolation=isolation) as leaver:
        left = leaver.transform([seen, seen, seen])
        assert left.stats.events_failed == 3
        assert SECRET.decode() in left.logs[0].text
    with wasm_host.load(SEEKER, limits=LIMITS, isolation=isolation) as seeker:
        found = seeker.transform([INNOCENT, INNOCENT])
    assert found.failures == []
    assert found.events.to_pylist() == [INNOCENT, INNOCENT]
    assert found.logs == []
    assert found.metrics == {}


def test_seeker_would_find_it_in_its_own_memory() -> None:
    """The seeker can find: without this, the test above could not fail."""
    tainted = build(
        imports=IMPORTS,
        memory='(memory (export "memory") 4)',
        extra=NAME + '(data (i32.const 600) "found") (data (i32.const 70000) "left behind")',
        transform="""(local $at i32)
          (local.set $at (i32.const 65536))
          (loop $more
            (if (i64.ne (i64.load (local.get $at)) (i64.const 0))
              (then (return (call $packed (i32.const 2) (i32.const 600) (i32.const 5)))))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (br_if $more (i32.lt_u (local.get $at) (i32.const 131072))))
          (i64.const 0)""",
    )
    with wasm_host.load(tainted) as guest:
        assert [failure.guest_text for failure in guest.transform([INNOCENT]).failures] == ["found"]


def test_guests_of_two_tenants_in_one_pool_share_nothing() -> None:
    pool = GuestPool(max_guests=2)
    for tenant in ("a", "b", "c", "a"):
        guest = pool.get((tenant, "module"), lambda: wasm_host.load(SEEKER, limits=LIMITS))
        assert guest.transform([INNOCENT]).failures == []
        pool.get((tenant, "leaver"), lambda: wasm_host.load(LEAVER, limits=LIMITS)).transform([EVENT])
    assert len(pool) == 2
    pool.close()
