"""A store with its services and staging memory, in which instances of one guest follow one another.

Making fresh memory is what a fresh instance costs most: each page of a new staging memory is a page fault. So the
staging memory outlives an instance that trapped, and its successor is made in the same store. The dead are never
called again; they are freed with the store, which is given up after a number of generations or when the dead hold
too much memory. wasmtime keeps a store sound after a trap; only the instance is in an unknown state.
"""

import ctypes
from dataclasses import dataclass

import wasmtime

from abi.names import HOST_IMPORTS
from wasm_host.driver_state import METRIC_SLOT_BYTES, METRIC_SLOTS, SEGMENT_WORDS, DriverState
from wasm_host.engine import SandboxEngine
from wasm_host.errors import HostError
from wasm_host.event_source import EventSource
from wasm_host.host_modules import services_wasm
from wasm_host.limits import MIB, WASM_PAGE_BYTES, Limits
from wasm_host.linkage import Linkage
from wasm_host.module import CompiledModule, compile_host_module
from wasm_host.raw_calls import Extern, RawFunction, RawInstance, RawMemory, RawMeter, externs
from wasm_host.staging import StagingLayout
from wasm_host.traps import first_line

# A new store costs as much as dozens of instances, because the pages of its staging memory are not there yet.
_MAX_GENERATIONS = 512
# Each memory of the dead still holds its reservation of addresses.
_MAX_GENERATIONS_IN_SMALL_ADDRESS_SPACE = 4
_MAX_DEAD_BYTES = 64 * MIB
_MAX_DEAD_BYTES_IN_SMALL_ADDRESS_SPACE = 8 * MIB
# What all stores of the process may keep of the dead until the next batch: a process can have thousands of guests.
_MAX_IDLE_DEAD = 1_000
_MAX_IDLE_DEAD_BYTES = 64 * MIB
# For one generation: guest, driver and two of the WASI stub; the table of the stub.
_INSTANCES_PER_GENERATION = 4
_HOST_TABLES_PER_GENERATION = 1
_HOST_TABLE_ELEMENTS = 64
_UNHELD_BYTES = 1 << 32
# The host's own calls end by themselves; this is only more than any of them takes.
_DETACH_TICKS = 1 << 20

SERVICES: tuple[str, ...] = (
    "staging",
    "attached",
    "early_calls",
    "no_initialize",
    "no_init",
    "no_shutdown",
    *(symbol.name for symbol in HOST_IMPORTS),
)
"""What `services.wat` exports for guests and drivers."""


@dataclass(slots=True)
class _Dead:
    """Instances that were given up and are not freed yet."""

    count: int = 0
    size_bytes: int = 0


_dead_of_process = _Dead()


