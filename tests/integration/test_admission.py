"""Mistakes are found on the driver, when `apply` is called, with a code and a place."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import guest_examples
from abi import TransformError
from spark_udf import Secret, TenantTransforms, WasmTransform, split_failures
from tests.integration.frames import frame_of, random_rows
from tests.integration.guests import PASS, REFUSE_CONFIG

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return frame_of(spark, random_rows(1, 10), 1)


def tenants_of(folder: Path, text: str) -> TenantTransforms:
    path = folder / "tenants.toml"
    path.write_text(text)
    return TenantTransforms.from_file(path)


MISTAKES: list[tuple[str, str, Callable[[DataFrame], object]]] = [
    ("SCHEMA_MISMATCH", "'evnt' does not exist", lambda df: WasmTransform(PASS).apply(df, column="evnt")),
    (
        "SCHEMA_MISMATCH",
        "has the type bigint; allowed is binary",
        lambda df: WasmTransform(PASS).apply(df, column="id"),
    ),
    ("SCHEMA_MISMATCH", "'nope' does not exist", lambda df: WasmTransform(PASS).apply(df, keep=["nope"])),
    (
        "SCHEMA_MISMATCH",
        "the tenant column 'tenant' does not exist",
        lambda df: tenants("a").apply(df, tenant="tenant"),
    ),
    ("SCHEMA_MISMATCH", "allowed are text and whole numbers", lambda df: tenants("a").apply(df, tenant="event")),
    ("CONFIG_ERROR", "neither a column nor a path", lambda df: tenants("a").apply(df, tenant="x.y")),
    ("CONFIG_ERROR", "no tenant column", lambda df: tenants("a").apply(df)),
    ("CONFIG_ERROR", "via is 'tcp'", lambda df: WasmTransform(PASS).apply(df, via="tcp")),  # type: ignore[arg-type]
    ("CONFIG_ERROR", "engine is 'jit'", lambda df: WasmTransform(PASS).apply(df, engine="jit")),  # type: ignore[arg-type]
    ("CONFIG_ERROR", "shadow_sample is 2", lambda df: WasmTransform(PASS).apply(df, engine="shadow", shadow_sample=2)),
    ("CONFIG_ERROR", "on_error is 'panic'", lambda df: WasmTransform(PASS, on_error="panic").apply(df)),  # type: ignore[arg-type]
    ("CONFIG_ERROR", "isolation is 'none'", lambda df: WasmTransform(PASS, isolation="none").apply(df)),  # type: ignore[arg-type]
    ("MODULE_NOT_FOUND", "nowhere.wasm: the file cannot be read", lambda df: WasmTransform("nowhere.wasm").apply(df)),
    ("MODULE_NOT_FOUND", "asked for is " + "0" * 64, lambda df: WasmTransform(PASS, sha256="0" * 64).apply(df)),
    ("INVALID_MODULE", "module", lambda df: WasmTransform(b"not wasm at all").apply(df)),
    ("INIT_REFUSED", "unknown key", lambda df: mask({"rulez": 1}).apply(df)),
    ("ADMISSION_REFUSED", "has no native twin", lambda df: WasmTransform(PASS).apply(df, engine="native")),
    (
        "ADMISSION_REFUSED",
        "cannot be imported",
        lambda df: WasmTransform(PASS, native="no:b").apply(df, engine="native"),
    ),
    ("SECRET_UNAVAILABLE", "'NOT_SET_HERE'", lambda df: mask({"rules": [], "k": Secret.env("NOT_SET_HERE")}).apply(df)),
    ("SCHEMA_MISMATCH", "no column 'failure'", split_failures),
]


def tenants(*names: str) -> TenantTransforms:
    return TenantTransforms({name: WasmTransform(PASS) for name in names})


def mask(config: dict[str, object]) -> WasmTransform:
    return WasmTransform(guest_examples.path("mask_pii"), config=config)


@pytest.mark.parametrize(
    ("code", "part", "mistake"), MISTAKES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_mistake_is_a_coded_error_at_apply(
    frame: DataFrame, code: str, part: str, mistake: Callable[[DataFrame], object]
) -> None:
    with pytest.raises(TransformError) as caught:
        mistake(frame)
    assert caught.value.code == code
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_message_names_tenant_file_and_line(frame: DataFrame, tmp_path: Path) -> None:
    (tmp_path / "bad.wasm").write_bytes(b"\0asm but no")
    (tmp_path / "pass.wasm").write_bytes(PASS)
    good = "[tenants.a]\nmodule = 'pass.wasm'\n"
    for text, code, line in [
        (good + "[tenants.b]\nmodule = 'missing.wasm'\n", "MODULE_NOT_FOUND", 4),
        (good + "[tenants.b]\n\nmodule = 'bad.wasm'\n", "INVALID_MODULE", 5),
        (good + f"[tenants.b]\nmodule = 'pass.wasm'\nsha256 = '{'0' * 64}'\n", "MODULE_NOT_FOUND", 4),
        (good + "[tenants.b]\nmodule = 'pass.wasm'\nconfig.key = {env = 'NOT_SET_HERE'}\n", "SECRET_UNAVAILABLE", 4),
    ]:
        with pytest.raises(TransformError) as caught:
            tenants_of(tmp_path, text).apply(frame, tenant="tenant_id")
        assert caught.value.code == code
        assert f"tenants.toml:{line} (tenant 'b')" in str(caught.value)
    with pytest.raises(TransformError, match="tenant 'b', module"):
        TenantTransforms({"a": WasmTransform(PASS), "b": WasmTransform(b"junk")}).apply(frame, tenant="tenant_id")


def test_modules_by_digest_from_a_store(frame: DataFrame, tmp_path: Path) -> None:
    digest = hashlib.sha256(PASS).hexdigest()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / f"{digest}.wasm").write_bytes(PASS)
    names = "".join(f"[tenants.{name}]\nmodule = 'sha256:{digest}'\n" for name in "abc")
    out = tenants_of(tmp_path, f"store = 'store'\n{names}").apply(frame, tenant="tenant_id")
    assert out.count() == 10
    (tmp_path / "store" / f"{digest}.wasm").write_bytes(PASS + b"\0\0\0")
    with pytest.raises(TransformError, match="SHA-256"):
        tenants_of(tmp_path, f"store = 'store'\n{names}").apply(frame, tenant="tenant_id")


def test_refused_configuration_does_not_show_the_secret(frame: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET_OF_TESTS", "correct-horse-battery")
    transform = WasmTransform(REFUSE_CONFIG, config={"key": Secret.env("A_SECRET_OF_TESTS")})
    with pytest.raises(TransformError) as caught:
        transform.apply(frame)
    assert caught.value.code == "INIT_REFUSED"
    assert "correct-horse" not in str(caught.value)
    assert caught.value.__cause__ is None
