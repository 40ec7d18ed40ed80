"""Instantiating and calling through wasmtime's C API without the boxing that wasmtime-py does for each call.

`Func.__call__` reads the function's type, boxes each value and unroots it: 21 µs a call against 1 µs here, and making
an instance costs half. A poisoned batch makes two instances for each bad event, so both matter. Uses wasmtime-py's
private `_ffi`, which is why pyproject.toml bounds wasmtime by major version and the tests exercise every path here.

Only functions without parameters that return one i32 are called this way: that is all the driver exports.
"""

import ctypes
from collections.abc import Mapping
from ctypes import byref
from functools import cache

import wasmtime
from wasmtime import _ffi as ffi

Extern = ffi.wasmtime_extern_t
_TrapPointer = ctypes.POINTER(ffi.wasm_trap_t)
# The functions themselves, typed by wasmtime-py, without the Python functions that it puts around them.
_instance_new = ffi.dll.wasmtime_instance_new
_export_get = ffi.dll.wasmtime_instance_export_get
_call = ffi.dll.wasmtime_func_call_unchecked
_set_fuel = ffi.dll.wasmtime_context_set_fuel
_get_fuel = ffi.dll.wasmtime_context_get_fuel
_set_deadline = ffi.dll.wasmtime_context_set_epoch_deadline


@cache
def _name_buffer(name: str) -> "ctypes.Array[ctypes.c_char]":
    encoded = name.encode()
    return ctypes.create_string_buffer(encoded, len(encoded))


def externs(count: int) -> "ctypes.Array[Extern]":
    """Room for so many imports. An element is a view: what is written to it later is what the array then holds."""
    return (Extern * count)()


class RawInstance:
    """An instance in a store, known by its exports. It can be made again, from the same module in the same store.

    Making the C structures for it costs as much as wasmtime's own work, so they are made once, and whoever holds one
    of the `wanted` externs, or has it in its own imports, sees the newest instance's.
    """

    def __init__(
        self,
        store: wasmtime.Store,
        module: wasmtime.Module,
        imports: "ctypes.Array[Extern]",
        wanted: Mapping[str, Extern] | None = None,
    ) -> None:
        """Prepare; nothing runs before `instantiate`.

        Args:
            store: Where instances live.
            module: What they are made of.
            imports: One for each import of the module, in order; read each time.
            wanted: Exports that are looked up each time, and where they are written to.
        """
        self._context = store._context()
        self._module = module  # keeps what the pointer below points to
        self._module_pointer = module.ptr()
        self._imports = imports
        self._import_count = len(imports)
        self._instance = ffi.wasmtime_instance_t()
        self._instance_pointer = byref(self._instance)
        self._wanted = [
            (name, _name_buffer(name), len(_name_buffer(name)), byref(extern), extern)
            for name, extern in (wanted or {}).items()
        ]

    def instantiate(self) -> None:
        """Make a new instance; the one before is forgotten here and stays in the store.

        Raises:
            wasmtime.Trap: the start function trapped.
            wasmtime.WasmtimeError: linking failed or a limit of the store was hit.
            KeyError: it has not all exports that are wanted.
        """
        trap = _TrapPointer()
        error = _instance_new(
            self._context,
            self._module_pointer,
            self._imports,
            self._import_count,
            self._instance_pointer,
            byref(trap),
        )
        _raise_if_set(error, trap)
        context, instance = self._context, self._instance_pointer
        for name, buffer, length, target, _ in self._wanted:
            if not _export_get(context, instance, buffer, length, target):
                raise KeyError(name)

    def export(self, name: str) -> Extern:
        """An export by name; the caller knows from the module's type that it is there.

        Raises:
            KeyError: the instance has no such export.
        """
        item = Extern()
        buffer = _name_buffer(name)
        if not _export_get(self._context, self._instance_pointer, buffer, len(buffer), byref(item)):
            raise KeyError(name)
        return item


class RawFunction:
    """A function `() -> i32`, ready to be called many times."""

    def __init__(self, store: wasmtime.Store, extern: Extern) -> None:
        self._context = store._context()
        self._function = byref(extern.of.func)
        self._extern = extern  # keeps the memory that the reference above points into
        self._values = (ffi.wasmtime_val_raw_t * 1)()

    def __call__(self) -> int:
        """Call it.

        Raises:
            wasmtime.Trap: guest code trapped.
            wasmtime.WasmtimeError: wasmtime itself failed.
        """
        answer = self.attempt()
        if isinstance(answer, wasmtime.Trap):
            raise answer
        return answer

    def attempt(self) -> int | wasmtime.Trap:
        """Call it where a trap is one of the outcomes to be expected.

        Raises:
            wasmtime.WasmtimeError: wasmtime itself failed.
        """
        trap = _TrapPointer()
        error = _call(self._context, self._function, self._values, 1, byref(trap))
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        return wasmtime.Trap._from_ptr(trap) if trap else int(self._values[0].i32)


class RawMeter:
    """Fuel and deadline of a store."""

    def __init__(self, store: wasmtime.Store) -> None:
        self._context = store._context()
        self._fuel = ctypes.c_uint64()
        self._fuel_pointer = byref(self._fuel)

    def set_fuel(self, fuel: int) -> None:
        """Give it so much, whatever there was."""
        error = _set_fuel(self._context, fuel)
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)

    def fuel(self) -> int:
        """What is left."""
        error = _get_fuel(self._context, self._fuel_pointer)
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        return self._fuel.value

    def set_deadline(self, ticks: int) -> None:
        """Let calls end after so many ticks of the engine's epoch from now."""
        _set_deadline(self._context, ticks)


class RawMemory:
    """A memory of a store. The base address must be asked for again after anything that can grow it."""

    def __init__(self, store: wasmtime.Store, extern: Extern) -> None:
        self._context = store._context()
        self._memory = byref(extern.of.memory)
        self._extern = extern

    def base_address(self) -> int:
        """Where the memory begins in this process."""
        return ctypes.cast(ffi.wasmtime_memory_data(self._context, self._memory), ctypes.c_void_p).value or 0

    def size_bytes(self) -> int:
        """Current size."""
        return int(ffi.wasmtime_memory_data_size(self._context, self._memory))

    def grow_pages(self, pages: int) -> None:
        """Grow by `pages` of 64 KiB.

        Raises:
            wasmtime.WasmtimeError: the store's limit or the machine does not allow it.
        """
        previous = ctypes.c_uint64()
        error = ffi.wasmtime_memory_grow(self._context, self._memory, pages, byref(previous))
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)


def _raise_if_set(error: "ctypes._Pointer[ffi.wasmtime_error_t]", trap: "ctypes._Pointer[ffi.wasm_trap_t]") -> None:
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)
    if trap:
        raise wasmtime.Trap._from_ptr(trap)
