"""A guest brought to life: services, guest and driver in one store.

Life stages: bytes → `CompiledModule` → `GuestInstance`. An instance that trapped or broke the contract is given up by
its owner and never called again. It knows nothing of batches; it runs one staged chunk at a time.
"""

from dataclasses import dataclass

import wasmtime

from abi.names import IMPORT_MODULE, MEMORY_EXPORT
from wasm_host.driver_state import STAGES, DriverState, StartStatus
from wasm_host.guest_store import GuestStore
from wasm_host.host_modules import driver_wasm
from wasm_host.limits import WASM_PAGE_BYTES, Limits
from wasm_host.module import CompiledModule, compile_host_module
from wasm_host.raw_calls import RawFunction, RawInstance, RawMemory
from wasm_host.startup_errors import startup_error, startup_trap
from wasm_host.wasi import functions_wasm, trampolines_wasm


@dataclass(frozen=True, slots=True)
class GuestRecipe:
    """All that is needed to make a fresh instance, as often as one is needed."""

    module: CompiledModule
    config_bytes: bytes
    limits: Limits


class GuestInstance:
    """One live guest.

    Attributes:
        home: The store it lives in, with the staging memory.
        served: Events that went through it; 0 means that it is fresh.
    """

    def __init__(self, recipe: GuestRecipe, home: GuestStore, *, deadline_ticks: int) -> None:
        """Instantiate, check the version, and run `init`, all under `init_fuel`.

        Raises:
            GuestError: guest code trapped, refused its configuration or ran into a limit.
            ContractError: it answers another version than its dialect's.
        """
        self.recipe = recipe
        self.home = home
        self.served = 0
        home.begin_generation()
        home.store.set_fuel(recipe.limits.init_fuel)
        home.store.set_epoch_deadline(deadline_ticks)
        try:
            self._link()
        except wasmtime.Trap as trap:
            raise startup_trap(trap, recipe, stage="start", state=None, guest_text=None) from trap
        except wasmtime.WasmtimeError as error:
            raise startup_error(error, recipe) from error
        self._start()

    @property
    def state(self) -> DriverState:
        """The state block that it shares with the driver."""
        return self.home.state

    def _link(self) -> None:
        module, store = self.recipe.module, self.home.store
        service = self.home.service
        wasi = None
        if module.uses_wasi:
            self.home.lift_limits()
            wasi = RawInstance(store, compile_host_module(trampolines_wasm(), module.sandbox), [])
            self.home.hold_to_limits()
        imports = [
            service(name) if space == IMPORT_MODULE or wasi is None else wasi.export(name)
            for space, name in module.imports
        ]
        guest = RawInstance(store, module.compiled, imports)
        memory = guest.export(MEMORY_EXPORT)
        required = [guest.export(name) for name in ("alloc", "dealloc", "transform", module.dialect.version_export)]
        optional = [
            guest.export(name) if name in module.exports else service(stand_in)
            for name, stand_in in (("_initialize", "no_initialize"), ("init", "no_init"), ("shutdown", "no_shutdown"))
        ]
        shared = [service("attached"), service("early_calls"), service("staging")]
        driver = RawInstance(
            store, compile_host_module(driver_wasm(), module.sandbox), [memory, *required, *optional, *shared]
        )
        if wasi is not None:
            stub = compile_host_module(functions_wasm(), module.sandbox)
            RawInstance(store, stub, [wasi.export("attached"), memory, service("staging")])
        self._guest_memory = RawMemory(store, memory)
        self._run = RawFunction(store, driver.export("run"))
        self._driver_start = RawFunction(store, driver.export("start"))
        self._driver = driver

    def _configure(self) -> None:
        """Tell the driver the contract, the limits and where things lie; the next generation begins with the same."""
        module, limits = self.recipe.module, self.recipe.limits
        state, layout = self.home.state, self.home.layout
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
        state.config_address = layout.config
        state.config_bytes = len(self.recipe.config_bytes)
        self.home.clean_state = bytes(state)

    def _start(self) -> None:
        if self.home.clean_state is None:
            self._configure()
        try:
            status = StartStatus(self._driver_start())
        except wasmtime.Trap as trap:
            raise startup_trap(trap, self.recipe, self.stage, self.state, self.last_line()) from trap
        if status is not StartStatus.READY:
            raise startup_error(status, self.recipe, self.state, self.last_line())
        self.state.running = 1
        # What it said so far belongs to no event, and is kept whatever becomes of the first one.
        self.state.log_mark = self.state.log_bytes
        self.state.log_lines_lost_mark = self.state.log_lines_lost
        self.state.metrics_lost_mark = self.state.metrics_lost

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
        return self.home.read(self.home.layout.last_line, self.state.last_line_bytes)

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
        self.home.store.set_fuel(self.recipe.limits.init_fuel)
        return RawFunction(self.home.store, self._driver.export("stop"))()
