"""Modules that must not get as far as running: garbage, wrong contract, forbidden imports, switched-off proposals."""

import pytest
import wasmtime

import wasm_host
from tests.hostile.containment import assert_refused
from tests.hostile.wat_guest import build
from wasm_host import (
    ContractError,
    ForbiddenImportError,
    InvalidModuleError,
    ModuleTooLargeError,
)

HEALTHY = build()
WRECK = "(unreachable)"
"""Start function of modules that must be refused before any of their code runs."""


@pytest.mark.parametrize(
    ("wasm", "says"),
    [
        (b"", "is empty"),
        (b"MZ\x90\x00\x03\x00\x00\x00", "begins with 4d 5a 90 00"),
        (b"\x1b[31m\nrm -rf /", "begins with 1b 5b 33 31"),
        (b"\x7fELF" + bytes(200), "not WebAssembly"),
        (b"\0asm\x0d\0\x01\0", "is a component"),
        (b"\0asm\x02\0\0\0", "not WebAssembly"),
        (b"\0asm", "not WebAssembly"),
        (b"(module)", "WebAssembly text"),
        (b"\n  (module (memory 1))", "WebAssembly text"),
        (HEALTHY[:-40], "unexpected end"),
        (HEALTHY[:60], "end"),
        (HEALTHY + b"\xff\xff", "malformed section id"),
        (HEALTHY[:8] + b"\x01\xff\xff\xff\xff\x0f", "not valid WebAssembly"),
        (HEALTHY[:30] + bytes(len(HEALTHY) - 30), "not valid WebAssembly"),
    ],
    ids=[
        "empty",
        "windows-executable",
        "escape-codes",
        "elf",
        "component",
        "future-version",
        "four-bytes",
        "text",
        "indented-text",
        "truncated",
        "cut-in-the-types",
        "bytes-behind",
        "section-of-4-gib",
        "zeroed",
    ],
)
def test_what_is_no_module_is_refused(wasm: bytes, says: str) -> None:
    assert_refused(wasm, InvalidModuleError, says=(says,))


def test_huge_module_is_refused_by_its_size_alone() -> None:
    says = ("16,777,217 bytes", "max_module_bytes is 16,777,216", "Limits.max_module_bytes")
    assert_refused(HEALTHY.ljust(16 * 1024 * 1024 + 1, b"\0"), ModuleTooLargeError, says=says)


@pytest.mark.parametrize(
    ("imports", "says"),
    [
        ('(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))', "wasi=True"),
        ('(import "wasi_snapshot_preview1" "path_open" (func))', "path_open"),
        ('(import "wasi_snapshot_preview1" "sock_send" (func))', "sock_send"),
        ('(import "env" "system" (func (param i32) (result i32)))', "'env'.'system'"),
        ('(import "env" "log" (func (param i32 i32) (result i32)))', "as (i32, i32) -> i32"),
        ('(import "env" "log" (func (param i32 i32 i64)))', "(i32, i32, i64) -> ()"),
        ('(import "env" "log" (global i32))', "GlobalType"),
        ('(import "env" "get_metric" (table 1 funcref))', "TableType"),
        ('(import "env" "abort" (memory 1))', "MemoryType"),
        ('(import "env" "memory" (memory 1))', "imported memories"),
        ('(import "env" "t" (table 1 funcref))', "imported memories, tables or globals"),
        ('(import "env" "g" (global (mut i32)))', "imported memories, tables or globals"),
        ('(import "services" "attached" (table 4 4 funcref))', "'services'.'attached'"),
        ('(import "services" "staging" (memory 1))', "'services'.'staging'"),
        ('(import "guest" "transform" (func (param i32 i32) (result i64)))', "'guest'.'transform'"),
        ('(import "" "" (func))', "''.''"),
        ('(import "\\1b[31m\\0a" "\\e2\\80\\ae" (func))', "\\x1b[31m\\n"),
        (f'(import "{"x" * 5000}" "y" (func))', "'" + "x" * 64 + "'"),
    ],
    ids=lambda value: value[9:60] if value.startswith("(import") else "",
)
def test_import_outside_the_list_is_refused_before_anything_runs(imports: str, says: str) -> None:
    memory = "" if "(memory" in imports else '(memory (export "memory") 2)'
    exported = '(export "memory" (memory 0))' if not memory else ""
    assert_refused(
        build(imports=imports, memory=memory, extra=exported, start=WRECK), ForbiddenImportError, says=(says,)
    )


