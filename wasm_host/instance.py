"""A guest brought to life: one store with services, guest and driver, and the staging memory between them.

Life stages: bytes → `CompiledModule` → `GuestInstance`. An instance that trapped or broke the contract is thrown away
by its owner and never called again. It knows nothing of batches; it runs one staged chunk at a time.
"""

import ctypes
import hashlib
from dataclasses import dataclass

import wasmtime

from abi.names import IMPORT_MODULE, MEMORY_EXPORT
from wasm_host.driver_state import STAGES, DriverState, StartStatus
from wasm_host.engine import SandboxEngine
from wasm_host.errors import HostError
from wasm_host.event_source import EventSource
from wasm_host.host_modules import driver_wasm, services_wasm
from wasm_host.limits import WASM_PAGE_BYTES, Limits
from wasm_host.module import CompiledModule, compile_wasm
from wasm_host.raw_calls import RawFunction, RawInstance, RawMemory
from wasm_host.staging import StagingLayout
from wasm_host.startup_errors import startup_error, startup_trap
from wasm_host.traps import first_line
from wasm_host.wasi import functions_wasm, trampolines_wasm

# services, guest, driver; and the two of the WASI stub
_INSTANCES = 3
_WASI_INSTANCES = 2
_HOST_TABLES = 2
_HOST_TABLE_ELEMENTS = 64
_MEMORIES = 2


@dataclass(frozen=True, slots=True)
class GuestRecipe:
    """All that is needed to make a fresh instance, as often as one is needed."""

    module: CompiledModule
    config_bytes: bytes
    limits: Limits


def _host_module(wasm: bytes, sandbox: SandboxEngine) -> wasmtime.Module:
    return compile_wasm(wasm, hashlib.sha256(wasm).hexdigest(), sandbox)


