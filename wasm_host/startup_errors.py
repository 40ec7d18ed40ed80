"""Why a guest could not be brought up, in words its author can act on."""

from typing import TYPE_CHECKING

import wasmtime

from abi.failures import FailureCode
from abi.names import MEMORY_EXPORT
from wasm_host.driver_state import DriverState, StartStatus
from wasm_host.errors import (
    ContractError,
    DeadlineExceededError,
    FuelExhaustedError,
    GuestError,
    GuestTrapError,
    HostError,
    InitError,
    MemoryLimitError,
)
from wasm_host.guest_text import clean_text
from wasm_host.traps import TrapReport

if TYPE_CHECKING:
    from abi import TransformError
    from wasm_host.instance import GuestRecipe

_ENCODING_OF_ABORT = "utf-16-le"


def words_of(raw: bytes | None, state: DriverState | None, max_bytes: int) -> str | None:
    """The guest's last words as one safe line; AssemblyScript's abort text is UTF-16."""
    if not raw:
        return None
    aborted = state is not None and bool(state.aborted)
    return clean_text(raw, max_bytes=max_bytes, encoding=_ENCODING_OF_ABORT if aborted else "utf-8")


def _said(words: str | None) -> str:
    return f'; the guest says: "{words}"' if words else ""


def startup_trap(
    trap: wasmtime.Trap, recipe: "GuestRecipe", stage: str, state: DriverState | None, guest_text: bytes | None
) -> "TransformError":
    """A trap in a start function, `_initialize`, the version function, `init` or `alloc` for its configuration."""
    digest, limits = recipe.module.digest, recipe.limits
    words = words_of(guest_text, state, limits.max_error_message_bytes)
    where = f"module {digest[:12]}, export {stage}"
    report = TrapReport.of(trap)
    if report.is_interrupt:
        return DeadlineExceededError(
            f"bringing the guest up took longer than the wall clock allows ({where}); "
            f"max_wall_ms_per_batch is {limits.max_wall_ms_per_batch:,}",
            hint="try again, or raise Limits.max_wall_ms_per_batch",
            limit_name="max_wall_ms_per_batch",
            limit=limits.max_wall_ms_per_batch,
        )
    if report.code is FailureCode.FUEL_EXHAUSTED:
        return FuelExhaustedError(
            f"the guest used up its fuel before it was ready ({where}); init_fuel is {limits.init_fuel:,}"
            f"{_said(words)}",
            hint="do less at start-up, or raise Limits.init_fuel",
            limit_name="init_fuel",
            limit=limits.init_fuel,
            stage=stage,
        )
    return GuestTrapError(
        f"the guest trapped before it was ready: {report.words} ({where}){_said(words)}",
        hint="run `wasm-host test` on the module",
        trap=str(report.code),
        stage=stage,
        guest_text=words,
    )


def startup_error(
    cause: wasmtime.WasmtimeError | StartStatus,
    recipe: "GuestRecipe",
    state: DriverState | None = None,
    guest_text: bytes | None = None,
) -> "TransformError":
    """Anything else that keeps a guest from starting."""
    if isinstance(cause, wasmtime.WasmtimeError) or state is None:
        return _instantiation_error(str(cause), recipe)
    module = recipe.module
    if cause is StartStatus.WRONG_VERSION:
        return ContractError(
            f"module {module.digest[:12]} answers version {_signed(state.detail)} to {module.dialect.version_export}; "
            f"this host speaks {module.dialect.version}",
            hint="build it against that version of the contract",
            symbol=module.dialect.version_export,
        )
    if cause is StartStatus.NO_BLOCK:
        return GuestError(
            f"alloc({len(recipe.config_bytes)}) for the configuration returned {state.detail}, which is no block in "
            f"the guest's memory (module {module.digest[:12]})",
            hint="alloc must return a block inside memory and never 0",
        )
    words = words_of(guest_text, state, recipe.limits.max_error_message_bytes)
    return InitError(
        f"init refused the configuration with status {_signed(state.detail)} (module {module.digest[:12]})"
        f"{_said(words)}",
        hint="correct the configuration" if words else "the guest logged no reason; see its documentation",
        status=_signed(state.detail),
        guest_text=words,
    )


def _instantiation_error(text: str, recipe: "GuestRecipe") -> "TransformError":
    limits, digest = recipe.limits, recipe.module.digest
    reason = " / ".join(line.strip() for line in text.splitlines() if line.strip())[:300]
    # wasmtime reports a store limit only as text. These phrases are pinned by tests.
    if "table" in text and ("limit" in text or "exceed" in text):
        elements = "minimum size" in text
        name = "max_table_elements" if elements else "max_tables"
        return MemoryLimitError(
            f"module {digest[:12]} declares more tables or table elements than it may have: {reason}; {name} is "
            f"{getattr(limits, name):,}",
            hint=f"raise Limits.{name}",
            limit_name=name,
            limit=getattr(limits, name),
        )
    if MEMORY_EXPORT in text and ("limit" in text or "exceed" in text):
        return MemoryLimitError(
            f"module {digest[:12]} declares more memory than it may have: {reason}; max_memory_bytes is "
            f"{limits.max_memory_bytes:,}",
            hint="raise Limits.max_memory_bytes",
            limit_name="max_memory_bytes",
            limit=limits.max_memory_bytes,
        )
    return HostError(f"module {digest[:12]} could not be instantiated: {reason}")


def _signed(word: int) -> int:
    return word - (1 << 32) if word >= 1 << 31 else word
