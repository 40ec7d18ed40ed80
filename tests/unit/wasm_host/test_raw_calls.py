"""Calls through wasmtime's C API, past what wasmtime-py boxes."""

import ctypes

import pytest
import wasmtime

from wasm_host.raw_calls import Extern, RawFunction, RawInstance, RawMemory, externs

WAT = """(module
  (memory (export "memory") 1 3)
  (func (export "seven") (result i32) (i32.const 7))
  (func (export "minus") (result i32) (i32.const -7))
  (func (export "trap") (result i32) (unreachable))
  (func (export "peek") (result i32) (i32.load (i32.const 8))))"""


@pytest.fixture
def store() -> wasmtime.Store:
    return wasmtime.Store()


def made(store: wasmtime.Store, module: wasmtime.Module, *imports: Extern) -> RawInstance:
    given = externs(len(imports))
    for at, extern in enumerate(imports):
        given[at] = extern
    instance = RawInstance(store, module, given)
    instance.instantiate()
    return instance


@pytest.fixture
def instance(store: wasmtime.Store) -> RawInstance:
    return made(store, wasmtime.Module(store.engine, WAT))


def test_function_returns_its_number_every_time(store: wasmtime.Store, instance: RawInstance) -> None:
    seven, minus = (RawFunction(store, instance.export(name)) for name in ("seven", "minus"))
    assert [seven() for _ in range(1000)] == [7] * 1000
    assert minus() == -7


def test_trap_is_wasmtimes_own_with_its_code(store: wasmtime.Store, instance: RawInstance) -> None:
    with pytest.raises(wasmtime.Trap) as caught:
        RawFunction(store, instance.export("trap"))()
    assert caught.value.trap_code == wasmtime.TrapCode.UNREACHABLE


def test_missing_export_is_a_key_error(instance: RawInstance) -> None:
    with pytest.raises(KeyError, match="nothing"):
        instance.export("nothing")


def test_memory_is_the_one_that_functions_see(store: wasmtime.Store, instance: RawInstance) -> None:
    memory = RawMemory(store, instance.export("memory"))
    ctypes.memmove(memory.base_address() + 8, (123456).to_bytes(4, "little"), 4)
    assert RawFunction(store, instance.export("peek"))() == 123456


def test_memory_grows_up_to_its_maximum_and_no_further(store: wasmtime.Store, instance: RawInstance) -> None:
    memory = RawMemory(store, instance.export("memory"))
    assert memory.size_bytes() == 65536
    memory.grow_pages(2)
    assert memory.size_bytes() == 3 * 65536
    assert memory.base_address() != 0
    with pytest.raises(wasmtime.WasmtimeError, match="grow"):
        memory.grow_pages(1)


def test_start_function_that_traps_raises(store: wasmtime.Store) -> None:
    module = wasmtime.Module(store.engine, "(module (func $s (unreachable)) (start $s))")
    with pytest.raises(wasmtime.Trap):
        made(store, module)


def test_import_of_another_type_raises_and_does_not_crash(store: wasmtime.Store, instance: RawInstance) -> None:
    module = wasmtime.Module(store.engine, '(module (import "a" "b" (func (param i64))))')
    with pytest.raises(wasmtime.WasmtimeError, match="incompatible import type"):
        made(store, module, instance.export("seven"))


def test_imports_reach_another_instance(store: wasmtime.Store, instance: RawInstance) -> None:
    module = wasmtime.Module(
        store.engine,
        """(module (import "a" "f" (func $f (result i32)))
          (func (export "twice") (result i32) (i32.add (call $f) (call $f))))""",
    )
    other = made(store, module, instance.export("seven"))
    assert RawFunction(store, other.export("twice"))() == 14


def test_wanted_exports_are_those_of_the_newest_instance(store: wasmtime.Store) -> None:
    counting = wasmtime.Module(
        store.engine,
        """(module (global $n (mut i32) (i32.const 0))
          (func (export "count") (result i32)
            (global.set $n (i32.add (global.get $n) (i32.const 1))) (global.get $n)))""",
    )
    calling = wasmtime.Module(
        store.engine,
        """(module (import "a" "count" (func $count (result i32)))
          (func (export "through") (result i32) (call $count)))""",
    )
    imports, through = externs(1), Extern()
    inner = RawInstance(store, counting, externs(0), {"count": imports[0]})
    outer = RawInstance(store, calling, imports, {"through": through})
    call = RawFunction(store, through)
    for _ in range(3):
        inner.instantiate()
        outer.instantiate()
        assert [call(), call()] == [1, 2]


def test_wanted_export_that_is_missing_is_a_key_error(store: wasmtime.Store) -> None:
    instance = RawInstance(store, wasmtime.Module(store.engine, WAT), externs(0), {"nothing": Extern()})
    with pytest.raises(KeyError, match="nothing"):
        instance.instantiate()
