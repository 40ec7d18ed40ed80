"""Errors of the sandbox, grouped by who must act.

TransformError (abi)
├─ ConfigError (ValueError)      the caller set something impossible
├─ ContractError                 the module does not follow the ABI: exports, signatures, version
├─ ModuleError                   refused before any guest code ran
│  ├─ InvalidModuleError         not a module this host can compile
│  ├─ ForbiddenImportError       asks for something outside the allow-list
│  ├─ ModuleTooLargeError        over max_module_bytes, or over a limit of what is compiled
│  └─ UntrustedModuleError       neither pinned nor signed by a known key
├─ GuestError                    guest code ran and failed as a whole (a single event fails with a Failure instead)
│  ├─ GuestTrapError             trapped while it was brought up
│  ├─ InitError                  init refused the configuration
│  └─ LimitExceededError         .limit_name .limit .observed
│     ├─ FuelExhaustedError
│     ├─ DeadlineExceededError   the wall clock: retry may help, no event is marked
│     └─ MemoryLimitError        also tables
├─ ClosedError                   used after close()
└─ HostError                     our bug or a sick machine; never blamed on the guest
"""

from abi import TransformError


class ConfigError(TransformError, ValueError):
    """The caller set something impossible."""

    code = "CONFIG_ERROR"


class ContractError(TransformError):
    """The module does not follow the ABI."""

    code = "CONTRACT_ERROR"


class ModuleError(TransformError):
    """The module was refused before any of its code ran."""

    code = "MODULE_ERROR"


class InvalidModuleError(ModuleError):
    """Not a WebAssembly module that this host compiles: garbage, a component, or a disabled proposal."""

    code = "INVALID_MODULE"


class ForbiddenImportError(ModuleError):
    """The module imports something outside the allow-list."""

    code = "FORBIDDEN_IMPORT"


class ModuleTooLargeError(ModuleError):
    """The module is longer, or has more to compile, than the limits allow; `details` name the limit."""

    code = "MODULE_TOO_LARGE"


class UntrustedModuleError(ModuleError):
    """The module is neither pinned nor signed by a key that the policy knows."""

    code = "UNTRUSTED_MODULE"


class GuestError(TransformError):
    """Guest code ran and failed as a whole."""

    code = "GUEST_ERROR"


class GuestTrapError(GuestError):
    """The guest trapped while it was brought up."""

    code = "GUEST_TRAP"


class InitError(GuestError):
    """The guest's `init` refused its configuration."""

    code = "INIT_REFUSED"


class LimitExceededError(GuestError):
    """The guest ran into a limit; `details` hold `limit_name`, `limit` and `observed`."""

    code = "LIMIT_EXCEEDED"


class FuelExhaustedError(LimitExceededError):
    """The guest used more fuel than it has for being brought up."""

    code = "INIT_FUEL_EXHAUSTED"


class DeadlineExceededError(LimitExceededError):
    """The batch took longer than `max_wall_ms_per_batch`. The machine is to blame as likely as the guest."""

    code = "DEADLINE_EXCEEDED"


class MemoryLimitError(LimitExceededError):
    """The guest asks for more memory, tables or table elements than it may have."""

    code = "MEMORY_LIMIT_EXCEEDED"


class ClosedError(TransformError):
    """The guest was used after it was closed."""

    code = "GUEST_CLOSED"


class HostError(TransformError):
    """A fault of the host or the machine."""

    code = "HOST_ERROR"
