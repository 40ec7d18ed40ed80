"""How services, guest, driver and the WASI stub are joined in a store; again for each instance that follows another."""

from collections.abc import Callable

import wasmtime

from abi.names import IMPORT_MODULE, MEMORY_EXPORT
from wasm_host.host_modules import driver_wasm
from wasm_host.module import CompiledModule, compile_host_module
from wasm_host.raw_calls import Extern, RawFunction, RawInstance, RawMemory, externs
from wasm_host.wasi import functions_wasm, trampolines_wasm

_SHARED_SERVICES = ("attached", "early_calls", "staging")
_STAND_INS = (("_initialize", "no_initialize"), ("init", "no_init"), ("shutdown", "no_shutdown"))


class Linkage:
    """One guest module with its driver in one store.

    Attributes:
        start: The newest driver's function that brings the guest up.
        run: The newest driver's function that runs a chunk.
        guest_memory: The newest guest's memory.
    """

    def __init__(self, store: wasmtime.Store, module: CompiledModule, service: Callable[[str], Extern]) -> None:
        self._store = store
        required = (MEMORY_EXPORT, "alloc", "dealloc", "transform", module.dialect.version_export)
        # In the order of the imports in layout.wat.
        driver_imports = externs(len(required) + len(_STAND_INS) + len(_SHARED_SERVICES))
        optional = {name: len(required) + at for at, (name, _) in enumerate(_STAND_INS) if name in module.exports}
        for at, (_, stand_in) in enumerate(_STAND_INS, start=len(required)):
            driver_imports[at] = service(stand_in)
        for at, name in enumerate(_SHARED_SERVICES, start=len(required) + len(_STAND_INS)):
            driver_imports[at] = service(name)
        from_guest = {name: driver_imports[at] for at, name in enumerate(required)}
        from_guest |= {name: driver_imports[at] for name, at in optional.items()}

        guest_imports = externs(len(module.imports))
        from_wasi: dict[str, Extern] = {}
        for at, (space, name) in enumerate(module.imports):
            if space == IMPORT_MODULE:
                guest_imports[at] = service(name)
            else:
                from_wasi[name] = guest_imports[at]

        run, start = Extern(), Extern()
        self._guest = RawInstance(store, module.compiled, guest_imports, from_guest)
        driver = compile_host_module(driver_wasm(), module.sandbox)
        self._driver = RawInstance(store, driver, driver_imports, {"run": run, "start": start})
        self._wasi = _Wasi(store, module, from_wasi, service) if module.uses_wasi else None
        self.start = RawFunction(store, start)
        self.run = RawFunction(store, run)
        self._memory = driver_imports[0]
        self.guest_memory = RawMemory(store, self._memory)

    def offer_wasi(self) -> None:
        """Make the stub that the guest imports. Its table is the host's, and not held to the guest's limits."""
        if self._wasi is not None:
            self._wasi.offer()

    def connect(self) -> None:
        """Instantiate everything anew and join it. The guest's start function runs.

        Raises:
            wasmtime.Trap: the guest's start function trapped.
            wasmtime.WasmtimeError: a limit of the store was hit.
        """
        self._guest.instantiate()
        self._driver.instantiate()
        if self._wasi is not None:
            self._wasi.attach(self._memory)

    def stop(self) -> int:
        """Call the guest's `shutdown` through the driver.

        Raises:
            wasmtime.Trap: guest code trapped.
        """
        return RawFunction(self._store, self._driver.export("stop"))()


class _Wasi:
    """The stub's two halves: what the guest imports, and what stands behind it once the guest is there."""

    def __init__(
        self,
        store: wasmtime.Store,
        module: CompiledModule,
        imported: dict[str, Extern],
        service: Callable[[str], Extern],
    ) -> None:
        # In the order of the imports of `functions_wasm`.
        self._function_imports = externs(3)
        self._function_imports[2] = service("staging")
        trampolines = compile_host_module(trampolines_wasm(), module.sandbox)
        wanted = {**imported, "attached": self._function_imports[0]}
        self._trampolines = RawInstance(store, trampolines, externs(0), wanted)
        self._functions = RawInstance(
            store, compile_host_module(functions_wasm(), module.sandbox), self._function_imports
        )

    def offer(self) -> None:
        """Make what the guest imports."""
        self._trampolines.instantiate()

    def attach(self, memory: Extern) -> None:
        """Put the functions behind it, which read and write this memory."""
        self._function_imports[1] = memory
        self._functions.instantiate()
