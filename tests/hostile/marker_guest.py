"""A guest that does to each event what the event says: its table ends in three digits and a letter.

Stateless in the sense of the contract (a fresh instance always answers the same), yet it leaks, and what it leaks makes
later events fail on the same instance. So it shows whether a host gives every event a fresh instance's answer.
"""

from abi import Event, Operation
from tests.hostile.wat_guest import HAND_BACK, POISON_BYTES, SPIN, build

COMMANDS: dict[str, str | None] = {
    "k": None,  # keep: hand the input back
    "c": None,  # copy into a block of its own
    "d": None,  # drop
    "s": None,  # several: the event three times
    "m": None,  # count two metrics and log two lines
    "w": None,  # work: a few units of fuel for each unit of the number, then keep
    "L": None,  # leak as many KiB, then keep; trap if there is no room
    "O": None,  # leak as many KiB, then keep; fail with words if there is no room
    "f": "GUEST_FAILURE",  # fail with the event's own bytes as words
    "F": "GUEST_FAILURE",  # fail without words
    "t": "TRAP_UNREACHABLE",  # log, record a metric, and trap
    "l": "FUEL_EXHAUSTED",  # loop forever
    "r": "TRAP_STACK_OVERFLOW",
    "b": "OUTPUT_NOT_AN_EVENT",
    "S": "STREAM_MALFORMED",  # one good event, then a length past the end
    "x": "TOO_MANY_OUTPUT_EVENTS",
    "h": "OUTPUT_TOO_LARGE",
    "3": "RESULT_RESERVED_KIND",
    "e": "RESULT_EMPTY",
    "o": "RESULT_OUT_OF_BOUNDS",
    "v": "RESULT_OVERLAPS_INPUT",
    "D": "TRAP_UNREACHABLE",  # in dealloc
    "g": "MEMORY_LIMIT",  # grow as far as it goes, then give up
}
"""Each letter, with the code of its failure on a fresh instance, if it fails."""


def marked_event(number: int, command: str, parameter: int = 0, size: int = 0) -> bytes:
    """A valid event with a command; `size` bytes of row image."""
    table = f"orders-{parameter:03d}{command}"
    return Event(op=Operation.INSERT, ts=number, after=b"x" * size, table=table).SerializeToString()


def allocation_refused_event(number: int) -> bytes:
    """An event of exactly the length for which `alloc` returns 0."""
    missing = POISON_BYTES - len(marked_event(number, "k", size=600))
    event = marked_event(number, "k", size=600 + missing)
    assert len(event) == POISON_BYTES
    return event


def _when(command: str, code: str) -> str:
    return f"(if (i32.eq (local.get $command) (i32.const {ord(command)})) (then {code}))"


def _digit(from_end: int, weight: int) -> str:
    at = f"(i32.sub (i32.add (local.get $ptr) (local.get $len)) (i32.const {from_end}))"
    return f"(i32.mul (i32.sub (i32.load8_u {at}) (i32.const 48)) (i32.const {weight}))"


