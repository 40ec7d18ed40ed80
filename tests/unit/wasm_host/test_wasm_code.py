"""What there is to compile is counted before it is compiled, and bounded."""

import time
from pathlib import Path

import pytest
import wasmtime

import guest_examples
import wasm_host
import wasm_host.engine
from wasm_host import InvalidModuleError, Limits, ModuleTooLargeError
from wasm_host.wasm_code import CodeShape, measure_code
from wasm_host.wasm_constants import ComputedConstantError, check_constants

GUESTS = sorted(Path(guest_examples.__file__).parent.rglob("*.wasm"))

_FRAME = """
(module
  (type $wide (func (param {wide}) (result {wide})))
  (memory (export "memory") 1)
  (table 4 funcref)
  (global $g (mut i32) (i32.const 0))
  (func (export "wasm_host_abi_version") (result i32) (i32.const 1))
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "dealloc") (param i32 i32))
  (func (export "transform") (param i32 i32) (result i64) (i64.const 0))
  {more})
"""


def module(more: str = "", *, values: int = 1) -> bytes:
    return bytes(wasmtime.wat2wasm(_FRAME.format(wide=" ".join(["i32"] * values), more=more)))


def function(body: str, local_count: int = 0) -> str:
    return f"(func $extra (local {' '.join(['i32'] * local_count)}) {body})"


def complexity_of(body: str, local_count: int = 0, *, values: int = 1) -> int:
    """What one more function adds beyond itself; its type (nothing in, nothing out) is one more of the module."""
    whole = measure_code(module(function(body, local_count), values=values)).complexity
    return whole - measure_code(module(function(""), values=values)).complexity


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("(block nop) (drop (i32.const 3)) (drop (f64.const 1.5)) (drop (f32.const 2)) (drop (i64.const -99999))", 0),
        ("(loop nop)", 1),
        ("(if (i32.const 1) (then nop) (else nop))", 1),
        ("(block (br_if 0 (i32.const 0))) (block (br 0))", 1),
        ("(block (br_table 0 0 0 (i32.const 1)))", 1),
        (f"(block (br_table {'0 ' * 33} (i32.const 1)))", 9),
        ("(drop (table.get 0 (i32.const 0))) (table.set 0 (i32.const 0) (ref.null func))", 2),
        ("(drop (table.size 0)) (table.copy (i32.const 0) (i32.const 0) (i32.const 0))", 2),
        ("(memory.copy (i32.const 0) (i32.const 0) (i32.const 0)) (drop (memory.grow (i32.const 0)))", 0),
        ("(memory.fill (i32.const 3) (i32.const 4) (i32.const 2)) (drop (memory.size))", 0),
        ("(i32.store8 offset=999 (i32.const 3) (i32.load offset=300 align=1 (i32.const 4)))", 0),
        ("(drop (v128.const i64x2 0x0304030403040304 0x0d0e0d0e0d0e0d0e))", 0),
        (f"(drop (i8x16.shuffle {'3 4 13 14 ' * 4} (v128.load (i32.const 0)) (v128.load (i32.const 3))))", 0),
        ("(drop (v128.load64_lane 1 (i32.const 4) (v128.load32_zero (i32.const 3))))", 0),
        ("(drop (i32x4.extract_lane 3 (f64x2.add (v128.const i64x2 3 4) (v128.const i64x2 13 14))))", 0),
        ("(drop (select (result i32) (i32.const 3) (i32.const 4) (i32.const 13)))", 0),
        ("(drop (i32.trunc_sat_f64_s (f64.const 3))) (drop (ref.is_null (ref.func 0)))", 0),
        ("(global.set $g (i32.const 3)) (call $extra) unreachable", 0),
    ],
)
def test_branches_are_counted_and_nothing_else(body: str, expected: int) -> None:
    declared = module(function(body) + "(elem declare func 0)")
    wasm_host.engine.engine_for(512 << 10).validate_guest(declared)
    plain = measure_code(module(function("") + "(elem declare func 0)")).complexity
    assert measure_code(declared).complexity - plain == expected


def test_locals_make_branches_dearer() -> None:
    loops = "(loop nop)" * 10
    assert complexity_of(loops, 6) == 10
    assert complexity_of(loops, 64) == 20
    assert complexity_of(loops, 6400) == 1010


