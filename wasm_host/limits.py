"""What a guest may use. All limits are finite, and no value means "unlimited"."""

from dataclasses import dataclass, fields
from typing import Any

from wasm_host.errors import ConfigError

KIB = 1024
MIB = 1024 * KIB
WASM_PAGE_BYTES = 64 * KIB

_RANGES: dict[str, tuple[int, int]] = {
    "fuel_per_event": (1_000, 1_000_000_000_000),
    "init_fuel": (1_000, 1_000_000_000_000),
    # 30 bits of pointer in the packed answer reach 1 GiB.
    "max_memory_bytes": (WASM_PAGE_BYTES, 1024 * MIB),
    "max_tables": (0, 1_000),
    "max_table_elements": (0, 10_000_000),
    # wasmtime ends the process when an engine is given more than 2 MiB.
    "max_stack_bytes": (16 * KIB, 2 * MIB),
    "max_output_bytes_per_event": (1, 512 * MIB),
    "max_output_events_per_event": (1, 1_000_000),
    "max_log_bytes_per_batch": (0, 16 * MIB),
    "max_error_message_bytes": (0, 64 * KIB),
    "max_module_bytes": (8, 256 * MIB),
    "max_code_bytes": (8, 256 * MIB),
    "max_function_bytes": (8, 16 * MIB),
    "max_module_complexity": (1, 10_000_000),
    "max_function_complexity": (1, 1_000_000),
    "max_wall_ms_per_batch": (10, 24 * 3600 * 1000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one guest. Frozen, hashable and picklable: they travel to executors and are part of cache keys.

    Attributes:
        fuel_per_event: What one event may use; about one unit an instruction, and one a byte that is copied in or out.
        init_fuel: What start function, `_initialize` and `init` may use together, and again `shutdown`.
        max_memory_bytes: Largest size of the guest's memory.
        max_tables: Tables a guest may declare.
        max_table_elements: Elements each of them may grow to.
        max_stack_bytes: WebAssembly stack.
        max_output_bytes_per_event: Bytes of one answer, all its events together.
        max_output_events_per_event: Events in one answer of several.
        max_log_bytes_per_batch: Log that is kept of a batch; what does not fit is counted as lost.
        max_error_message_bytes: Kept of a guest's message or log line; the rest is cut.
        max_module_bytes: Size of the `.wasm`.
        max_code_bytes: Size of its functions together. This and the next three bound the time that compiling takes.
        max_function_bytes: Size of each function.
        max_module_complexity: Types, functions and weighted branches of the module; `wasm_host.wasm_code` counts them.
        max_function_complexity: Weighted branches of each function.
        max_wall_ms_per_batch: Wall clock for one `transform` call; it fails the call, never an event.
    """

    fuel_per_event: int = 20_000_000
    init_fuel: int = 200_000_000
    max_memory_bytes: int = 64 * MIB
    max_tables: int = 4
    max_table_elements: int = 100_000
    max_stack_bytes: int = 512 * KIB
    max_output_bytes_per_event: int = 16 * MIB
    max_output_events_per_event: int = 10_000
    max_log_bytes_per_batch: int = 64 * KIB
    max_error_message_bytes: int = KIB
    max_module_bytes: int = 16 * MIB
    max_code_bytes: int = 4 * MIB
    max_function_bytes: int = 128 * KIB
    max_module_complexity: int = 100_000
    max_function_complexity: int = 2_000
    max_wall_ms_per_batch: int = 60_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            low, high = _RANGES[field.name]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ConfigError(
                    f"Limits.{field.name} is {value!r}; allowed is a whole number from {low:,} to {high:,}",
                    hint=f"set {field.name} within that range",
                    field=field.name,
                )

    @classmethod
    def from_mapping(cls, values: dict[str, Any]) -> "Limits":
        """Make limits from a parsed file.

        Raises:
            ConfigError: a name is unknown or a value is out of range.
        """
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise ConfigError(f"unknown limit {name!r}; known are {', '.join(known)}", field=name)
        return cls(**values)
