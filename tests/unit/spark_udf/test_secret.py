import pickle
from pathlib import Path

import pytest

from spark_udf.errors import SecretUnavailableError
from spark_udf.secret import REDACTED, Secret, SecretValues, find_secrets

VALUE = "hunter2-hunter2-hunter2"


def test_values_fill_a_configuration_and_are_not_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("A_KEY", VALUE)
    (tmp_path / "k").write_text("from a file\n")
    config = {"key": Secret.env("A_KEY"), "list": [{"deep": Secret.file(tmp_path / "k")}], "plain": 1}
    values = SecretValues.read_all(find_secrets(config))
    assert values.fill(config) == {"key": VALUE, "list": [{"deep": "from a file"}], "plain": 1}
    assert VALUE not in repr(values)
    assert VALUE not in repr(config)
    assert pickle.loads(pickle.dumps(values)).fill(config["key"]) == VALUE


def test_guest_text_is_searched_for_values() -> None:
    values = SecretValues({Secret.env("A"): VALUE, Secret.env("B"): "line\nbreak"})
    assert values.redact(f"the key is {VALUE}!") == f"the key is {REDACTED}!"
    assert values.redact("it is line\\nbreak") == f"it is {REDACTED}"
    assert values.redact("nothing here") == "nothing here"


def test_value_that_was_cut_off_at_the_end_of_a_text_is_found() -> None:
    values = SecretValues({Secret.env("A"): VALUE})
    assert VALUE[:12] not in values.redact(f"a long message that ends with {VALUE[:12]}")
    assert VALUE[:12] not in values.redact(f"a long message that ends with {VALUE[:12]}…")


def test_missing_secrets_are_named_without_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SecretUnavailableError, match=r"environment variable 'NOT_SET_ANYWHERE'.*export"):
        Secret.env("NOT_SET_ANYWHERE").read()
    with pytest.raises(SecretUnavailableError, match="cannot be read on the driver"):
        Secret.file(tmp_path / "nothing").read()
    monkeypatch.setenv("EMPTY_KEY", "")
    with pytest.raises(SecretUnavailableError, match="is empty"):
        Secret.env("EMPTY_KEY").read()
    (tmp_path / "binary").write_bytes(b"\xff\xfe secret")
    with pytest.raises(SecretUnavailableError) as caught:
        Secret.file(tmp_path / "binary").read()
    assert caught.value.__cause__ is None
    assert "xff" not in str(caught.value)