_BODY = "\n".join(
    [
        "(local $command i32) (local $n i32) (local $out i32)",
        """(local.set $command
             (i32.load8_u (i32.sub (i32.add (local.get $ptr) (local.get $len)) (i32.const 1))))""",
        f"(local.set $n (i32.add {_digit(4, 100)} (i32.add {_digit(3, 10)} {_digit(2, 1)})))",
        _when(
            "c",
            """(local.set $out (call $take (local.get $len)))
               (if (i32.eqz (local.get $out)) (then (unreachable)))
               (memory.copy (local.get $out) (local.get $ptr) (local.get $len))
               (return (call $packed (i32.const 0) (local.get $out) (local.get $len)))""",
        ),
        _when("d", "(return (i64.const 0))"),
        _when("s", "(return (call $repeated (local.get $ptr) (local.get $len) (i32.const 3)))"),
        _when(
            "m",
            """(call $record (i32.const 16) (i64.extend_i32_u (local.get $n)))
               (call $record (i32.const 24) (i64.add (i64.const 1) (call $get (i32.const 24))))
               (call $record (i32.const 24) (i64.add (i64.const 1) (call $get (i32.const 24))))
               (call $log (i32.const 2) (i32.const 16) (i32.const 5)) (call $log (i32.const 3) (local.get $ptr)
                 (i32.const 2))""",
        ),
        _when(
            "w",
            """(if (local.get $n) (then (loop $work
                 (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br_if $work (local.get $n)))))""",
        ),
        _when(
            "L",
            """(if (i32.eqz (call $take (i32.shl (local.get $n) (i32.const 10)))) (then (unreachable)))""",
        ),
        _when(
            "O",
            """(if (i32.eqz (call $take (i32.shl (local.get $n) (i32.const 10))))
                 (then (return (call $packed (i32.const 2) (i32.const 16) (i32.const 5)))))""",
        ),
        _when("f", "(return (call $packed (i32.const 2) (local.get $ptr) (local.get $len)))"),
        _when("F", "(return (i64.const 0x8000000000000000))"),
        _when(
            "t",
            """(call $record (i32.const 16) (i64.const 1000000)) (call $log (i32.const 4) (i32.const 16) (i32.const 5))
               (unreachable)""",
        ),
        _when("l", SPIN),
        _when("r", "(call $down)"),
        _when("b", "(i32.store8 (local.get $ptr) (i32.const 0))"),
        _when("S", "(return (call $torn (local.get $ptr) (local.get $len)))"),
        _when("x", "(return (call $packed (i32.const 1) (i32.const 64) (i32.const 40)))"),
        _when("h", "(return (call $packed (i32.const 0) (i32.const 110000) (i32.const 9000)))"),
        _when("3", "(return (call $packed (i32.const 3) (local.get $ptr) (local.get $len)))"),
        _when("e", "(return (call $packed (i32.const 0) (local.get $ptr) (i32.const 0)))"),
        _when("o", "(return (call $packed (i32.const 0) (local.get $ptr) (i32.const -1)))"),
        _when("v", "(return (call $packed (i32.const 0) (i32.add (local.get $ptr) (i32.const 1)) (i32.const 9)))"),
        _when("D", "(global.set $doom (i32.const 1))"),
        _when("g", "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (unreachable)"),
        HAND_BACK,
    ]
)

_EXTRA = """
  (global $doom (mut i32) (i32.const 0))
  (data (i32.const 16) "first\\00\\00\\00second\\00")
  (func $down (call $down))
  ;; The event `times` times, each behind its length in two bytes.
  (func $repeated (param $ptr i32) (param $len i32) (param $times i32) (result i64)
    (local $out i32) (local $to i32)
    (local.set $out (call $take (i32.mul (i32.add (local.get $len) (i32.const 2)) (local.get $times))))
    (if (i32.eqz (local.get $out)) (then (unreachable)))
    (local.set $to (local.get $out))
    (loop $more
      (i32.store8 (local.get $to) (i32.or (local.get $len) (i32.const 0x80)))
      (i32.store8 offset=1 (local.get $to) (i32.shr_u (local.get $len) (i32.const 7)))
      (memory.copy (i32.add (local.get $to) (i32.const 2)) (local.get $ptr) (local.get $len))
      (local.set $to (i32.add (i32.add (local.get $to) (i32.const 2)) (local.get $len)))
      (local.set $times (i32.sub (local.get $times) (i32.const 1)))
      (br_if $more (local.get $times)))
    (call $packed (i32.const 1) (local.get $out) (i32.sub (local.get $to) (local.get $out))))
  (func $torn (param $ptr i32) (param $len i32) (result i64)
    (i64.sub (call $repeated (local.get $ptr) (local.get $len) (i32.const 2)) (i64.const 1)))
"""

MARKER_WASM = build(
    imports="""(import "env" "log" (func $log (param i32 i32 i32)))
      (import "env" "record_metric" (func $record (param i32 i64)))
      (import "env" "get_metric" (func $get (param i32) (result i64)))""",
    extra=_EXTRA,
    alloc=f"""(if (i32.eq (local.get $size) (i32.const {POISON_BYTES})) (then (return (i32.const 0))))
      (call $take (local.get $size))""",
    dealloc="(if (global.get $doom) (then (unreachable))) (call $give (local.get $ptr) (local.get $size))",
    transform=_BODY,
)
