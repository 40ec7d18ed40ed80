"""The sandbox: run untrusted WebAssembly transforms over batches of change events, held to limits.

    import wasm_host

    with wasm_host.load("mask_pii.wasm", config={"rules": []}) as guest:
        result = guest.transform(events)
    result.events, result.rows, result.failures

Ignorant of Spark. The contract that modules follow is in `abi`.
"""

import importlib
import typing

if typing.TYPE_CHECKING:
    from wasm_host.errors import (
        ClosedError,
        ConfigError,
        ContractError,
        DeadlineExceededError,
        ForbiddenImportError,
        FuelExhaustedError,
        GuestError,
        GuestTrapError,
        HostError,
        InitError,
        InvalidModuleError,
        LimitExceededError,
        MemoryLimitError,
        ModuleError,
        ModuleTooLargeError,
        UntrustedModuleError,
    )
    from wasm_host.guest import ISOLATIONS, Guest, Isolation, load
    from wasm_host.guest_pool import GuestPool
    from wasm_host.limits import Limits
    from wasm_host.module import CompiledModule
    from wasm_host.result import BatchResult, BatchStats, Failure, LogLine
    from wasm_host.trust import TrustPolicy

__all__ = [
    "ISOLATIONS",
    "BatchResult",
    "BatchStats",
    "ClosedError",
    "CompiledModule",
    "ConfigError",
    "ContractError",
    "DeadlineExceededError",
    "Failure",
    "ForbiddenImportError",
    "FuelExhaustedError",
    "Guest",
    "GuestError",
    "GuestPool",
    "GuestTrapError",
    "HostError",
    "InitError",
    "InvalidModuleError",
    "Isolation",
    "LimitExceededError",
    "Limits",
    "LogLine",
    "MemoryLimitError",
    "ModuleError",
    "ModuleTooLargeError",
    "TrustPolicy",
    "UntrustedModuleError",
    "load",
]

_HOMES = ("errors", "guest", "guest_pool", "limits", "module", "result", "trust")


if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # Arrow and wasmtime take a quarter of a second, and every pytest of a user imports this package for the plugin.
        for home in _HOMES if name in __all__ else ():
            module = importlib.import_module(f"{__name__}.{home}")
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
        if name in _HOMES:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
