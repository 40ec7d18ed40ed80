"""Small guests in WAT for the tests on Spark; each does one thing."""

import wasmtime

_FRAME = """
(module
  (import "env" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 2)
  (global $top (mut i32) (i32.const 4096))
  (global $live (mut i32) (i32.const 0))
  (func (export "wasm_host_abi_version") (result i32) (i32.const 1))
  (func $alloc (export "alloc") (param $size i32) (result i32)
    (local $block i32) (local $missing i32)
    (local.set $block (global.get $top))
    (global.set $top (i32.add (local.get $block) (local.get $size)))
    (local.set $missing (i32.sub (global.get $top) (i32.shl (memory.size) (i32.const 16))))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then (if (i32.eq (memory.grow (i32.add (i32.shr_u (local.get $missing) (i32.const 16)) (i32.const 1)))
                        (i32.const -1)) (then (return (i32.const 0))))))
    (global.set $live (i32.add (global.get $live) (i32.const 1)))
    (local.get $block))
  (func (export "dealloc") (param i32 i32)
    (global.set $live (i32.sub (global.get $live) (i32.const 1)))
    (if (i32.eqz (global.get $live)) (then (global.set $top (i32.const 4096)))))
  (func $answer (param $kind i64) (param $at i32) (param $size i32) (result i64)
    (i64.or (i64.shl (local.get $kind) (i64.const 62))
      (i64.or (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32)) (i64.extend_i32_u (local.get $size)))))
  %s
)
"""


def guest(body: str) -> bytes:
    """Put functions, data and a `transform` into the frame: memory, allocator and `$answer(kind, pointer, length)`."""
    return bytes(wasmtime.wat2wasm(_FRAME % body))


def _transform(code: str, more: str = "") -> bytes:
    return guest(f'{more} (func (export "transform") (param $at i32) (param $size i32) (result i64) {code})')


_SAME = "(call $answer (i64.const 0) (local.get $at) (local.get $size))"

PASS = _transform(_SAME)
DROP = _transform("(i64.const 0)")
TRAP = _transform("(unreachable)")
SPIN = _transform("(loop $l (br $l)) (unreachable)")
BOMB = _transform(
    "(block $full (loop $l (br_if $full (i32.eq (memory.grow (i32.const 16)) (i32.const -1))) (br $l))) (unreachable)"
)
LIE = _transform("(call $answer (i64.const 0) (i32.const 0x3ff00000) (i32.const 4096))")
GARBAGE = _transform(
    "(call $answer (i64.const 0) (i32.const 16) (i32.const 4))", '(data (i32.const 16) "\\ff\\ff\\ff\\ff")'
)
REFUSE = _transform("(call $answer (i64.const 2) (i32.const 16) (i32.const 9))", '(data (i32.const 16) "not today")')

# Fails every event whose length is odd, and hands the others back.
FAIL_ODD = _transform(
    "(if (result i64) (i32.and (local.get $size) (i32.const 1)) "
    f"(then (call $answer (i64.const 2) (i32.const 16) (i32.const 3))) (else {_SAME}))",
    '(data (i32.const 16) "odd")',
)

# Two copies of the event, as a stream of lengths (varints of three bytes) and messages.
TWICE = _transform(
    """
    (local $out i32) (local $one i32)
    (local.set $one (i32.add (local.get $size) (i32.const 3)))
    (local.set $out (call $alloc (i32.mul (local.get $one) (i32.const 2))))
    (call $copy (local.get $out) (local.get $at) (local.get $size))
    (call $copy (i32.add (local.get $out) (local.get $one)) (local.get $at) (local.get $size))
    (call $answer (i64.const 1) (local.get $out) (i32.mul (local.get $one) (i32.const 2)))
    """,
    """
    (func $copy (param $to i32) (param $from i32) (param $size i32)
      (i32.store8 (local.get $to) (i32.or (i32.and (local.get $size) (i32.const 127)) (i32.const 128)))
      (i32.store8 offset=1 (local.get $to)
        (i32.or (i32.and (i32.shr_u (local.get $size) (i32.const 7)) (i32.const 127)) (i32.const 128)))
      (i32.store8 offset=2 (local.get $to) (i32.shr_u (local.get $size) (i32.const 14)))
      (memory.copy (i32.add (local.get $to) (i32.const 3)) (local.get $from) (local.get $size)))
    """,
)

# Keeps its configuration (at most 2,000 bytes) and quotes it: in a log line and in the failure of every event.
ECHO_CONFIG = guest(
    """
    (global $length (mut i32) (i32.const 0))
    (func (export "init") (param $at i32) (param $size i32) (result i32)
      (global.set $length (local.get $size))
      (memory.copy (i32.const 2048) (local.get $at) (local.get $size))
      (i32.const 0))
    (func (export "transform") (param i32 i32) (result i64)
      (call $log (i32.const 4) (i32.const 2048) (global.get $length))
      (call $answer (i64.const 2) (i32.const 2048) (global.get $length)))
    """
)

# Refuses any configuration, quoting it.
REFUSE_CONFIG = guest(
    f"""
    (func (export "init") (param $at i32) (param $size i32) (result i32)
      (call $log (i32.const 4) (local.get $at) (local.get $size))
      (i32.const 1))
    (func (export "transform") (param $at i32) (param $size i32) (result i64) {_SAME})
    """
)

# Answers with the event before the last one it saw: what a guest may remember is what it may betray.
REMEMBER = guest(
    """
    (global $length (mut i32) (i32.const 0))
    (func (export "transform") (param $at i32) (param $size i32) (result i64)
      (local $out i32) (local $kept i32)
      (local.set $kept (global.get $length))
      (if (i32.eqz (local.get $kept))
        (then
          (memory.copy (i32.const 1024) (local.get $at) (local.get $size))
          (global.set $length (local.get $size))
          (return (call $answer (i64.const 0) (local.get $at) (local.get $size)))))
      (local.set $out (call $alloc (local.get $kept)))
      (memory.copy (local.get $out) (i32.const 1024) (local.get $kept))
      (memory.copy (i32.const 1024) (local.get $at) (local.get $size))
      (global.set $length (local.get $size))
      (call $answer (i64.const 0) (local.get $out) (local.get $kept)))
    """
)
