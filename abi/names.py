"""Every symbol of the contract and its signature, once, as data.

The host's admission check, the tests, the harness and the SDKs read this table; `SPEC.md` describes each entry under
a heading of the same name, and a test compares the two. It knows nothing of wasmtime.
"""

from dataclasses import dataclass

ABI_VERSION = 1
"""What `wasm_host_abi_version` answers for the contract described here."""

RUSTCDC_ABI_VERSION = 2
"""What `rustcdc_abi_version` answers for the JSON dialect of the system this contract descends from."""

VERSION_EXPORT = "wasm_host_abi_version"
RUSTCDC_VERSION_EXPORT = "rustcdc_abi_version"
MEMORY_EXPORT = "memory"
IMPORT_MODULE = "env"

MAX_METRIC_NAME_BYTES = 128
"""Longest metric name, without its terminating NUL."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The WebAssembly type of one function, as value type names."""

    params: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    def __str__(self) -> str:
        result = ", ".join(self.results) or "()"
        return f"({', '.join(self.params)}) -> {result}"


@dataclass(frozen=True, slots=True)
class Symbol:
    """One function of the contract: its name, its type, and whether a guest may leave it out."""

    name: str
    signature: Signature
    required: bool = True


GUEST_EXPORTS: tuple[Symbol, ...] = (
    Symbol(VERSION_EXPORT, Signature((), ("i32",))),
    Symbol("alloc", Signature(("i32",), ("i32",))),
    Symbol("dealloc", Signature(("i32", "i32"))),
    Symbol("transform", Signature(("i32", "i32"), ("i64",))),
    Symbol("init", Signature(("i32", "i32"), ("i32",)), required=False),
    Symbol("shutdown", Signature((), ("i32",)), required=False),
    Symbol("_initialize", Signature(), required=False),
)
"""What a guest of version 1 exports, beside its `memory`."""

HOST_IMPORTS: tuple[Symbol, ...] = (
    Symbol("log", Signature(("i32", "i32", "i32"))),
    Symbol("record_metric", Signature(("i32", "i64"))),
    Symbol("get_metric", Signature(("i32",), ("i64",))),
    Symbol("abort", Signature(("i32", "i32", "i32", "i32"))),
)
"""What a guest may import, all from the module `env`; anything else is refused at load."""

ROW_VALUE_ATTRIBUTES: frozenset[str] = frozenset(
    {"cdc.entity.entity_identifier", "cdc.operation.changed_field_values", "debezium.tombstone", "opencdc.key"}
)
"""Attributes that repeat values of the row images; whoever masks images must mask or remove these too."""

LOG_LEVELS: dict[int, str] = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}
"""Levels of `env.log`; a number outside the table is shown as `error`, the safe side."""
