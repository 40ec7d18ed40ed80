from pathlib import Path

import pytest

from spark_udf.errors import TenantsFileError
from spark_udf.secret import Secret
from spark_udf.tenants_file import TenantsFile, read_tenants_file
from wasm_host import Limits

DIGEST = "ab" * 32


def read(folder: Path, text: str) -> TenantsFile:
    path = folder / "tenants.toml"
    path.write_text(text)
    return read_tenants_file(path)


def refused(folder: Path, text: str) -> TenantsFileError:
    with pytest.raises(TenantsFileError) as caught:
        read(folder, text)
    return caught.value


def test_defaults_are_filled_in_and_overridden(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """
tenant = "tenant_id"
unknown = "drop"
[defaults]
module = "a.wasm"
on_error = "dead_letter"
config = { shared = 1, changed = 2 }
limits = { fuel_per_event = 5000 }
[tenants.one]
config.changed = 3
[tenants.two]
module = "b.wasm"
on_error = "drop"
limits = { max_tables = 1 }
""",
    )
    assert (content.unknown, content.tenant) == ("drop", "tenant_id")
    one, two = content.tenants["one"], content.tenants["two"]
    assert one.on_error == "dead_letter"
    assert one.steps[0].config == {"shared": 1, "changed": 3}
    assert one.steps[0].limits == Limits(fuel_per_event=5000)
    assert one.steps[0].module == tmp_path / "a.wasm"
    assert two.on_error == "drop"
    assert two.steps[0].module == tmp_path / "b.wasm"
    assert two.steps[0].limits == Limits(fuel_per_event=5000, max_tables=1)


def test_chain_takes_paths_and_tables(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """
[defaults]
config = { for_single_modules = true }
limits = { fuel_per_event = 5000 }
[tenants.t]
chain = ["a.wasm", { module = "b.wasm", config = { x = 1 }, limits = { max_tables = 2 } }]
""",
    )
    first, second = content.tenants["t"].steps
    assert (first.module, dict(first.config)) == (tmp_path / "a.wasm", {})
    assert (second.module, dict(second.config)) == (tmp_path / "b.wasm", {"x": 1})
    assert second.limits == Limits(fuel_per_event=5000, max_tables=2)


def test_modules_by_name_and_by_digest(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        f"""
store = "store"
[modules.mask]
path = "m/mask.wasm"
sha256 = "{DIGEST}"
[tenants]
by_name = {{ module = "mask" }}
by_digest = {{ module = "sha256:{DIGEST}" }}
from_store = {{ module = "{"cd" * 32}" }}
""",
    )
    steps = {name: entry.steps[0] for name, entry in content.tenants.items()}
    assert steps["by_name"].module == tmp_path / "m/mask.wasm"
    assert steps["by_name"].sha256 == DIGEST
    assert steps["by_digest"].module == tmp_path / "m/mask.wasm"
    assert steps["from_store"].module == tmp_path / "store" / f"{'cd' * 32}.wasm"
    assert steps["from_store"].sha256 == "cd" * 32


def test_secrets_are_references_that_are_not_read(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """
[tenants.t]
module = "a.wasm"
config = { key = { env = "NOT_SET_ANYWHERE" }, deep = [{ file = "k.txt" }] }
""",
    )
    config = content.tenants["t"].steps[0].config
    assert config == {"key": Secret.env("NOT_SET_ANYWHERE"), "deep": [Secret.file(tmp_path / "k.txt")]}


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a = \n", 1, "not TOML"),
        ("\n\n[tenants.t]\nmodule = 'a'\nmodul = 'b'\n", 5, "tenants.t.modul is not known; allowed here are chain,"),
        ("[tenants.t]\nmodule = 'a'\non_error = 'explode'\n", 3, "tenants.t.on_error is 'explode'; allowed are 'fail'"),
        ("unknown = 'maybe'\n[tenants.t]\nmodule='a'\n", 1, "unknown is 'maybe'"),
        ("[tenants.t]\nmodule = 'a'\n[tenants.t.limits]\n\nfuel_per_event = 0\n", 5, "fuel_per_event is 0; allowed"),
        ("[tenants.t]\nmodule = 'a'\nlimits = { fuel = 5 }\n", 3, "unknown limit 'fuel'"),
        ("[defaults.limits]\nmax_tables = -1\n[tenants.t]\nmodule = 'a'\n", 2, "defaults.limits.max_tables"),
        ("[tenants.t]\nmodule = 'a'\nconfig.when = 2024-01-01\n", 3, "tenants.t.config.when is a date"),
        ("[tenants.t]\nconfig = {}\n", 1, "tenants.t has no module"),
        ("[tenants.t]\nmodule = 7\n", 2, "tenants.t.module is a number; allowed is text"),
        (f"[tenants.t]\nmodule = 'sha256:{DIGEST}'\n", 2, "is a digest, but no entry of [modules] has it"),
        ("[tenants.t]\nmodule = 'a'\nsha256 = 'abc'\n", 3, "is not a SHA-256"),
        ("[tenants.t]\nchain = []\n", 2, "allowed is a list of at least one step"),
        ("[tenants.t]\nchain = ['a']\nmodule = 'b'\n", 3, "tenants.t.module beside a chain"),
        ("[tenants.t]\nchain = [\n  'a',\n  { modul = 'b' },\n]\n", 4, "tenants.t.chain[1].modul is not known"),
        ("[tenants.t]\nmodule = 'a'\nisolation = 'none'\n", 3, "isolation is 'none'"),
        ("[tenants.t]\nmodule = 'a'\nwasi = 1\n", 3, "wasi is a number; allowed is true or false"),
        ("version = 2\n", 1, "this package reads version 1"),
        ("tenant = 'x'\n", 1, "no tenants"),
    ],
    ids=lambda value: value if isinstance(value, int) else None,
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, line: int, part: str) -> None:
    error = refused(tmp_path, text)
    assert error.code == "TENANTS_FILE_ERROR"
    assert error.details["line"] == line
    assert error.message.startswith(f"{tmp_path / 'tenants.toml'}:{line}: ")
    assert part in error.message
    assert "\n" not in str(error)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TenantsFileError, match=r"nowhere\.toml: cannot be read"):
        read_tenants_file(tmp_path / "nowhere.toml")
