"""The WASI stub: the same answers always, nothing of the machine, text as log lines, and off unless asked for."""

import struct

import pytest
import wasmtime

import wasm_host
from wasm_host import Limits
from wasm_host.driver_state import STATE_BYTES
from wasm_host.wasi import WASI_IMPORT_MODULE, WASI_IMPORTS, functions_wasm, trampolines_wasm

BADF, INVAL, NOSYS, SPIPE = 8, 28, 52, 70
CLOCK_NS = 1_000_000_000 * 1_000_000_000


class Rig:
    """The stub with a guest's memory and a staging memory, and nothing else."""

    def __init__(self, *, attached: bool = True) -> None:
        config = wasmtime.Config()
        config.wasm_multi_memory = True
        engine = wasmtime.Engine(config)
        self.store = wasmtime.Store(engine)
        page = wasmtime.MemoryType(wasmtime.Limits(1, 1))
        self.memory = wasmtime.Memory(self.store, page)
        self.staging = wasmtime.Memory(self.store, page)
        self.trampolines = wasmtime.Instance(self.store, wasmtime.Module(engine, trampolines_wasm()), [])
        if attached:
            table = self.trampolines.exports(self.store)["attached"]
            wasmtime.Instance(self.store, wasmtime.Module(engine, functions_wasm()), [table, self.memory, self.staging])

    def call(self, name: str, *arguments: int) -> int:
        function = self.trampolines.exports(self.store)[name]
        assert isinstance(function, wasmtime.Func)
        return int(function(self.store, *arguments))

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.memory.read(self.store, address, address + size))

    def write(self, address: int, data: bytes) -> None:
        self.memory.write(self.store, data, address)


def test_guest_can_import_the_listed_functions_and_no_others() -> None:
    engine = wasmtime.Engine()
    exports = {export.name: export.type for export in wasmtime.Module(engine, trampolines_wasm()).exports}
    table = exports.pop("attached")
    assert isinstance(table, wasmtime.TableType)
    assert list(exports) == [symbol.name for symbol in WASI_IMPORTS]
    for symbol in WASI_IMPORTS:
        found = exports[symbol.name]
        assert isinstance(found, wasmtime.FuncType)
        assert tuple(map(str, found.params)) == symbol.signature.params
        assert tuple(map(str, found.results)) == symbol.signature.results


def test_no_function_of_the_host_process_is_behind_the_stub() -> None:
    config = wasmtime.Config()
    config.wasm_multi_memory = True
    engine = wasmtime.Engine(config)
    assert list(wasmtime.Module(engine, trampolines_wasm()).imports) == []
    kinds = [type(item.type) for item in wasmtime.Module(engine, functions_wasm()).imports]
    assert kinds == [wasmtime.TableType, wasmtime.MemoryType, wasmtime.MemoryType]


@pytest.mark.parametrize("clock", [0, 1, 2, 3])
def test_every_clock_stands_still(clock: int) -> None:
    rig = Rig()
    for _ in range(2):
        rig.write(64, b"\xff" * 8)
        assert rig.call("clock_time_get", clock, 0, 64) == 0
        assert struct.unpack("<Q", rig.read(64, 8)) == (CLOCK_NS,)


def test_unknown_clock_is_refused_without_a_write() -> None:
    rig = Rig()
    assert rig.call("clock_time_get", 4, 0, 64) == INVAL
    assert rig.call("clock_res_get", 4, 64) == INVAL
    assert rig.read(64, 8) == b"\0" * 8


def test_random_bytes_are_the_same_in_every_call_and_instance() -> None:
    rig, other = Rig(), Rig()
    assert rig.call("random_get", 100, 64) == 0
    assert rig.call("random_get", 300, 32) == 0
    assert other.call("random_get", 100, 64) == 0
    drawn = rig.read(100, 64)
    assert drawn == other.read(100, 64)
    assert drawn[:32] == rig.read(300, 32)
    assert len(set(drawn)) > 40
    assert rig.read(164, 8) == b"\0" * 8


@pytest.mark.parametrize("name", ["args_sizes_get", "environ_sizes_get"])
def test_arguments_and_environment_are_empty(name: str) -> None:
    rig = Rig()
    rig.write(64, b"\xff" * 12)
    assert rig.call(name, 64, 68) == 0
    assert rig.read(64, 12) == b"\0" * 8 + b"\xff" * 4


