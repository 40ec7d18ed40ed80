"""Structured random modules: valid, following the contract's signatures, and doing anything at all."""

import random

_I32_BINARY = ("add", "sub", "mul", "div_s", "div_u", "rem_u", "and", "or", "xor", "shl", "shr_u", "rotl", "eq", "lt_u")
_I32_UNARY = ("clz", "ctz", "popcnt", "eqz")


class RandomWat:
    """Grows random expressions and statements over two i32 locals."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def module(self) -> str:
        """A module whose functions do something random."""
        rng = self._rng
        pages = rng.choice([0, 1, 1, 2, 16])
        maximum = rng.choice(["", "", str(pages), str(pages + 3)])
        start = "(func $s " + self.statements(2) + ") (start $s)" if rng.random() < 0.1 else ""
        init = (
            f'(func (export "init") (param i32 i32) (result i32) {self.statements(2)} {self._status()})'
            if rng.random() < 0.3
            else ""
        )
        alloc = rng.choice(["(i32.const 1024)", "(i32.const 8)", self.value(3), "(i32.const 0)"])
        return f"""(module
          (import "env" "log" (func $log (param i32 i32 i32)))
          (import "env" "record_metric" (func $record (param i32 i64)))
          (import "env" "get_metric" (func $get (param i32) (result i64)))
          (memory (export "memory") {pages} {maximum})
          (table 4 funcref) (elem (i32.const 1) $helper $helper)
          (type $unary (func (param i32 i32) (result i32)))
          (func $helper (param i32 i32) (result i32) {self.statements(2)} {self.value(3)})
          {start} {init}
          (func (export "wasm_host_abi_version") (result i32) (i32.const 1))
          (func (export "alloc") (param i32) (result i32) (local i32) {alloc})
          (func (export "dealloc") (param i32 i32) {self.statements(1) if rng.random() < 0.2 else ""})
          (func (export "transform") (param i32 i32) (result i64) {self.statements(4)} {self._answer()}))"""

    def _status(self) -> str:
        return self._rng.choice(["(i32.const 0)", "(i32.const 0)", "(i32.const 7)"])

    def _answer(self) -> str:
        same = "(i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1)))"
        packed = (
            f"(i64.or (i64.shl (i64.extend_i32_u {self.value(2)}) (i64.const 32)) (i64.extend_i32_u {self.value(2)}))"
        )
        return self._rng.choice([same, same, packed, "(i64.const 0)", f"(i64.const {self._rng.getrandbits(64)})"])

    def statements(self, count: int) -> str:
        """A few statements."""
        return " ".join(self.statement(2) for _ in range(self._rng.randint(0, count)))

    def statement(self, depth: int) -> str:
        """One statement; loops are bounded by nothing but fuel."""
        rng = self._rng
        choices = [
            lambda: f"(local.set {rng.randint(0, 1)} {self.value(depth)})" if depth else "(nop)",
            lambda: f"(i32.store {self.value(depth)} {self.value(depth)})",
            lambda: f"(i32.store8 offset={rng.choice([0, 7, 65535])} {self.value(depth)} {self.value(depth)})",
            lambda: f"(call $log {self.value(1)} {self.value(1)} {self.value(1)})",
            lambda: f"(call $record {self.value(1)} (i64.const {rng.getrandbits(63)}))",
            lambda: f"(drop (call $get {self.value(1)}))",
            lambda: f"(drop (memory.grow {self.value(1)}))",
            lambda: f"(memory.fill {self.value(1)} {self.value(1)} {self.value(1)})",
            lambda: f"(memory.copy {self.value(1)} {self.value(1)} {self.value(1)})",
            lambda: f"(drop (call_indirect (type $unary) {self.value(1)} {self.value(1)} {self.value(1)}))",
            lambda: "(unreachable)" if rng.random() < 0.2 else "(nop)",
        ]
        if depth:
            choices += [
                lambda: f"(if {self.value(depth)} (then {self.statement(depth - 1)}))",
                lambda: f"(loop {self.statement(depth - 1)} (br_if 0 {self.value(1)}))",
            ]
        return rng.choice(choices)()

    def value(self, depth: int) -> str:
        """An i32 expression; locals exist in every function that uses it."""
        rng = self._rng
        if depth <= 0 or rng.random() < 0.3:
            constant = rng.choice([0, 1, 8, 1024, 65535, 65536, 2**31 - 1, -1, rng.getrandbits(32) - 2**31])
            return rng.choice([f"(i32.const {constant})", "(memory.size)"])
        choices = [
            lambda: f"(i32.{rng.choice(_I32_BINARY)} {self.value(depth - 1)} {self.value(depth - 1)})",
            lambda: f"(i32.{rng.choice(_I32_UNARY)} {self.value(depth - 1)})",
            lambda: f"(i32.load8_u {self.value(depth - 1)})",
            lambda: f"(i32.trunc_f64_s (f64.convert_i32_s {self.value(depth - 1)}))",
        ]
        return rng.choice(choices)()
