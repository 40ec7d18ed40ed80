"""Engines: one for each setting, made on first use, with a clock that ticks and settings that decide the code."""

import time

import pytest
import wasmtime

from tests.hostile.wat_guest import build
from tests.unit.wasm_host.python_process import run_python
from wasm_host.engine import EPOCH_TICK_MS, EngineSettings, engine_for
from wasm_host.module import compile_wasm


def test_engine_is_made_once_for_each_stack_size() -> None:
    assert engine_for(512 << 10) is engine_for(512 << 10)
    assert engine_for(512 << 10) is not engine_for(256 << 10)


def test_importing_makes_no_engine_and_starts_no_thread() -> None:
    script = """
import threading, wasm_host, wasm_host.engine
print(threading.active_count(), len(wasm_host.engine._engines))
"""
    assert run_python(script).stdout.strip() == "1 0"


def test_ticker_reaches_a_deadline_in_time() -> None:
    sandbox = engine_for(512 << 10)
    store = wasmtime.Store(sandbox.engine)
    store.set_fuel(10**15)
    store.set_epoch_deadline(5)
    module = wasmtime.Module(sandbox.engine, '(module (func (export "spin") (loop $l (br $l))))')
    spin = wasmtime.Instance(store, module, []).exports(store)["spin"]
    assert isinstance(spin, wasmtime.Func)
    started = time.monotonic()
    with pytest.raises(wasmtime.Trap) as caught:
        spin(store)
    assert caught.value.trap_code == wasmtime.TrapCode.INTERRUPT
    took_ms = (time.monotonic() - started) * 1000
    assert 2 * EPOCH_TICK_MS < took_ms < 5_000


def test_nans_are_canonical() -> None:
    # 0/0 and the square root of -1 give a NaN whose bits processors choose differently; here they are fixed.
    sandbox = engine_for(512 << 10)
    store = wasmtime.Store(sandbox.engine)
    store.set_fuel(10**6)
    store.set_epoch_deadline(1000)
    module = wasmtime.Module(
        sandbox.engine,
        """(module
          (func (export "zero") (param f64) (result i64) (i64.reinterpret_f64 (f64.div (local.get 0) (local.get 0))))
          (func (export "root") (param f64) (result i64) (i64.reinterpret_f64 (f64.sqrt (f64.const -1)))))""",
    )
    exports = wasmtime.Instance(store, module, []).exports(store)
    for name in ("zero", "root"):
        function = exports[name]
        assert isinstance(function, wasmtime.Func)
        assert function(store, 0.0) == 0x7FF8_0000_0000_0000


def test_compiled_module_is_kept_for_its_engine() -> None:
    sandbox, other = engine_for(512 << 10), engine_for(256 << 10)
    first = compile_wasm(build(), "d" * 64, sandbox)
    assert compile_wasm(build(), "d" * 64, sandbox) is first
    assert compile_wasm(build(), "d" * 64, other) is not first


def test_settings_have_fingerprints_of_their_own() -> None:
    assert EngineSettings(1 << 20, False).fingerprint() == EngineSettings(1 << 20, False).fingerprint()
    assert EngineSettings(1 << 20, False).fingerprint() != EngineSettings(1 << 20, True).fingerprint()