@pytest.mark.parametrize("fd", [0, 3, 4, 2**31 - 1, -1])
def test_there_are_no_files(fd: int) -> None:
    rig = Rig()
    before = rig.read(0, 65536)
    calls = {
        "fd_write": (fd, 8, 1, 64),
        "fd_read": (fd, 8, 1, 64),
        "fd_close": (fd,),
        "fd_seek": (fd, 0, 0, 64),
        "fd_fdstat_get": (fd, 64),
        "fd_fdstat_set_flags": (fd, 0),
        "fd_prestat_get": (fd, 64),
        "fd_prestat_dir_name": (fd, 64, 8),
    }
    assert {name: rig.call(name, *arguments) for name, arguments in calls.items()} == dict.fromkeys(calls, BADF)
    assert rig.read(0, 65536) == before


def test_outputs_look_like_a_terminal_that_can_only_be_written() -> None:
    rig = Rig()
    for fd in (1, 2):
        assert rig.call("fd_fdstat_get", fd, 64) == 0
        kind, _, rights = struct.unpack("<BxHxxxxQ", rig.read(64, 16))
        assert (kind, rights) == (2, 1 << 6)
        assert rig.call("fd_seek", fd, 0, 0, 64) == SPIPE
        assert rig.call("fd_read", fd, 8, 1, 64) == BADF


def test_waiting_is_over_at_once() -> None:
    rig = Rig()
    rig.write(1024, struct.pack("<QB39x", 7, 0) + struct.pack("<QB39x", 9, 1))
    assert rig.call("poll_oneoff", 1024, 2048, 2, 64) == 0
    assert struct.unpack("<I", rig.read(64, 4)) == (2,)
    assert struct.unpack("<QHB5x16x", rig.read(2048, 32)) == (7, 0, 0)
    assert struct.unpack("<QHB5x16x", rig.read(2080, 32)) == (9, BADF, 1)
    assert rig.call("poll_oneoff", 1024, 2048, 0, 64) == INVAL
    assert rig.call("sched_yield") == 0


def test_pointers_outside_the_guests_memory_trap_and_touch_nothing_else() -> None:
    rig = Rig()
    for name, arguments in (
        ("clock_time_get", (0, 0, 65530)),
        ("random_get", (65500, 100)),
        ("args_sizes_get", (-4, 0)),
        ("fd_write", (1, 65532, 1, 64)),
    ):
        with pytest.raises(wasmtime.Trap, match="out of bounds"):
            rig.call(name, *arguments)
    assert bytes(rig.staging.read(rig.store, STATE_BYTES, 65536)) == b"\0" * (65536 - STATE_BYTES)


def test_calls_before_the_guest_is_complete_are_answered_not_there() -> None:
    rig = Rig(attached=False)
    for symbol in WASI_IMPORTS:
        arguments = [0] * len(symbol.signature.params)
        if symbol.signature.results:
            assert rig.call(symbol.name, *arguments) == NOSYS, symbol.name
        else:
            with pytest.raises(wasmtime.Trap, match="unreachable"):
                rig.call(symbol.name, *arguments)


# Reads its input as records: file, length, text. File 254 logs the text, file 255 exits with the length as status.
TYPIST = bytes(
    wasmtime.wat2wasm("""
    (module
      (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
      (import "env" "log" (func $log (param i32 i32 i32)))
      (memory (export "memory") 2)
      (func (export "wasm_host_abi_version") (result i32) (i32.const 1))
      (func (export "alloc") (param i32) (result i32) (i32.const 4096))
      (func (export "dealloc") (param i32 i32))
      (func (export "transform") (param $at i32) (param $len i32) (result i64)
        (local $end i32) (local $fd i32) (local $size i32)
        (local.set $end (i32.add (local.get $at) (local.get $len)))
        (loop $next
          (local.set $fd (i32.load8_u (local.get $at)))
          (local.set $size (i32.load8_u offset=1 (local.get $at)))
          (i32.store (i32.const 16) (i32.add (local.get $at) (i32.const 2)))
          (i32.store (i32.const 20) (local.get $size))
          (if (i32.eq (local.get $fd) (i32.const 255)) (then (call $proc_exit (local.get $size))))
          (if (i32.eq (local.get $fd) (i32.const 254))
            (then (call $log (i32.const 3) (i32.load (i32.const 16)) (local.get $size)))
            (else
              (if (call $fd_write (local.get $fd) (i32.const 16) (i32.const 1) (i32.const 24)) (then (unreachable)))
              (if (i32.ne (i32.load (i32.const 24)) (local.get $size)) (then (unreachable)))))
          (local.set $at (i32.add (i32.add (local.get $at) (i32.const 2)) (local.get $size)))
          (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
        (i64.const 0)))
    """)
)


def typed(*records: tuple[int, str]) -> bytes:
    return b"".join(bytes([fd, len(text)]) + text.encode() for fd, text in records)


def lines_of(*events: bytes, limits: Limits | None = None) -> list[tuple[int | None, str, str]]:
    with wasm_host.load(TYPIST, wasi=True, limits=limits or Limits()) as guest:
        result = guest.transform(list(events))
    assert result.failures == []
    return [(line.row, line.level, line.text) for line in result.logs]