class GuestStore:
    """A wasmtime store and what all instances in it share.

    Attributes:
        store: What instances are made in.
        meter: Its fuel and deadline.
        layout: Where things lie in it.
        state: The state block it begins with.
        clean_state: The state block as an instance begins with it, once it is known for this layout.
        dead_bytes: What instances that were given up still hold.
        touched_bytes: About how much of the staging memory is in use, and so resident.
    """

    state: DriverState
    clean_state: bytes | None

    def __init__(self, sandbox: SandboxEngine, limits: Limits, config: bytes) -> None:
        """Make a store without a guest; `config` is what each guest's `init` will get.

        Raises:
            HostError: the machine has no room for the staging memory.
        """
        self._dead = self.dead_bytes = 0
        self._limits = limits
        self._sandbox = sandbox
        self._generations = 0
        self._linkage: Linkage | None = None
        self.touched_bytes = 0
        self.store = wasmtime.Store(sandbox.engine)
        self.meter = RawMeter(self.store)
        self.lift_limits()
        self.meter.set_fuel(limits.init_fuel)
        self.meter.set_deadline(_DETACH_TICKS)
        try:
            services = RawInstance(self.store, compile_host_module(services_wasm(), sandbox), externs(0))
            services.instantiate()
        except wasmtime.WasmtimeError as error:
            raise HostError(f"no room for a staging memory: {first_line(error)}") from error
        self._services = {name: services.export(name) for name in SERVICES}
        self._detach = RawFunction(self.store, services.export("detach"))
        self._memory = RawMemory(self.store, self.service("staging"))
        self._config_bytes = len(config)
        self.use_layout(self._layout())
        ctypes.memmove(self._base + self.layout.config, config, len(config))

    def _layout(self, **sizes: int) -> StagingLayout:
        return StagingLayout.fitting(self._limits, config_bytes=self._config_bytes, **sizes)

    def service(self, name: str) -> Extern:
        """One of `SERVICES`, to be imported by a guest or its driver."""
        return self._services[name]

    def linkage(self, module: CompiledModule) -> Linkage:
        """How instances of the guest are joined with what is here. A store serves one module all its life."""
        if self._linkage is None:
            self._linkage = Linkage(self.store, module, self.service)
        return self._linkage

    def lift_limits(self) -> None:
        """Let the host make room and tables of its own. A limit holds for the whole store, not only for the guest."""
        self._set_limits(_UNHELD_BYTES, max(self._limits.max_table_elements, _HOST_TABLE_ELEMENTS))

    def hold_to_limits(self) -> None:
        """Hold memories and tables to the guest's limits, before any of its code runs."""
        self._set_limits(self._limits.max_memory_bytes, self._limits.max_table_elements)

    def _set_limits(self, memory_bytes: int, table_elements: int) -> None:
        self.store.set_limits(
            memory_size=memory_bytes,
            table_elements=table_elements,
            instances=1 + _MAX_GENERATIONS * _INSTANCES_PER_GENERATION,
            tables=1 + _MAX_GENERATIONS * (self._limits.max_tables + _HOST_TABLES_PER_GENERATION),
            memories=1 + _MAX_GENERATIONS,
        )

    def use_layout(self, layout: StagingLayout) -> None:
        """Grow the staging memory to a layout and tell the driver where its output goes.

        Raises:
            HostError: the memory cannot grow so far.
        """
        missing = layout.pages - self._memory.size_bytes() // WASM_PAGE_BYTES
        if missing > 0:
            self.lift_limits()
            try:
                self._memory.grow_pages(missing)
            except wasmtime.WasmtimeError as error:
                raise HostError(
                    f"the staging memory cannot grow to {layout.pages * WASM_PAGE_BYTES:,} bytes: {first_line(error)}",
                    hint="lower the size of events or batches, or raise spark.executor.pyspark.memory",
                ) from error
        self.hold_to_limits()
        self.layout = layout
        self._base = self._memory.base_address()
        self.state = DriverState.from_address(self._base)
        self.state.rows_address = layout.rows
        self.state.ends_address = layout.ends
        self.state.output_events_capacity = layout.entries
        self.state.output_address = layout.output
        self.state.output_capacity = layout.output_capacity
        self.clean_state = None

    def begin_generation(self, module: CompiledModule) -> None:
        """Clean what the last instance left in the state block and the metric slots."""
        if self._generations:
            if module.imports:
                # A start function could call what the last instance's driver has put behind the imports.
                self.meter.set_fuel(self._limits.init_fuel)
                self.meter.set_deadline(_DETACH_TICKS)
                self._detach()
            if self.state.metrics_seen:
                ctypes.memset(self._base + self.layout.metrics, 0, METRIC_SLOTS * METRIC_SLOT_BYTES)
            if self.clean_state is None:
                ctypes.memset(self._base, 0, ctypes.sizeof(DriverState))
                self.use_layout(self.layout)
            else:
                ctypes.memmove(self._base, self.clean_state, len(self.clean_state))
        self._generations += 1

    def end_generation(self, dead_bytes: int) -> None:
        """Note that an instance is given up, with as much memory."""
        self.dead_bytes += dead_bytes
        self._dead += 1
        _dead_of_process.count += 1
        _dead_of_process.size_bytes += dead_bytes

    @property
    def holds_too_much(self) -> bool:
        """Whether there are dead in here, and those of all stores of the process are too many to be kept for long."""
        return self._dead > 0 and (
            _dead_of_process.count > _MAX_IDLE_DEAD or _dead_of_process.size_bytes > _MAX_IDLE_DEAD_BYTES
        )

    @property
    def takes_another(self) -> bool:
        """Whether one more instance may be made here."""
        most, most_bytes = _MAX_GENERATIONS, _MAX_DEAD_BYTES
        if self._sandbox.settings.is_address_space_small:
            most, most_bytes = _MAX_GENERATIONS_IN_SMALL_ADDRESS_SPACE, _MAX_DEAD_BYTES_IN_SMALL_ADDRESS_SPACE
        return self._generations < most and self.dead_bytes < most_bytes

    def read(self, address: int, length: int) -> bytes:
        """Bytes of the staging memory.

        Raises:
            HostError: they are not all there, which only a fault of the driver can cause.
        """
        if address + length > self._memory.size_bytes():
            raise HostError(f"the driver reports {length} bytes at {address}, beyond its staging memory")
        return ctypes.string_at(self._base + address, length)

    def address_of(self, address: int) -> int:
        """Where an address of the staging memory lies in this process."""
        return self._base + address

    def stage_chunk(self, source: EventSource, start: int, stop: int) -> None:
        """Copy rows [start, stop) of the input into the staging memory."""
        size = source.size_bytes(start, stop)
        if size > self.layout.input_capacity:
            self.use_layout(self._layout(input_bytes=size))
        layout = self.layout
        first = int(source.offsets[start])
        ctypes.memmove(self._base + layout.input, source.data_address + first, size)
        offsets = source.offsets[start : stop + 1]
        if offsets.itemsize == 4:
            # The driver adds each offset to input_address, so the first one is taken off there; sums wrap at 2^32.
            input_address = (layout.input - first) & 0xFFFF_FFFF
        else:
            offsets = (offsets - first).astype("<i4")
            input_address = layout.input
        ctypes.memmove(self._base + layout.offsets, offsets.ctypes.data, offsets.nbytes)
        validity_address = validity_bit = 0
        if source.validity is not None:
            bit = start + source.validity_bit
            bitmap = source.validity[bit >> 3 : (stop + source.validity_bit + 7) >> 3]
            ctypes.memmove(self._base + layout.validity, bitmap.ctypes.data, bitmap.nbytes)
            validity_address, validity_bit = layout.validity, bit & 7
        # Input and output of a chunk are of about the same size; pages that were written once stay.
        self.touched_bytes = max(self.touched_bytes, 2 * size)
        self._chunk = (source.row_base + start, layout.offsets, input_address, validity_address, validity_bit)

    def begin_segment(self, first: int, end: int, *, is_fresh: bool) -> None:
        """Tell the driver to run events [first, end) of the staged chunk, on an instance that is fresh or not."""
        SEGMENT_WORDS.pack_into(self.state, 0, *self._chunk, first, first, end, is_fresh, 0)

    def make_room(self, output_bytes: int) -> None:
        """Grow the output of a run that is under way; its output must have been taken already."""
        if output_bytes > self.layout.output_capacity:
            capacity = max(output_bytes, 2 * self.layout.output_capacity)
            self.use_layout(self._layout(input_bytes=self.layout.input_capacity, output_bytes=capacity))

    def close(self) -> None:
        """Free the store with everything in it."""
        self._forget_dead()
        self.store.close()

    def _forget_dead(self) -> None:
        _dead_of_process.count -= self._dead
        _dead_of_process.size_bytes -= self.dead_bytes
        self._dead = self.dead_bytes = 0

    def __del__(self) -> None:
        # A guest that nobody closed is freed all the same, and its dead must not count for ever.
        self._forget_dead()