def test_import_of_wasi_that_the_stub_does_not_have_is_refused_with_wasi_on() -> None:
    wasm = build(imports='(import "wasi_snapshot_preview1" "path_open" (func))', start=WRECK)
    assert_refused(wasm, ForbiddenImportError, says=("path_open",), wasi=True)


def without(name: str, replacement: str = "") -> bytes:
    """The healthy guest with an export taken out or replaced."""
    parts = {
        "memory": '(memory (export "memory") 2)',
        "wasm_host_abi_version": '(func (export "wasm_host_abi_version") (result i32) (i32.const 1))',
        "alloc": '(func (export "alloc") (param i32) (result i32) (i32.const 1024))',
        "dealloc": '(func (export "dealloc") (param i32 i32))',
        "transform": '(func (export "transform") (param i32 i32) (result i64) (i64.const 0))',
    }
    parts[name] = replacement
    return bytes(wasmtime.wat2wasm(f"(module {' '.join(parts.values())} (func $start {WRECK}) (start $start))"))


@pytest.mark.parametrize("name", ["memory", "wasm_host_abi_version", "alloc", "dealloc", "transform"])
def test_missing_export_is_refused_by_name(name: str) -> None:
    replacement = "(memory 1)" if name == "memory" else ""
    assert_refused(without(name, replacement), ContractError, says=(name,))


@pytest.mark.parametrize(
    ("name", "replacement", "says"),
    [
        ("wasm_host_abi_version", '(func (export "wasm_host_abi_version") (result i64) (i64.const 1))', "() -> i64"),
        ("wasm_host_abi_version", '(global (export "wasm_host_abi_version") i32 (i32.const 1))', "GlobalType"),
        ("alloc", '(func (export "alloc") (param i64) (result i32) (i32.const 8))', "(i64) -> i32"),
        ("alloc", '(func (export "alloc") (result i32) (i32.const 8))', "() -> i32"),
        ("alloc", '(table (export "alloc") 1 funcref)', "TableType"),
        ("dealloc", '(func (export "dealloc") (param i32))', "(i32) -> ()"),
        ("dealloc", '(func (export "dealloc") (param i32 i32) (result i32) (i32.const 0))', "(i32, i32) -> i32"),
        ("transform", '(func (export "transform") (param i32 i32) (result i32) (i32.const 0))', "(i32, i32) -> i32"),
        (
            "transform",
            '(func (export "transform") (param i32 i32) (result i32 i32) (i32.const 0) (i32.const 0))',
            "(i32, i32) -> i32, i32",
        ),
        ("memory", '(memory 1) (func (export "memory"))', "must export its memory"),
        ("memory", '(memory 1) (global (export "memory") i32 (i32.const 0))', "must export its memory"),
    ],
)
def test_export_of_another_type_is_refused_with_both_types(name: str, replacement: str, says: str) -> None:
    assert_refused(without(name, replacement), ContractError, says=(name, says))


@pytest.mark.parametrize(
    ("optional", "says"),
    [
        ('(func (export "init") (param i32) (result i32) (i32.const 0))', "init (i32, i32) -> i32; it exports (i32)"),
        ('(func (export "init") (param i32 i32))', "it exports (i32, i32) -> ()"),
        ('(func (export "shutdown"))', "shutdown () -> i32; it exports () -> ()"),
        ('(func (export "_initialize") (result i32) (i32.const 0))', "_initialize () -> (); it exports () -> i32"),
        ('(global (export "init") i32 (i32.const 0))', "it exports GlobalType"),
    ],
)
def test_optional_export_of_another_type_is_refused(optional: str, says: str) -> None:
    assert_refused(build(extra=optional, start=WRECK), ContractError, says=(says,))