def test_pieces_of_a_line_are_joined_and_lines_are_cut() -> None:
    event = typed((2, "go"), (2, "rout"), (2, "ine 1\n\nmain"), (2, ".f()\n"), (1, "out\n"))
    assert lines_of(event) == [(0, "error", "goroutine 1"), (0, "error", "main.f()"), (0, "info", "out")]


def test_unfinished_line_is_kept_and_stays_with_its_event() -> None:
    assert lines_of(typed((1, "first")), typed((1, "second"))) == [(0, "info", "first"), (1, "info", "second")]


def test_another_writer_begins_a_line() -> None:
    event = typed((1, "out"), (2, "err"), (254, "logged"), (2, "more"))
    assert lines_of(event) == [
        (0, "info", "out"),
        (0, "error", "err"),
        (0, "warn", "logged"),
        (0, "error", "more"),
    ]


def test_long_line_is_cut_like_any_log_line() -> None:
    # Room for two records: 12 bytes of header and 10 of text, and 12 and 4.
    limits = Limits(max_error_message_bytes=10, max_log_bytes_per_batch=38)
    event = typed((1, "0123456"), (1, "789abc"), (1, "d\n"), (1, "next\n"))
    assert [text for _, _, text in lines_of(event, limits=limits)] == ["0123456789", "next"]


def test_text_never_runs_over_the_end_of_the_log() -> None:
    found = lines_of(typed((1, "0123"), (1, "456789\n")), limits=Limits(max_log_bytes_per_batch=20))
    assert [text for _, _, text in found] == ["01234567"]


def test_full_log_counts_lines_not_pieces() -> None:
    limits = Limits(max_log_bytes_per_batch=20)
    with wasm_host.load(TYPIST, wasi=True, limits=limits) as guest:
        result = guest.transform([typed((1, "fits\n"), (1, "lo"), (1, "st\n"), (2, "lost too\n"))])
    assert [line.text for line in result.logs] == ["fits"]
    assert result.stats.log_lines_lost == 2


def test_reason_of_a_panic_is_in_the_failure_and_not_its_stack() -> None:
    trace = typed((2, "panic: "), (2, "boom"), (2, "\n\ngoroutine 1:\n\tmain.go:7\n"), (255, "xx"))
    with wasm_host.load(TYPIST, wasi=True) as guest:
        result = guest.transform([typed((1, "fine\n")), trace, typed((2, "fine again\n"))])
    failed, *others = result.failures
    assert others == []
    assert (failed.row, failed.code, failed.guest_text) == (1, "TRAP_UNREACHABLE", "panic: boom")
    assert [line.text for line in result.logs if line.row == 2] == ["fine again"]


def test_reason_of_a_fatal_error_survives_a_full_log() -> None:
    trace = typed((2, "fatal "), (2, "error: out of memory\n"), (2, "stack\n"), (255, ""))
    with wasm_host.load(TYPIST, wasi=True, limits=Limits(max_log_bytes_per_batch=0)) as guest:
        result = guest.transform([trace])
    assert result.failures[0].guest_text == "fatal error: out of memory"


def test_exit_without_words_says_its_status() -> None:
    with wasm_host.load(TYPIST, wasi=True) as guest:
        result = guest.transform([typed((255, "x" * 107)), typed((255, ""))])
    assert [failure.guest_text for failure in result.failures] == ["exit status 107", "exit status 0"]


def test_wasi_is_off_unless_asked_for() -> None:
    with pytest.raises(wasm_host.ForbiddenImportError) as refused:
        wasm_host.load(TYPIST)
    assert WASI_IMPORT_MODULE in refused.value.message
    assert "wasi=True" in (refused.value.hint or "")


@pytest.mark.parametrize("name", ["path_open", "sock_send", "fd_pwrite", "proc_raise"])
def test_other_functions_of_wasi_are_refused_even_when_it_is_on(name: str) -> None:
    wat = f'(module (import "{WASI_IMPORT_MODULE}" "{name}" (func)) (memory (export "memory") 1))'
    with pytest.raises(wasm_host.ForbiddenImportError, match=name) as refused:
        wasm_host.load(bytes(wasmtime.wat2wasm(wat)), wasi=True)
    assert "neither files nor sockets" in (refused.value.hint or "")


def test_listed_function_with_another_type_is_refused() -> None:
    wat = f'(module (import "{WASI_IMPORT_MODULE}" "proc_exit" (func (param i64))) (memory (export "memory") 1))'
    with pytest.raises(wasm_host.ForbiddenImportError, match="proc_exit"):
        wasm_host.load(bytes(wasmtime.wat2wasm(wat)), wasi=True)