class GuestInstance:
    """One live guest.

    Attributes:
        state: The state block it shares with the driver.
        served: Events that went through it; 0 means that it is fresh.
    """

    state: DriverState

    def __init__(self, recipe: GuestRecipe, *, deadline_ticks: int) -> None:
        """Instantiate, check the version, and run `init`, all under `init_fuel`.

        Raises:
            GuestError: guest code trapped, refused its configuration or ran into a limit.
            ContractError: it answers another version than its dialect's.
        """
        self.recipe = recipe
        self.served = 0
        self._store = wasmtime.Store(recipe.module.sandbox.engine)
        self._store.set_fuel(recipe.limits.init_fuel)
        self._store.set_epoch_deadline(deadline_ticks)
        self._hold_to_limits()
        try:
            self._link()
        except wasmtime.Trap as trap:
            self.close()
            raise startup_trap(trap, recipe, stage="start", state=None, guest_text=None) from trap
        except wasmtime.WasmtimeError as error:
            self.close()
            raise startup_error(error, recipe) from error
        self._start()

    def _hold_to_limits(self, memory_bytes: int | None = None) -> None:
        limits = self.recipe.limits
        self._store.set_limits(
            memory_size=memory_bytes or limits.max_memory_bytes,
            table_elements=max(limits.max_table_elements, _HOST_TABLE_ELEMENTS),
            instances=_INSTANCES + (_WASI_INSTANCES if self.recipe.module.uses_wasi else 0),
            tables=limits.max_tables + _HOST_TABLES,
            memories=_MEMORIES,
        )

    def _link(self) -> None:
        module = self.recipe.module
        services = RawInstance(self._store, _host_module(services_wasm(), module.sandbox), [])
        wasi = services
        if module.uses_wasi:
            wasi = RawInstance(self._store, _host_module(trampolines_wasm(), module.sandbox), [])
        imports = [(services if space == IMPORT_MODULE else wasi).export(name) for space, name in module.imports]
        guest = RawInstance(self._store, module.compiled, imports)
        memory = guest.export(MEMORY_EXPORT)
        optional = [
            guest.export(name) if name in module.exports else services.export(stand_in)
            for name, stand_in in (("_initialize", "no_initialize"), ("init", "no_init"), ("shutdown", "no_shutdown"))
        ]
        required = [guest.export(name) for name in ("alloc", "dealloc", "transform", module.dialect.version_export)]
        # The store's memory limit holds for the staging memory too: it is lifted while the host makes room.
        self._hold_to_limits(memory_bytes=1 << 32)
        driver = RawInstance(
            self._store,
            _host_module(driver_wasm(), module.sandbox),
            [memory, *required, *optional, services.export("attached"), services.export("early_calls")],
        )
        if module.uses_wasi:
            stub = _host_module(functions_wasm(), module.sandbox)
            RawInstance(self._store, stub, [wasi.export("attached"), memory, driver.export("staging")])
        self._guest_memory = RawMemory(self._store, memory)
        self._staging = RawMemory(self._store, driver.export("staging"))
        self._run = RawFunction(self._store, driver.export("run"))
        self._driver_start = RawFunction(self._store, driver.export("start"))
        self._driver_stop = RawFunction(self._store, driver.export("stop"))
        self._use_layout(StagingLayout.fitting(self.recipe.limits))

    def _use_layout(self, layout: StagingLayout) -> None:
        """Grow the staging memory to a layout and tell the driver where things lie."""
        missing = layout.pages - self._staging.size_bytes() // WASM_PAGE_BYTES
        if missing > 0:
            self._hold_to_limits(memory_bytes=1 << 32)
            try:
                self._staging.grow_pages(missing)
            except wasmtime.WasmtimeError as error:
                raise HostError(
                    f"the staging memory cannot grow to {layout.pages * WASM_PAGE_BYTES:,} bytes: {first_line(error)}",
                    hint="lower the size of events or batches, or raise spark.executor.pyspark.memory",
                ) from error
        self._hold_to_limits()
        self.layout = layout
        self._base = self._staging.base_address()
        self.state = DriverState.from_address(self._base)
        self.state.rows_address = layout.rows
        self.state.ends_address = layout.ends
        self.state.output_events_capacity = layout.entries
        self.state.output_address = layout.output
        self.state.output_capacity = layout.output_capacity

    def _start(self) -> None:
        module, limits, state, layout = self.recipe.module, self.recipe.limits, self.state, self.layout
        state.expected_version = module.dialect.version
        state.has_kinds = module.dialect.has_kinds
        state.validates = module.dialect.is_validated_in_wasm
        state.has_init = "init" in module.exports
        state.max_output_bytes = limits.max_output_bytes_per_event
        state.max_output_events = limits.max_output_events_per_event
        state.max_message_bytes = state.line_capacity = limits.max_error_message_bytes
        state.confirm_pages = self._confirm_pages()
        state.metrics_address = layout.metrics
        state.last_line_address = layout.last_line
        state.log_address = layout.log
        state.log_capacity = limits.max_log_bytes_per_batch
        state.failure_address = layout.failures
        state.failure_capacity = layout.failure_capacity
        if len(self.recipe.config_bytes) > layout.input_capacity:
            self._use_layout(StagingLayout.fitting(limits, input_bytes=len(self.recipe.config_bytes)))
        self.state.config_address = self.layout.input
        self.state.config_bytes = len(self.recipe.config_bytes)
        ctypes.memmove(self._base + self.layout.input, self.recipe.config_bytes, len(self.recipe.config_bytes))
        try:
            status = StartStatus(self._driver_start())
        except wasmtime.Trap as trap:
            error = startup_trap(trap, self.recipe, self.stage, self.state, self.last_line())
            self.close()
            raise error from trap
        if status is not StartStatus.READY:
            refusal = startup_error(status, self.recipe, self.state, self.last_line())
            self.close()
            raise refusal
        self.state.running = 1

    def _confirm_pages(self) -> int:
        """From which size of memory on a guest's own failure may be a full memory (see emit.wat).

        An allocator that doubles can fail above half of what there is. A memory that cannot grow gives no sign.
        """
        module = self.recipe.module
        most = min(self.recipe.limits.max_memory_bytes, module.memory_max_bytes or self.recipe.limits.max_memory_bytes)
        if module.memory_min_bytes >= most:
            return 0
        return most // WASM_PAGE_BYTES // 2

    @property
    def stage(self) -> str:
        """The export that the driver entered last."""
        name = STAGES.get(self.state.stage, "start")
        return self.recipe.module.dialect.version_export if name == "wasm_host_abi_version" else name

    @property
    def guest_memory_bytes(self) -> int:
        """Current size of the guest's own memory."""
        return self._guest_memory.size_bytes()

    def last_line(self) -> bytes:
        """What the guest logged last during the event under way, or its abort message."""
        return self.read(self.layout.last_line, self.state.last_line_bytes)

    def read(self, address: int, length: int) -> bytes:
        """Bytes of the staging memory; the driver keeps address and length within it."""
        if address + length > self._staging.size_bytes():
            raise HostError(f"the driver reports {length} bytes at {address}, beyond its staging memory")
        return ctypes.string_at(self._base + address, length)

    def address_of(self, address: int) -> int:
        """Where an address of the staging memory lies in this process."""
        return self._base + address

    def stage_chunk(self, source: EventSource, start: int, stop: int) -> None:
        """Copy rows [start, stop) of the input into the staging memory."""
        size = source.size_bytes(start, stop)
        if size > self.layout.input_capacity:
            self._use_layout(StagingLayout.fitting(self.recipe.limits, input_bytes=size))
        layout, state = self.layout, self.state
        first = int(source.offsets[start])
        ctypes.memmove(self._base + layout.input, source.data_address + first, size)
        offsets = source.offsets[start : stop + 1]
        if offsets.itemsize == 4:
            # The driver adds each offset to input_address, so the first one is taken off there; sums wrap at 2^32.
            state.input_address = (layout.input - first) & 0xFFFF_FFFF
        else:
            offsets = (offsets - first).astype("<i4")
            state.input_address = layout.input
        ctypes.memmove(self._base + layout.offsets, offsets.ctypes.data, offsets.nbytes)
        state.offsets_address = layout.offsets
        state.validity_address = 0
        if source.validity is not None:
            bit = start + source.validity_bit
            bitmap = source.validity[bit >> 3 : ((stop + source.validity_bit + 7) >> 3)]
            ctypes.memmove(self._base + layout.validity, bitmap.ctypes.data, bitmap.nbytes)
            state.validity_address = layout.validity
            state.validity_bit = bit & 7
        state.row_base = source.row_base + start
        state.count = stop - start
        state.index = 0
        state.is_fresh = self.served == 0
        state.answer_waits = 0

    def make_room(self, output_bytes: int) -> None:
        """Grow the output of a run that is under way; its output must have been taken already."""
        if output_bytes > self.layout.output_capacity:
            capacity = max(output_bytes, 2 * self.layout.output_capacity)
            self._use_layout(
                StagingLayout.fitting(self.recipe.limits, input_bytes=self.layout.input_capacity, output_bytes=capacity)
            )

    def set_fuel(self, fuel: int) -> None:
        """Give the next chunk its budget."""
        self._store.set_fuel(fuel)

    def fuel_left(self) -> int:
        """What is left of it."""
        return self._store.get_fuel()

    def set_deadline(self, ticks: int) -> None:
        """Arm the wall clock."""
        self._store.set_epoch_deadline(ticks)

    def run(self) -> int:
        """Run the staged chunk from where it stands; see `RunStatus`.

        Raises:
            wasmtime.Trap: guest code trapped; the instance must not be used again.
        """
        return self._run()

    def shut_down(self) -> int:
        """Call the guest's `shutdown` under `init_fuel`.

        Raises:
            wasmtime.Trap: guest code trapped.
        """
        self.state.running = 0
        self._store.set_fuel(self.recipe.limits.init_fuel)
        return self._driver_stop()

    def close(self) -> None:
        """Free the store with everything in it."""
        self._store.close()
