"""The deterministic WASI stub: which functions it has, and how it is assembled.

Off by default; a module gets it with `load(..., wasi=True)`. Two modules of the host's own, as with `services.wat`:
the guest imports trampolines, which exist before it; the functions behind them (`wat/wasi_stub.wat`) need the guest's
memory and the driver's log, so they are instantiated last and put themselves into the trampolines' table. No Python
function is ever reachable from a guest.
"""

import functools
from importlib import resources

import wasmtime

from abi.names import Signature, Symbol
from wasm_host.host_modules import with_field_offsets

WASI_IMPORT_MODULE = "wasi_snapshot_preview1"

_I32 = "i32"


def _returns_errno(name: str, *params: str) -> Symbol:
    return Symbol(name, Signature(params, (_I32,)))


WASI_IMPORTS: tuple[Symbol, ...] = (
    _returns_errno("args_get", _I32, _I32),
    _returns_errno("args_sizes_get", _I32, _I32),
    _returns_errno("environ_get", _I32, _I32),
    _returns_errno("environ_sizes_get", _I32, _I32),
    _returns_errno("clock_res_get", _I32, _I32),
    _returns_errno("clock_time_get", _I32, "i64", _I32),
    _returns_errno("random_get", _I32, _I32),
    _returns_errno("sched_yield"),
    _returns_errno("poll_oneoff", _I32, _I32, _I32, _I32),
    _returns_errno("fd_write", _I32, _I32, _I32, _I32),
    _returns_errno("fd_read", _I32, _I32, _I32, _I32),
    _returns_errno("fd_close", _I32),
    _returns_errno("fd_seek", _I32, "i64", _I32, _I32),
    _returns_errno("fd_fdstat_get", _I32, _I32),
    _returns_errno("fd_fdstat_set_flags", _I32, _I32),
    _returns_errno("fd_prestat_get", _I32, _I32),
    _returns_errno("fd_prestat_dir_name", _I32, _I32, _I32),
    Symbol("proc_exit", Signature((_I32,))),
)
"""Every function of the stub: what Go needs, and C's stdio. Nothing else of WASI is ever offered."""

_ERRNO_NOSYS = 52


def _trampoline(slot: int, symbol: Symbol) -> str:
    """A function that hands its arguments on, or says "not there" while nothing is attached (in a start function)."""
    params, results = symbol.signature.params, symbol.signature.results
    header = "".join(f" (param {name})" for name in params) + "".join(f" (result {name})" for name in results)
    arguments = " ".join(f"(local.get {index})" for index in range(len(params)))
    when_missing = f"(return (i32.const {_ERRNO_NOSYS}))" if results else "(unreachable)"
    return (
        f'(type $t{slot} (func{header})) (func (export "{symbol.name}") (type $t{slot})\n'
        f"  (if (ref.is_null (table.get $attached (i32.const {slot}))) (then {when_missing}))\n"
        f"  (call_indirect $attached (type $t{slot}) {arguments} (i32.const {slot})))"
    )


@functools.cache
def trampolines_wasm() -> bytes:
    """Assemble what the guest imports; exports `attached`, the table for `functions_wasm`."""
    size = len(WASI_IMPORTS)
    functions = "\n".join(_trampoline(slot, symbol) for slot, symbol in enumerate(WASI_IMPORTS))
    return bytes(
        wasmtime.wat2wasm(f'(module (table $attached (export "attached") {size} {size} funcref)\n{functions})')
    )


@functools.cache
def functions_wasm() -> bytes:
    """Assemble the functions themselves; imports `stub.attached`, `guest.memory`, `driver.staging`, in this order."""
    text = resources.files("wasm_host").joinpath("wat", "wasi_stub.wat").read_text(encoding="utf-8")
    size = len(WASI_IMPORTS)
    names = " ".join(f"${symbol.name}" for symbol in WASI_IMPORTS)
    return bytes(
        wasmtime.wat2wasm(
            f'(module (import "stub" "attached" (table $attached {size} {size} funcref))\n'
            f"{with_field_offsets(text)}\n(elem (table $attached) (i32.const 0) func {names}))"
        )
    )
