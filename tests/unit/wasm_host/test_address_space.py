"""`spark.executor.pyspark.memory` limits the address space of a worker; the sandbox works within it."""

from tests.unit.wasm_host.python_process import run_python

PREAMBLE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
import wasm_host
from wasm_host import Limits
from tests.hostile.containment import healthy_events, poisoned_events, event_bytes
from tests.hostile.wat_guest import HAND_BACK, build, on_poison
from wasm_host.engine import is_address_space_small
assert is_address_space_small()
EVENTS = list(healthy_events())
"""


def assert_prints(script: str, expected: str) -> None:
    result = run_python(PREAMBLE + script)
    assert (result.stdout.strip(), result.returncode) == (expected, 0), result.stderr


def test_guest_with_a_growing_memory_works_under_one_gib() -> None:
    assert_prints(
        """
wasm = build(transform=f"(drop (memory.grow (i32.const 10))) {HAND_BACK}")
with wasm_host.load(wasm, limits=Limits(max_memory_bytes=32 << 20)) as guest:
    for _ in range(20):
        assert guest.transform(EVENTS).events.to_pylist() == EVENTS
    print(guest.memory_bytes)
""",
        str((2 + 51 * 10) * 65536),
    )


def test_batch_with_much_poison_works_under_one_gib() -> None:
    assert_prints(
        """
with wasm_host.load(build(transform=on_poison("(unreachable)"))) as guest:
    result = guest.transform(list(poisoned_events()) * 50)
print(len(result.failures), len(result.events))
""",
        "50 2000",
    )


def test_dozens_of_guests_fit_under_one_gib() -> None:
    assert_prints(
        """
guests = [wasm_host.load(build(extra=f"(global i32 (i32.const {n}))")) for n in range(24)]
print(sum(guest.transform(EVENTS).events.to_pylist() == EVENTS for guest in guests))
""",
        "24",
    )


def test_outputs_of_many_megabytes_work_under_one_gib() -> None:
    assert_prints(
        """
big = [event_bytes(n, 9 << 20) for n in range(5)]
with wasm_host.load(build(memory='(memory (export "memory") 200)'), limits=Limits(fuel_per_event=10**9)) as guest:
    print(guest.transform(big).events.to_pylist() == big)
""",
        "True",
    )


def test_want_of_address_space_is_the_hosts_error_and_not_the_guests() -> None:
    assert_prints(
        """
guests = []
try:
    for n in range(4000):
        guests.append(wasm_host.load(build()))
except wasm_host.HostError as error:
    count = len(guests)
    guests.clear()
    with wasm_host.load(build()) as guest:
        print(guest.transform(EVENTS).events.to_pylist() == EVENTS, str(error).startswith("[HOST_ERROR]"), count >= 24)
""",
        "True True True",
    )
