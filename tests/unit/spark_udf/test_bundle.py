import pickle
from pathlib import Path

import pytest

from spark_udf.bundle import BundledPlan, BundledStep, decode_bundle, encode_bundle
from spark_udf.carrier import InlineCarrier, PathCarrier, fetch_bundle
from spark_udf.errors import BundleError
from spark_udf.program import Program
from spark_udf.secret import Secret, SecretValues
from wasm_host import Limits

STEP = BundledStep("aa" * 32, {"key": Secret.env("K"), "list": [1, None, b"x"]}, Limits(max_tables=1), "batch", True)
PLANS = [BundledPlan(0, (STEP, STEP), "drop"), BundledPlan(1, (STEP,), "fail")]


def test_bundle_is_read_back_as_it_was_written() -> None:
    digest, blob = encode_bundle({"aa" * 32: b"code"}, PLANS, {"x": 1, "y": 0})
    bundle = decode_bundle(digest, blob)
    assert bundle.plans == tuple(PLANS)
    assert bundle.modules == {"aa" * 32: b"code"}
    assert bundle.plan_of("x") == PLANS[1]
    assert bundle.plan_of("z") is None
    assert bundle.plan_of(None) is None
    assert encode_bundle({"aa" * 32: b"code"}, PLANS, {"y": 0, "x": 1}) == (digest, blob)


def test_bundle_without_tenants_has_one_plan_for_all() -> None:
    bundle = decode_bundle(*encode_bundle({}, PLANS[:1], None))
    assert bundle.plan_of(None) == bundle.plan_of("anybody") == PLANS[0]


def test_other_bytes_than_asked_for_are_refused(tmp_path: Path) -> None:
    digest, blob = encode_bundle({}, PLANS, None)
    with pytest.raises(BundleError, match="expected is"):
        decode_bundle(digest, blob + b"\0")
    with pytest.raises(BundleError, match="is not on this executor"):
        fetch_bundle("0" * 64, PathCarrier(str(tmp_path / "nothing")))


def test_program_pickles_small_without_the_blob_and_shows_no_secret() -> None:
    digest, blob = encode_bundle({"aa" * 32: b"code" * 100_000}, PLANS, None)
    (carrier, secrets) = (PathCarrier("/some/where"), SecretValues({Secret.env("K"): "hunter2"}))
    program = Program(
        bundle_digest=digest, carrier=carrier, secrets=secrets, event_column="event", output_names=("event",)
    )
    assert len(pickle.dumps(program)) < 2_000
    assert "hunter2" not in repr(program)
    assert fetch_bundle(digest, InlineCarrier(blob)) is fetch_bundle(digest, InlineCarrier(b"not looked at"))


def test_program_of_another_version_is_refused() -> None:
    program = Program(
        bundle_digest="0",
        carrier=InlineCarrier(b""),
        secrets=SecretValues(),
        event_column="event",
        output_names=("event",),
        package_version="0.0.1",
    )
    with pytest.raises(BundleError, match=r"the driver runs wasm-host 0\.0\.1, this executor"):
        list(program(iter([])))
