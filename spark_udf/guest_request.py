"""What tells one guest from all others in a worker: tenant, module, configuration and limits.

Two tenants never share an instance, even where all else is equal.
"""

import hashlib
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import msgpack

import wasm_host
from spark_udf.bundle import BundledStep, plain_trust
from spark_udf.secret import SecretValues


@lru_cache(maxsize=1024)
def _values(limits: wasm_host.Limits) -> tuple[int, ...]:
    return tuple(asdict(limits).values())


@dataclass(frozen=True, slots=True, eq=False)
class GuestRequest:
    """A tenant's step with its secrets filled in. `key` is a hash of everything, made once: it is looked up often."""

    key: bytes
    config: dict[str, Any] = field(repr=False)
    step: BundledStep = field(repr=False)
    code: bytes = field(repr=False)

    @classmethod
    def of(cls, tenant: str | None, step: BundledStep, code: bytes, secrets: SecretValues) -> "GuestRequest":
        """Ask for the guest of a tenant's step."""
        config = secrets.fill(step.config)
        trust = plain_trust(step.trust)  # so that a guest loaded without a policy does not serve a job that has one
        identity = [tenant, step.digest, config, _values(step.limits), step.isolation, step.wasi, trust, step.signature]
        return cls(hashlib.sha256(msgpack.packb(identity)).digest(), config, step, code)

    def load(self) -> wasm_host.Guest:
        """Load it.

        Raises:
            TransformError: it cannot be loaded here; the driver has admitted it, so this executor differs.
        """
        step = self.step
        return wasm_host.load(
            self.code,
            config=self.config,
            limits=step.limits,
            isolation=step.isolation,
            wasi=step.wasi,
            trust=step.trust,
            signature=step.signature,
        )