def test_values_that_blocks_and_calls_pass_on_are_counted() -> None:
    push, drop = "(i32.const 7)" * 20, "drop " * 20
    assert complexity_of(f"{push} (block (type $wide)) {drop}", values=20) == 40
    assert complexity_of(f"{push} (loop (type $wide)) {drop}", values=20) == 41
    assert complexity_of(f"{push} (i32.const 0) (call_indirect (type $wide)) {drop}", values=20) == 1 + 24
    wide = f"(func $wide (type $wide) {'(i32.const 1)' * 20})"
    body = function(f"{push} (call $wide) {drop}")
    more = measure_code(module(wide + body, values=20)).complexity
    assert more - measure_code(module(wide + function(""), values=20)).complexity == 24


@pytest.mark.parametrize("path", GUESTS, ids=lambda path: path.name)
def test_every_example_is_far_below_the_limits(path: Path) -> None:
    shape, limits = measure_code(path.read_bytes()), Limits()
    check_constants(path.read_bytes())
    assert shape.code_bytes * 2 < limits.max_code_bytes
    assert shape.largest_function_bytes * 5 < limits.max_function_bytes
    assert shape.complexity * 2 < limits.max_module_complexity
    assert shape.largest_function_complexity * 4 < limits.max_function_complexity


@pytest.mark.parametrize(
    ("body", "local_count", "values", "field"),
    [
        ("(i32.const 1)" * 50 + "(loop (type $wide))" * 2000 + "drop " * 50, 0, 50, "max_function_complexity"),
        ("(loop nop)" * 4000, 0, 1, "max_function_complexity"),
        ("(loop (br_if 0 (local.get 0)))" * 300, 5000, 1, "max_function_complexity"),
        ("(drop (i32.const 1))" * 60_000, 0, 1, "max_function_bytes"),
    ],
    ids=["loops that pass values", "loops", "loops with many locals", "one long function"],
)
def test_modules_that_compile_for_long_are_refused_in_no_time(
    body: str, local_count: int, values: int, field: str
) -> None:
    wasm = module(function(body, local_count), values=values)
    started = time.process_time()
    with pytest.raises(ModuleTooLargeError, match=field):
        wasm_host.load(wasm)
    assert time.process_time() - started < 1


def test_many_small_functions_and_many_types_are_refused() -> None:
    with pytest.raises(ModuleTooLargeError, match="max_module_complexity"):
        wasm_host.load(module("(func)" * 1200), limits=Limits(max_module_complexity=1000))
    types = "".join(f"(type (func (param {' '.join(['i32'] * (number % 900))})))" for number in range(1200))
    with pytest.raises(ModuleTooLargeError, match="max_module_complexity"):
        wasm_host.load(module(types), limits=Limits(max_module_complexity=1000))


def test_module_without_functions_has_nothing_to_compile() -> None:
    assert measure_code(bytes(wasmtime.wat2wasm("(module (memory 1))"))) == CodeShape()


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("(global i32 (i32.add (i32.const 1) (i32.const 2)))", "global"),
        ('(data (i32.sub (i32.const 9) (i32.const 1)) "x")', "data segment"),
        ("(elem (i32.mul (i32.const 1) (i32.const 1)) func 0)", "element segment"),
    ],
)
def test_computed_constant_is_refused(more: str, what: str) -> None:
    with pytest.raises(ComputedConstantError, match=what):
        check_constants(module(more))
    with pytest.raises(InvalidModuleError, match=f"a {what} has a computed constant; hint: .*extended constant"):
        wasm_host.load(module(more))


def test_constants_of_every_form_are_taken() -> None:
    check_constants(
        module(
            """
            (global i64 (i64.const -11)) (global f32 (f32.const 1)) (global f64 (f64.const 1))
            (global v128 (v128.const i64x2 1 2)) (global funcref (ref.null func)) (global funcref (ref.func 0))
            (elem (i32.const 0) 0 0) (elem func 0) (elem declare func 0)
            (elem (table 0) (i32.const 1) funcref (ref.func 0) (ref.null func)) (elem funcref (ref.func 0))
            (elem (i32.const 1) funcref (ref.null func)) (data (i32.const 1) "abc") (data "passive")
            """
        )
    )
