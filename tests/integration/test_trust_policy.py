"""A trust policy in Spark: refused on the driver before the job starts, and again in the worker that loads a module."""

import hashlib
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import guest_examples
from spark_udf import TenantTransforms, WasmTransform
from spark_udf.bundle import BundledPlan, BundledStep, decode_bundle, encode_bundle
from spark_udf.errors import TenantsFileError
from spark_udf.guest_request import GuestRequest
from spark_udf.secret import SecretValues
from spark_udf.tenants_file import read_tenants_file
from tests.integration.frames import frame_of, random_rows
from wasm_host import Limits, TrustPolicy, UntrustedModuleError
from wasm_host.trust import generate_key, read_public_key, sign

CODE = guest_examples.load_wasm("pass_through")
DIGEST = hashlib.sha256(CODE).hexdigest()
STRANGER = TrustPolicy(pinned=frozenset({"0" * 64}))
PINNED = TrustPolicy(pinned=frozenset({DIGEST}))


def request(trust: TrustPolicy | None, signature: bytes | None = None) -> GuestRequest:
    """What a worker asks for, after the bundle has travelled."""
    step = BundledStep(DIGEST, {}, Limits(), "worker", False, trust=trust, signature=signature)
    digest, blob = encode_bundle({DIGEST: CODE}, [BundledPlan(0, (step,), "fail")], None)
    arrived = decode_bundle(digest, blob)
    assert arrived.plans[0].steps[0] == step
    return GuestRequest.of(None, arrived.plans[0].steps[0], arrived.modules[DIGEST], SecretValues({}))


def test_worker_refuses_a_module_that_its_policy_does_not_know() -> None:
    with pytest.raises(UntrustedModuleError):
        request(STRANGER).load()
    request(PINNED).load().close()


def test_worker_checks_the_signature_that_came_with_the_module() -> None:
    private, public = generate_key()
    policy = TrustPolicy(public_keys=(read_public_key(public),))
    with pytest.raises(UntrustedModuleError, match="there is no signature"):
        request(policy).load()
    with pytest.raises(UntrustedModuleError, match="none of the known keys"):
        request(policy, sign(CODE + b"\0", private)).load()
    request(policy, sign(CODE, private)).load().close()


def test_guest_loaded_without_a_policy_does_not_serve_a_job_that_has_one() -> None:
    assert len({request(None).key, request(PINNED).key, request(STRANGER).key}) == 3


@pytest.mark.spark
def test_untrusted_module_is_refused_on_the_driver(spark: SparkSession) -> None:
    frame = frame_of(spark, random_rows(3, 10), 2)
    with pytest.raises(UntrustedModuleError, match="not pinned"):
        WasmTransform(CODE, trust=STRANGER).apply(frame)
    with pytest.raises(UntrustedModuleError, match="tenant 'acme'"):
        TenantTransforms({"acme": WasmTransform(CODE)}, trust=STRANGER).apply(frame, tenant="tenant_id")
    rows = TenantTransforms({"acme": WasmTransform(CODE)}, unknown="drop", trust=PINNED)
    assert rows.apply(frame, tenant="tenant_id").count() == frame.where("tenant_id = 'acme'").count()


@pytest.mark.spark
def test_tenants_file_takes_signed_modules_only(spark: SparkSession, tmp_path: Path) -> None:
    private, public = generate_key()
    (tmp_path / "platform.pub").write_bytes(public)
    (tmp_path / "guest.wasm").write_bytes(CODE)
    file = tmp_path / "tenants.toml"
    file.write_text("trust.public_keys = ['platform.pub']\ntenants.acme.module = 'guest.wasm'\n")
    frame = frame_of(spark, random_rows(4, 10, ("acme",)), 2)
    with pytest.raises(UntrustedModuleError, match=r"tenants\.toml:2"):
        TenantTransforms.from_file(file).apply(frame, tenant="tenant_id")
    (tmp_path / "guest.wasm.sig").write_bytes(sign(CODE, private))
    assert TenantTransforms.from_file(file).apply(frame, tenant="tenant_id").count() == 10


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("trust = {}", "neither pinned nor public_keys"),
        ("trust.pinned = ['abc']", "64 hexadecimal digits"),
        ("trust.pinned = 'abc'", "allowed is a list"),
        ("trust.public_keys = ['nowhere.pub']", "cannot be read"),
        ("trust.public_keys = ['tenants.toml']", "not an Ed25519 public key"),
        ("trust.keys = []", "is not known"),
    ],
)
def test_tenants_file_refuses_a_policy_that_says_nothing(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "tenants.toml"
    file.write_text(f"{line}\ntenants.acme.module = 'guest.wasm'\n")
    with pytest.raises(TenantsFileError, match=said) as refused:
        read_tenants_file(file)
    assert refused.value.details["line"] == 1
