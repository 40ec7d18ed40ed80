"""Checks everything on the driver before a job starts: modules, contract, configuration, limits, twins, secrets.

`init` is really run, with the real configuration, so that a mistake costs seconds and its message names the tenant and
the file it was written in.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgpack

import wasm_host
from abi import TransformError
from spark_udf.bundle import BundledPlan, BundledStep, encode_bundle
from spark_udf.errors import SecretUnavailableError
from spark_udf.secret import Secret, SecretValues, find_secrets
from spark_udf.step import Step
from spark_udf.twin import Twin, build_twin, twin_of
from wasm_host.errors import ConfigError


@dataclass(frozen=True, slots=True)
class PlanSource:
    """What a tenant runs, as the job's author wrote it."""

    steps: tuple[Step, ...]
    on_error: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """A job that has passed: ready to be shipped."""

    bundle_digest: str
    blob: bytes
    secrets: SecretValues
    twins: Mapping[str, Twin]
    has_dead_letters: bool


def admit(plans: Mapping[str | None, PlanSource], *, engine: str) -> Admitted:
    """Check all plans and pack them.

    Args:
        plans: What each tenant runs; the only key is None for a transform without tenants.
        engine: "wasm", "native" or "shadow".

    Raises:
        TransformError: something was refused; the message says what, where it was written, and what to change.
    """
    return _Admission(engine).admit(plans)


def _named(step: Step, tenant: str | None) -> Step:
    """Let messages name the tenant of a step that was not read from a file."""
    return replace(step, origin=f"tenant {tenant!r}") if step.origin is None and tenant is not None else step


class _Admission:
    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._modules: dict[str, bytes] = {}
        self._code_of: dict[object, tuple[str, bytes]] = {}
        self._twins: dict[str, Twin] = {}
        self._values: dict[Secret, str] = {}
        self._passed: set[tuple[object, ...]] = set()

    def admit(self, plans: Mapping[str | None, PlanSource]) -> Admitted:
        bundled: list[BundledPlan] = []
        tenants: dict[str, int] = {}
        for tenant, plan in plans.items():
            steps = tuple(self._step(_named(step, tenant)) for step in plan.steps)
            if tenant is not None:
                tenants[tenant] = len(bundled)
            bundled.append(BundledPlan(len(bundled), steps, plan.on_error))
        digest, blob = encode_bundle(self._modules, bundled, None if None in plans else tenants)
        dead = any(plan.on_error == "dead_letter" for plan in plans.values())
        return Admitted(digest, blob, SecretValues(self._values), self._twins, dead)

    def _step(self, step: Step) -> BundledStep:
        self._read_secrets(step)
        digest, code = self._read_module(step)
        self._modules[digest] = code
        signature = step.read_signature()
        bundled = BundledStep(
            digest, step.config, step.limits, step.isolation, step.wasi, trust=step.trust, signature=signature
        )
        self._try(step, bundled, code)
        return bundled

    def _read_secrets(self, step: Step) -> None:
        for secret in find_secrets(step.config):
            if secret not in self._values:
                try:
                    self._values[secret] = secret.read()
                except SecretUnavailableError as error:
                    raise SecretUnavailableError(f"{step.where}: {error.message}", hint=error.hint) from None

    def _read_module(self, step: Step) -> tuple[str, bytes]:
        # A thousand tenants with one module read it once; the digest that is asked for is part of the question.
        question = (step.module, step.sha256)
        if question not in self._code_of:
            code = step.read_module()
            self._code_of[question] = (hashlib.sha256(code).hexdigest(), code)
        return self._code_of[question]

    def _try(self, step: Step, bundled: BundledStep, code: bytes) -> None:
        config = SecretValues(self._values).fill(step.config)
        try:
            packed = msgpack.packb(config)
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigError(
                f"{step.where}: the configuration cannot be written as MessagePack ({error})",
                hint="use text, bytes, numbers of at most 64 bits, booleans, lists and mappings",
            ) from None
        question = (bundled.digest, packed, step.limits, step.isolation, step.wasi, step.trust, bundled.signature)
        if question in self._passed:
            return
        try:
            wasm_host.load(
                code,
                config=config,
                limits=step.limits,
                isolation=step.isolation,
                wasi=step.wasi,
                trust=step.trust,
                signature=bundled.signature,
            ).close()
            if self._engine != "wasm":
                self._twins[bundled.digest] = twin = twin_of(step)
                build_twin(twin, config)
        except TransformError as error:
            raise self._located(step, error) from None
        self._passed.add(question)

    def _located(self, step: Step, error: TransformError) -> TransformError:
        """The same error with the place in front, and without a secret that a guest may have quoted."""
        secrets = SecretValues(self._values)
        message = error.message if error.message.startswith(step.where) else f"{step.where}: {error.message}"
        hint = secrets.redact(error.hint) if error.hint else None
        return type(error)(secrets.redact(message), hint=hint)
