"""A guest brought to life: services, guest and driver in one store.

Life stages: bytes → `CompiledModule` → `GuestInstance`. An instance that trapped or broke the contract is given up by
its owner and never called again. It knows nothing of batches; it runs one staged chunk at a time.
"""

from dataclasses import dataclass

import wasmtime

from wasm_host.driver_state import STAGES, DriverState, StartStatus
from wasm_host.guest_store import GuestStore
from wasm_host.limits import WASM_PAGE_BYTES, Limits
from wasm_host.module import CompiledModule
from wasm_host.startup_errors import startup_error, startup_trap


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
        home.begin_generation(recipe.module)
        home.meter.set_fuel(recipe.limits.init_fuel)
        home.meter.set_deadline(deadline_ticks)
        self._linkage = home.linkage(recipe.module)
        try:
            if recipe.module.uses_wasi:
                home.lift_limits()
                self._linkage.offer_wasi()
                home.hold_to_limits()
            self._linkage.connect()
        except wasmtime.Trap as trap:
            raise startup_trap(trap, recipe, stage="start", state=None, guest_text=None) from trap
        except wasmtime.WasmtimeError as error:
            raise startup_error(error, recipe) from error
        self._start()

    @property
    def state(self) -> DriverState:
        """The state block that it shares with the driver."""
        return self.home.state

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
            status = self._linkage.start()
        except wasmtime.Trap as trap:
            raise startup_trap(trap, self.recipe, self.stage, self.state, self.last_line()) from trap
        if status != StartStatus.READY:
            raise startup_error(StartStatus(status), self.recipe, self.state, self.last_line())
        state = self.home.state
        state.running = 1
        # What it said so far belongs to no event, and is kept whatever becomes of the first one.
        state.log_mark = state.log_bytes
        state.log_lines_lost_mark = state.log_lines_lost
        state.metrics_lost_mark = state.metrics_lost

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
        return self._linkage.guest_memory.size_bytes()

    def last_line(self) -> bytes:
        """What the guest logged last during the event under way, or its abort message."""
        length = self.home.state.last_line_bytes
        return self.home.read(self.home.layout.last_line, length) if length else b""

    def run(self) -> int | wasmtime.Trap:
        """Run the staged chunk from where it stands; see `RunStatus`. After a trap it must not be used again."""
        return self._linkage.run.attempt()

    def shut_down(self) -> int:
        """Call the guest's `shutdown` under `init_fuel`.

        Raises:
            wasmtime.Trap: guest code trapped.
        """
        self.state.running = 0
        self.home.meter.set_fuel(self.recipe.limits.init_fuel)
        return self._linkage.stop()
