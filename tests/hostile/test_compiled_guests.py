"""Hostile guests as a real compiler makes them: stack pointer in a global, data segments, an allocator of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile.containment import assert_contained
from tests.hostile.wat_guest import POISON_BYTES
from wasm_host import Limits
from wasm_host.limits import MIB

pytestmark = pytest.mark.toolchain

EXPORTS = ("wasm_host_abi_version", "alloc", "dealloc", "transform")

C_SOURCE = """
typedef unsigned int u32; typedef unsigned long long u64; typedef unsigned char u8;
__attribute__((import_module("env"), import_name("log"))) void host_log(u32, const char *, u32);
static u8 arena[70000]; static u32 used; static const char words[] = "about to fail";
extern u8 __heap_base;
__attribute__((export_name("wasm_host_abi_version"))) int version(void) { return 1; }
__attribute__((export_name("alloc"))) u8 *alloc(u32 size) { used = size; return arena; }
__attribute__((export_name("dealloc"))) void dealloc(u8 *at, u32 size) { (void)at; (void)size; }
static u64 event(u8 *at, u32 len) { return (u64)(u32)at << 32 | len; }
__attribute__((noinline)) static u32 deep(volatile u8 *at, u32 n) {
    volatile u8 frame[2000]; frame[n % 2000] = at[0];
    return n == 0xffffffff ? 0 : deep(frame, n + 1) + frame[n % 2000];
}
__attribute__((noinline)) static u64 hostile(u8 *at, u32 len) { %s }
__attribute__((export_name("transform"))) u64 transform(u8 *at, u32 len) {
    return len == 777 ? hostile(at, len) : event(at, len);
}
"""

ZIG_SOURCE = """
var arena: [70000]u8 = undefined;
extern "env" fn log(level: u32, ptr: [*]const u8, len: u32) void;
pub const panic = @import("std").debug.FullPanic(say);
fn say(message: []const u8, _: ?usize) noreturn { log(4, message.ptr, message.len); @trap(); }
export fn wasm_host_abi_version() u32 { return 1; }
export fn alloc(_: usize) [*]u8 { return &arena; }
export fn dealloc(_: [*]u8, _: usize) void {}
noinline fn hostile(input: []u8) u64 { %s }
fn event(input: []u8) u64 { return @as(u64, @intFromPtr(input.ptr)) << 32 | input.len; }
export fn transform(ptr: [*]u8, len: usize) u64 {
    return if (len == 777) hostile(ptr[0..len]) else event(ptr[0..len]);
}
"""


@pytest.fixture(scope="module")
def compile_guest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], bytes]:
    folder = tmp_path_factory.mktemp("hostile")
    cache = {"ZIG_LOCAL_CACHE_DIR": str(folder / "cache")}

    def compile_source(language: str, source: str) -> bytes:
        text, target = folder / f"guest.{language}", folder / "guest.wasm"
        text.write_text(source, encoding="utf-8")
        command = _c_command(text, target) if language == "c" else _zig_command(text, target)
        subprocess.run(command, check=True, cwd=folder, env={**os.environ, **cache})
        return target.read_bytes()

    return compile_source


def _c_command(source: Path, target: Path) -> list[str]:
    flags = ["-O1", "-target", "wasm32-freestanding", "-nostdlib", "-fno-sanitize=all", "-Wl,--no-entry"]
    return [sys.executable, "-m", "ziglang", "cc", *flags, str(source), "-o", str(target)]


def _zig_command(source: Path, target: Path) -> list[str]:
    flags = ["-target", "wasm32-freestanding", "-O", "ReleaseSafe", "-fno-entry", "-fstrip"]
    exports = [f"--export={name}" for name in EXPORTS]
    return [sys.executable, "-m", "ziglang", "build-exe", *flags, *exports, f"-femit-bin={target}", str(source)]


@pytest.mark.parametrize(
    ("body", "code", "guest_text"),
    [
        (
            "host_log(4, words, sizeof words - 1); __builtin_trap(); return event(at, len);",
            "TRAP_UNREACHABLE",
            "about to fail",
        ),
        ("for (u32 i = 0;; i += 4096) ((volatile u8 *)0)[i] = 0xff;", "TRAP_MEMORY_OUT_OF_BOUNDS", None),
        ("return deep(at, 0) + event(at, len);", "TRAP_MEMORY_OUT_OF_BOUNDS", None),
        ("while (((volatile u8 *)at)[0] || 1) {} return 0;", "FUEL_EXHAUSTED", None),
        ("while (__builtin_wasm_memory_grow(0, 1) != -1) {} __builtin_trap(); return 0;", "MEMORY_LIMIT", None),
        ("return event(&__heap_base, 1 << 30);", "RESULT_OUT_OF_BOUNDS", None),
        ("volatile int zero = 0; return len / zero;", "TRAP_INTEGER_DIVISION_BY_ZERO", None),
        ("return ((u64 (*)(u8 *))(len - 700))(at);", "TRAP_TABLE_OUT_OF_BOUNDS", None),
    ],
    ids=["trap-after-log", "wipes-memory", "stack-in-memory", "spin", "grow", "wild-answer", "division", "wild-call"],
)
def test_hostile_c_guest_is_contained(
    compile_guest: Callable[[str, str], bytes], body: str, code: str, guest_text: str | None
) -> None:
    assert str(POISON_BYTES) in C_SOURCE
    wasm = compile_guest("c", C_SOURCE.replace("%s", body))
    limits = Limits(max_memory_bytes=4 * MIB, fuel_per_event=2_000_000)
    assert assert_contained(wasm, code, limits=limits).guest_text == guest_text


@pytest.mark.parametrize(
    ("body", "guest_text"),
    [
        ("return input[input.len];", "index out of bounds: index 777, len 777"),
        ("const n: u8 = @intCast(input.len); return n;", "integer does not fit in destination type"),
    ],
    ids=["index", "cast"],
)
def test_panic_of_a_zig_guest_comes_with_its_words(
    compile_guest: Callable[[str, str], bytes], body: str, guest_text: str
) -> None:
    wasm = compile_guest("zig", ZIG_SOURCE.replace("%s", body))
    assert_contained(wasm, "TRAP_UNREACHABLE", guest_text=guest_text)
