"""One engine per process and setting: how WebAssembly is compiled and interrupted.

An engine is never made at import and never crosses a fork: PySpark's daemon forks its workers, so each worker makes
its own on first use. It must not know of events or guests' contracts.
"""

import hashlib
import os
import resource
import threading
from dataclasses import astuple, dataclass
from functools import cache
from importlib.metadata import version

import wasmtime

EPOCH_TICK_MS = 10
_SMALL_ADDRESS_SPACE_BYTES = 64 << 30
SMALL_RESERVATION_BYTES = 8 << 20
"""Addresses that each memory takes at first where the address space is small."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What changes the machine code or the address space of an engine, and so is part of every cache key."""

    max_stack_bytes: int
    is_address_space_small: bool

    @cache  # noqa: B019 - settings are few, and live as long as the process
    def fingerprint(self) -> str:
        """Digest of the settings and of wasmtime's version: the same code may be shared where it is the same."""
        reservation = SMALL_RESERVATION_BYTES if self.is_address_space_small else "wasmtime's own"
        text = f"{version('wasmtime')}|{_PROPOSALS_TEXT}|{astuple(self)}|{reservation}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


# What guests of the known toolchains need, and nothing else.
_GUEST_PROPOSALS: dict[str, bool] = {
    "wasm_bulk_memory": True,  # every LLVM toolchain emits memory.copy
    "wasm_multi_value": True,  # on by default in rustc and clang
    "wasm_reference_types": True,  # rustc encodes table indices this way since 1.82
    "wasm_simd": True,  # fixed-width SIMD is deterministic; hand-written scanners use it
    "wasm_relaxed_simd": False,  # results differ between machines
    "wasm_threads": False,  # no shared memory, no waiting
    "wasm_tail_call": False,
    "wasm_memory64": False,
    "wasm_multi_memory": False,  # one memory a guest, so that one limit says it all
    "wasm_exceptions": False,
    "wasm_gc": False,
    "wasm_function_references": False,
    "wasm_component_model": False,
    "wasm_custom_page_sizes": False,
    "wasm_wide_arithmetic": False,
    "wasm_stack_switching": False,
}
# The driver copies between the guest's memory and its own.
_HOST_PROPOSALS = {**_GUEST_PROPOSALS, "wasm_multi_memory": True}
_PROPOSALS_TEXT = ",".join(f"{name}={on}" for name, on in sorted(_HOST_PROPOSALS.items()))


def address_space_bytes() -> int | None:
    """RLIMIT_AS, or None where there is no limit that matters."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY or soft >= _SMALL_ADDRESS_SPACE_BYTES else soft


def is_address_space_small() -> bool:
    """Whether RLIMIT_AS is too low for wasmtime's usual reservation of several GiB for each memory."""
    return address_space_bytes() is not None


def _config(settings: EngineSettings, proposals: dict[str, bool]) -> wasmtime.Config:
    config = wasmtime.Config()
    for name, on in proposals.items():
        setattr(config, name, on)
    config.consume_fuel = True
    config.epoch_interruption = True
    config.cranelift_nan_canonicalization = True
    config.max_wasm_stack = settings.max_stack_bytes
    # Compiling on threads and forking do not go together, and a worker has one core anyway.
    config.parallel_compilation = False
    if settings.is_address_space_small:
        # Little at first, so that a worker with little room can keep several guests; a memory that outgrows it moves.
        config.memory_reservation = SMALL_RESERVATION_BYTES
        config.memory_guard_size = 64 << 10
        config.memory_reservation_for_growth = SMALL_RESERVATION_BYTES
    return config


class EpochTicker(threading.Thread):
    """Advances the engine's epoch, so that a store's deadline can be reached while guest code runs."""

    def __init__(self, engine: wasmtime.Engine) -> None:
        super().__init__(name="wasm-host-epoch", daemon=True)
        self._engine = engine
        self._stopped = threading.Event()

    def run(self) -> None:
        """Tick until the process ends or `stop` is called."""
        while not self._stopped.wait(EPOCH_TICK_MS / 1000):
            self._engine.increment_epoch()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()


class SandboxEngine:
    """An engine for guests and driver, with its ticker, and a stricter one that only validates guests."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.engine = wasmtime.Engine(_config(settings, _HOST_PROPOSALS))
        self.ticker = EpochTicker(self.engine)
        self.ticker.start()

    def validate_guest(self, wasm: bytes) -> None:
        """Check the bytes against the proposals that guests may use.

        Raises:
            wasmtime.WasmtimeError: not a valid module under these proposals.
        """
        wasmtime.Module.validate(_validation_engine(), wasm)


_engines: dict[EngineSettings, SandboxEngine] = {}
_validators: list[wasmtime.Engine] = []
_inherited: list[object] = []


def _validation_engine() -> wasmtime.Engine:
    """An engine that never runs anything: it knows only what guests may use."""
    if not _validators:
        settings = EngineSettings(max_stack_bytes=512 << 10, is_address_space_small=is_address_space_small())
        _validators.append(wasmtime.Engine(_config(settings, _GUEST_PROPOSALS)))
    return _validators[0]


def engine_for(max_stack_bytes: int) -> SandboxEngine:
    """The process's engine for a stack size, made on first use."""
    settings = EngineSettings(max_stack_bytes, is_address_space_small())
    found = _engines.get(settings)
    if found is None:
        found = _engines[settings] = SandboxEngine(settings)
    return found


def _forget_inherited() -> None:
    # The parent's engines stay referenced, so that no destructor runs on what the child does not own.
    _inherited.extend([dict(_engines), list(_validators)])
    _engines.clear()
    _validators.clear()


os.register_at_fork(after_in_child=_forget_inherited)