@pytest.mark.parametrize("version", [0, 2, 3, -1, 0x7FFFFFFF])
def test_other_version_is_refused_with_both_numbers(version: int) -> None:
    wasm = build(version=f"(i32.const {version})")
    assert_refused(wasm, ContractError, says=(f"answers version {version} ", "this host speaks 1"))


PROPOSALS: dict[str, tuple[dict[str, str], str]] = {
    "threads: shared memory": ({"memory": '(memory (export "memory") 2 4 shared)'}, "threads"),
    "threads: atomics": ({"extra": "(func (drop (i32.atomic.load (i32.const 0))))"}, "threads"),
    "memory64": ({"memory": '(memory (export "memory") i64 2)'}, "memory64"),
    "multi-memory": ({"extra": "(memory 1)"}, "multiple memories"),
    "tail calls": ({"extra": "(func $t (return_call $t))"}, "tail calls"),
    "exceptions": ({"extra": "(tag $e) (func (throw $e))"}, "exceptions"),
    "gc: structs": ({"extra": "(type $s (struct (field i32))) (func (drop (struct.new_default $s)))"}, "gc"),
    "gc: i31": ({"extra": "(func (drop (ref.i31 (i32.const 1))))"}, "gc"),
    "function references": (
        {"extra": "(type $f (func)) (func (param (ref $f)) (call_ref $f (local.get 0)))"},
        "function references",
    ),
    "relaxed SIMD": (
        {
            "extra": """(func (param v128) (result v128)
                (f32x4.relaxed_madd (local.get 0) (local.get 0) (local.get 0)))"""
        },
        "relaxed SIMD",
    ),
    "custom page sizes": ({"memory": '(memory (export "memory") 2 (pagesize 1))'}, "custom page sizes"),
    "wide arithmetic": (
        {"extra": "(func (result i64 i64) (i64.add128 (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1)))"},
        "wide arithmetic",
    ),
    "stack switching": ({"extra": "(type $f (func)) (type $c (cont $f)) (func (param (ref $c)))"}, "stack switching"),
}


@pytest.mark.parametrize("name", PROPOSALS)
def test_switched_off_proposal_is_refused_by_name(name: str) -> None:
    parts, says = PROPOSALS[name]
    assert_refused(build(**parts, start=WRECK), InvalidModuleError, says=(says, "hint:"))


def test_proposals_that_toolchains_use_are_taken() -> None:
    wasm = build(
        extra="""(table $t 2 externref) (data $d "x")
            (func (param i32) (result i32 i64) (i32.extend8_s (local.get 0)) (i64.trunc_sat_f64_s (f64.const 1e300)))
            (func (drop (table.size $t)) (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1)) (data.drop $d))
            (func (param v128) (result v128) (i8x16.add (local.get 0) (local.get 0)))"""
    )
    with wasm_host.load(wasm) as guest:
        assert guest.transform([b"\x28\x01"]).events.to_pylist() == [b"\x28\x01"]


def test_names_in_a_refusal_of_the_validator_are_escaped() -> None:
    # wat2wasm itself refuses two exports of one name, so the second name is made the same afterwards.
    wasm = build(extra='(export "\\1b[31m\\0aAA" (func $take)) (export "\\1b[31m\\0aAB" (func $take))')
    wasm = wasm.replace(b"\x1b[31m\nAB", b"\x1b[31m\nAA")
    assert_refused(wasm, InvalidModuleError, says=("duplicate export name",))


def test_module_that_was_refused_once_is_refused_again_from_the_cache() -> None:
    wasm = build(imports='(import "env" "unknown_function" (func))')
    first = assert_refused(wasm, ForbiddenImportError)
    assert str(assert_refused(wasm, ForbiddenImportError)) == str(first)


def test_module_of_very_many_functions_loads_like_any_other() -> None:
    with wasm_host.load(build(extra="(func (drop (i32.const 1)))" * 10_000)) as guest:
        assert guest.transform([b"\x28\x01"]).events.to_pylist() == [b"\x28\x01"]
