"""Modules and tenants of a job as one blob, known by its digest. Secrets are not part of it; see `spark_udf.secret`.

Knows nothing of how the blob travels; that is `spark_udf.carrier`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import msgpack

from spark_udf.errors import BundleError
from spark_udf.secret import Secret
from wasm_host import Isolation, Limits, TrustPolicy

_SECRET_EXT = 1


@dataclass(frozen=True, slots=True)
class BundledStep:
    """A step on the executor: the module by digest, everything else by value."""

    digest: str
    config: Mapping[str, Any]
    limits: Limits
    isolation: Isolation
    wasi: bool
    trust: TrustPolicy | None = None
    signature: bytes | None = None


@dataclass(frozen=True, slots=True)
class BundledPlan:
    """What one tenant runs. `key` tells plans of the same bundle apart."""

    key: int
    steps: tuple[BundledStep, ...]
    on_error: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """A decoded blob. `tenants` is None for a transform without tenants, which has one plan."""

    digest: str
    modules: Mapping[str, bytes]
    plans: tuple[BundledPlan, ...]
    tenants: Mapping[str, int] | None
    requests: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What a worker has worked out about steps; kept as long as the bundle, across tasks."""

    def plan_of(self, tenant: str | None) -> BundledPlan | None:
        """The plan of a tenant, or None if nobody configured it."""
        if self.tenants is None:
            return self.plans[0]
        index = self.tenants.get(tenant) if tenant is not None else None
        return None if index is None else self.plans[index]


def encode_bundle(
    modules: Mapping[str, bytes], plans: list[BundledPlan], tenants: Mapping[str, int] | None
) -> tuple[str, bytes]:
    """Write a bundle; equal content gives equal bytes.

    Returns:
        The SHA-256 of the blob, and the blob.
    """
    content = {
        "modules": dict(sorted(modules.items())),
        "plans": [{"steps": [_plain(step) for step in plan.steps], "on_error": plan.on_error} for plan in plans],
        "tenants": None if tenants is None else dict(sorted(tenants.items())),
    }
    blob = msgpack.packb(content, default=_pack_secret)
    return hashlib.sha256(blob).hexdigest(), blob


def _plain(step: BundledStep) -> dict[str, Any]:
    # Not `asdict` for the whole: it would turn the references to secrets into maps.
    values = {field.name: getattr(step, field.name) for field in fields(step)}
    return {**values, "limits": asdict(step.limits), "trust": plain_trust(step.trust)}


def plain_trust(trust: TrustPolicy | None) -> list[Any] | None:
    """A policy as MessagePack has it; equal policies give equal values."""
    return None if trust is None else [sorted(trust.pinned), list(trust.public_keys)]


def _step_of(plain: dict[str, Any]) -> BundledStep:
    trust = plain["trust"]
    policy = None if trust is None else TrustPolicy(pinned=frozenset(trust[0]), public_keys=tuple(trust[1]))
    return BundledStep(**{**plain, "limits": Limits(**plain["limits"]), "trust": policy})


def _pack_secret(value: Any) -> msgpack.ExtType:
    if isinstance(value, Secret):
        return msgpack.ExtType(_SECRET_EXT, msgpack.packb([value.kind, value.name]))
    raise TypeError(f"a configuration holds plain values and secrets, not {type(value).__name__}")


def _unpack_secret(code: int, data: bytes) -> Secret:
    if code != _SECRET_EXT:
        raise BundleError(f"the bundle holds a value of unknown type {code}", hint="install one version everywhere")
    return Secret(*msgpack.unpackb(data))


def decode_bundle(digest: str, blob: bytes) -> Bundle:
    """Read a blob and make sure that it is the one that was asked for.

    Raises:
        BundleError: it is not.
    """
    found = hashlib.sha256(blob).hexdigest()
    if found != digest:
        raise BundleError(
            f"the bundle that arrived has the SHA-256 {found[:12]}, expected is {digest[:12]}",
            hint="a file of the same name was there before, or was changed on the way",
        )
    content = msgpack.unpackb(blob, ext_hook=_unpack_secret, strict_map_key=False)
    plans = []
    for key, plan in enumerate(content["plans"]):
        steps = tuple(_step_of(step) for step in plan["steps"])
        plans.append(BundledPlan(key, steps, plan["on_error"]))
    return Bundle(digest, content["modules"], tuple(plans), content["tenants"])
