"""Runs the output validator alone, over a whole batch in one call, at both edges of a memory.

Each input is validated twice: at address 0 and as the last bytes of the memory. A load before or after the input would
then leave the memory and trap, so that a wrong bound shows even where the verdict is right.
"""

from collections.abc import Sequence
from importlib import resources

import numpy as np
import wasmtime

PAGE_BYTES = 65536
STAGING_PAGES = 4
MAX_INPUT_BYTES = STAGING_PAGES * PAGE_BYTES

_LOOP = """
(memory $staging {staging_pages})
(memory $inputs (export "inputs") 1)
(func $verdict_at (param $at i32) (param $from i32) (param $len i32) (result i32)
  (memory.copy $staging $inputs (local.get $at) (local.get $from) (local.get $len))
  (call $v_validate_event (local.get $at) (local.get $len)))
;; Ends (u32, the first input begins at 0) at $ends, bytes at $data; the verdict of input i goes to $verdicts + i:
;; bit 0 at the start of the memory, bit 1 at its end.
(func (export "run") (param $count i32) (param $ends i32) (param $data i32) (param $verdicts i32)
  (local $i i32) (local $begin i32) (local $len i32) (local $end i32)
  (loop $next
    (local.set $end (i32.load $inputs (i32.add (local.get $ends) (i32.shl (local.get $i) (i32.const 2)))))
    (local.set $len (i32.sub (local.get $end) (local.get $begin)))
    (i32.store8 $inputs (i32.add (local.get $verdicts) (local.get $i))
      (i32.or
        (call $verdict_at
          (i32.const 0) (i32.add (local.get $data) (local.get $begin)) (local.get $len))
        (i32.shl
          (call $verdict_at
            (i32.sub (i32.const {staging_bytes}) (local.get $len))
            (i32.add (local.get $data) (local.get $begin))
            (local.get $len))
          (i32.const 1))))
    (local.set $begin (local.get $end))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $next (i32.lt_u (local.get $i) (local.get $count)))))
;; One input again and again, to see what a verdict costs.
(func (export "repeat") (param $times i32) (param $len i32)
  (memory.copy $staging $inputs (i32.const 64) (i32.const 0) (local.get $len))
  (loop $next
    (drop (call $v_validate_event (i32.const 64) (local.get $len)))
    (local.set $times (i32.sub (local.get $times) (i32.const 1)))
    (br_if $next (local.get $times))))
"""


class ValidatorModule:
    """The validator in a module of its own; `verdicts` judges a batch, `fuel` says what one verdict costs."""

    def __init__(self) -> None:
        fragment = resources.files("wasm_host").joinpath("wat", "validator.wat").read_text(encoding="utf-8")
        loop = _LOOP.format(staging_pages=STAGING_PAGES, staging_bytes=MAX_INPUT_BYTES)
        config = wasmtime.Config()
        config.consume_fuel = True
        # Little: one frame for each open group has to fit.
        config.max_wasm_stack = 64 << 10
        engine = wasmtime.Engine(config)
        self._store = wasmtime.Store(engine)
        module = wasmtime.Module(engine, f"(module {loop} {fragment})")
        exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._inputs, self._run, self._repeat = exports["inputs"], exports["run"], exports["repeat"]

    def verdicts(self, inputs: Sequence[bytes]) -> list[bool]:
        """Whether each input parses as an Event, according to the validator."""
        assert max(map(len, inputs)) <= MAX_INPUT_BYTES
        ends = np.cumsum([len(item) for item in inputs], dtype=np.uint32).tobytes()
        data_at = len(ends)
        verdicts_at = data_at + sum(map(len, inputs))
        self._write(ends + b"".join(inputs), verdicts_at + len(inputs))
        self._store.set_fuel(1 << 62)
        self._run(self._store, len(inputs), 0, data_at, verdicts_at)
        found = np.frombuffer(self._inputs.read(self._store, verdicts_at, verdicts_at + len(inputs)), np.uint8)
        assert set(found.tolist()) <= {0, 3}, "the verdict depends on where the input lies"
        return [bool(verdict) for verdict in found]

    def fuel(self, data: bytes) -> int:
        """What one verdict on the input costs."""
        costs = []
        for times in (1, 2):
            self.repeat(data, times)
            costs.append((1 << 62) - self._store.get_fuel())
        return costs[1] - costs[0]

    def repeat(self, data: bytes, times: int) -> None:
        """Judge the same input again and again."""
        self._write(data, len(data))
        self._store.set_fuel(1 << 62)
        self._repeat(self._store, times, len(data))

    def _write(self, data: bytes, needed_bytes: int) -> None:
        missing = needed_bytes - self._inputs.data_len(self._store)
        if missing > 0:
            self._inputs.grow(self._store, -(-missing // PAGE_BYTES))
        self._inputs.write(self._store, data, 0)
