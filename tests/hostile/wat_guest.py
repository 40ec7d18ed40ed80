"""The harmless parts of a guest, so that a hostile one is only the lines that make it hostile.

`build` gives a pass-through guest with a bump allocator that starts over when nothing is live; each part can be
replaced. A piece of code sees its parameters as `$ptr`, `$len` or `$size`, and an event of `POISON_BYTES` bytes, which
no healthy event has, is the one to misbehave at: `alloc`, `transform` and `dealloc` all see that number.
"""

import functools

import wasmtime

POISON_BYTES = 777

IS_POISON = f"(i32.eq (local.get $len) (i32.const {POISON_BYTES}))"
IS_POISON_SIZE = f"(i32.eq (local.get $size) (i32.const {POISON_BYTES}))"
SPIN = "(loop $forever (br $forever))"
HAND_BACK = "(call $packed (i32.const 0) (local.get $ptr) (local.get $len))"
"""The answer of a pass-through: the input's own block."""

_MEMORY = '(memory (export "memory") 2)'
_ALLOCATOR = """
  (global $top (mut i32) (i32.const 1024))
  (global $live (mut i32) (i32.const 0))
  ;; Also for the guest's own blocks. Returns 0 when the memory cannot grow.
  (func $take (param $size i32) (result i32)
    (local $block i32) (local $end i32)
    (local.set $block (global.get $top))
    (local.set $end (i32.add (local.get $block) (local.get $size)))
    (if (i32.lt_u (local.get $end) (local.get $block)) (then (return (i32.const 0))))
    (block $fits
      (loop $grow
        (br_if $fits (i32.le_u (local.get $end) (i32.shl (memory.size) (i32.const 16))))
        (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      (return (i32.const 0)))
    (global.set $top (local.get $end))
    (global.set $live (i32.add (global.get $live) (i32.const 1)))
    (local.get $block))
  (func $give (param $ptr i32) (param $size i32)
    (global.set $live (i32.sub (global.get $live) (i32.const 1)))
    (if (i32.eqz (global.get $live)) (then (global.set $top (i32.const 1024)))))
  (func $packed (param $kind i32) (param $ptr i32) (param $len i32) (result i64)
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $kind)) (i64.const 62))
      (i64.or
        (i64.shl (i64.extend_i32_u (local.get $ptr)) (i64.const 32))
        (i64.extend_i32_u (local.get $len)))))
"""


def on_poison(code: str) -> str:
    """A transform that runs `code` for the poison event and hands every other event back."""
    return f"(if {IS_POISON} (then {code})) {HAND_BACK}"


@functools.cache
def build(
    *,
    imports: str = "",
    memory: str = _MEMORY,
    version: str = "(i32.const 1)",
    alloc: str = "(call $take (local.get $size))",
    dealloc: str = "(call $give (local.get $ptr) (local.get $size))",
    transform: str = HAND_BACK,
    init: str | None = None,
    shutdown: str | None = None,
    initialize: str | None = None,
    start: str | None = None,
    extra: str = "",
    version_export: str = "wasm_host_abi_version",
) -> bytes:
    """Assemble a guest from its parts."""
    optional = ""
    if init is not None:
        optional += f'(func (export "init") (param $ptr i32) (param $len i32) (result i32) {init})\n'
    if shutdown is not None:
        optional += f'(func (export "shutdown") (result i32) {shutdown})\n'
    if initialize is not None:
        optional += f'(func (export "_initialize") {initialize})\n'
    if start is not None:
        optional += f"(func $start {start}) (start $start)\n"
    text = f"""(module
      {imports}
      {memory}
      {_ALLOCATOR}
      {extra}
      (func (export "{version_export}") (result i32) {version})
      (func (export "alloc") (param $size i32) (result i32) {alloc})
      (func (export "dealloc") (param $ptr i32) (param $size i32) {dealloc})
      (func (export "transform") (param $ptr i32) (param $len i32) (result i64) {transform})
      {optional})"""
    return bytes(wasmtime.wat2wasm(text))
