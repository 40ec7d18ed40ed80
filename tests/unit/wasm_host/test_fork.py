"""PySpark's daemon forks its workers: a child starts anew, and the parent goes on."""

from tests.unit.wasm_host.python_process import run_python

PREAMBLE = """
import os, sys, wasm_host
from tests.hostile.containment import healthy_events
from tests.hostile.wat_guest import build
EVENTS = list(healthy_events())

def in_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def check(guest):
    assert guest.transform(EVENTS).events.to_pylist() == EVENTS
"""


def assert_prints_ok(script: str) -> None:
    result = run_python(PREAMBLE + script)
    assert (result.stdout.strip(), result.stderr, result.returncode) == ("ok", "", 0)


def test_guest_loaded_before_a_fork_serves_child_and_parent() -> None:
    assert_prints_ok("""
guest = wasm_host.load(build())
check(guest)
assert [in_child(lambda: check(guest)) for _ in range(3)] == [0, 0, 0]
check(guest)
guest.close()
print("ok")
""")


def test_child_can_load_guests_of_its_own_and_close_the_inherited_one() -> None:
    assert_prints_ok("""
guest = wasm_host.load(build())
check(guest)
def work():
    guest.close()
    with wasm_host.load(build(shutdown="(i32.const 0)")) as another:
        check(another)
assert in_child(work) == 0
check(guest)
print("ok")
""")


def test_wall_clock_works_in_a_child() -> None:
    assert_prints_ok("""
from tests.hostile.wat_guest import SPIN, on_poison
from tests.hostile.containment import poisoned_events
limits = wasm_host.Limits(fuel_per_event=10**12, max_wall_ms_per_batch=1500)
guest = wasm_host.load(build(transform=on_poison(SPIN)), limits=limits)
check(guest)
def work():
    try:
        guest.transform(list(poisoned_events()))
    except wasm_host.DeadlineExceededError:
        check(guest)
        return
    raise AssertionError("no deadline")
assert in_child(work) == 0
print("ok")
""")


def test_grandchild_and_poison_in_a_child_are_fine() -> None:
    assert_prints_ok("""
from tests.hostile.wat_guest import on_poison
from tests.hostile.containment import poisoned_events
guest = wasm_host.load(build(transform=on_poison("(unreachable)")))
def poison():
    result = guest.transform(list(poisoned_events()))
    assert [failure.row for failure in result.failures] == [17]
poison()
assert in_child(lambda: (poison(), sys.exit(in_child(poison)) if in_child(poison) else None)) == 0
poison()
print("ok")
""")


def test_pool_of_the_parent_is_left_alone_by_a_child() -> None:
    assert_prints_ok("""
pool = wasm_host.GuestPool(max_guests=4)
get = lambda: pool.get("tenant", lambda: wasm_host.load(build()))
parent = get()
def work():
    child = get()
    assert child is not parent and len(pool) == 1
    check(child)
    pool.close()
assert in_child(work) == 0
assert get() is parent
check(parent)
print("ok")
""")
