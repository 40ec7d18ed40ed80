"""SPEC.md says what the code says: names, types, codes, limits, and every byte it shows."""

import re
from dataclasses import fields
from importlib import resources

import pytest

from abi.failures import FailureCode
from abi.names import GUEST_EXPORTS, HOST_IMPORTS, LOG_LEVELS, MAX_METRIC_NAME_BYTES, MEMORY_EXPORT, Symbol
from tests.vectors import load_vectors
from wasm_host.limits import Limits

SPEC = resources.files("abi").joinpath("SPEC.md").read_text(encoding="utf-8")


def section(number: int) -> str:
    match = re.search(rf"^## {number}\. .*?(?=^## |\Z)", SPEC, re.MULTILINE | re.DOTALL)
    assert match, f"no section {number}"
    return match[0]


def entries(number: int) -> dict[str, str]:
    """Heading to text of each function described in a section."""
    parts = re.split(r"^### `([^`]+)`$", section(number), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|---")][1:]


def test_each_guest_export_has_one_entry() -> None:
    assert list(entries(2)) == [symbol.name for symbol in GUEST_EXPORTS]


def test_each_host_import_has_one_entry() -> None:
    assert list(entries(3)) == [symbol.name for symbol in HOST_IMPORTS]


@pytest.mark.parametrize("symbol", [*GUEST_EXPORTS, *HOST_IMPORTS], ids=lambda symbol: symbol.name)
def test_entry_gives_the_signature_and_every_part(symbol: Symbol) -> None:
    text = (entries(2) | entries(3))[symbol.name]
    assert f"- **Signature:** `{symbol.signature}`" in text
    for part in ("- **Called:**", "must** ", "- **Outcomes:**"):
        assert text.count(part) >= 1, part


def test_table_of_exports_says_which_are_required() -> None:
    rows = {name.strip("`"): (type_, required) for name, type_, required in table_rows(section(2).split("###")[0])}
    assert rows.pop(MEMORY_EXPORT)[1] == "yes"
    assert rows == {s.name: (f"`{s.signature}`", "yes" if s.required else "no") for s in GUEST_EXPORTS}


def test_table_of_failure_codes_is_the_enum() -> None:
    text = section(9).split("### 9.2")[1].split("### 9.3")[0]
    shown = [(code.strip("`"), meaning, limit.strip("`") or None) for code, meaning, limit in table_rows(text)]
    assert shown == [(code.value, code.meaning, code.limit_field) for code in FailureCode]


def test_table_of_limits_is_the_dataclass() -> None:
    shown = [(name.strip("`"), int(default.replace(",", ""))) for name, default, _ in table_rows(section(10))]
    assert shown == [(field.name, field.default) for field in fields(Limits)]


def test_each_limit_of_a_failure_code_is_a_field_of_limits() -> None:
    names = {field.name for field in fields(Limits)}
    assert {code.limit_field for code in FailureCode} - {None} <= names


def test_log_levels_and_name_length_are_those_of_the_code() -> None:
    assert ", ".join(f"{number} {name}" for number, name in LOG_LEVELS.items()) in section(3)
    assert f"at most {MAX_METRIC_NAME_BYTES} bytes" in section(3)


def test_every_byte_shown_comes_from_a_vector() -> None:
    blocks = re.findall(r"^```vector (\w+) (\w+)\n(.*?)^```$", SPEC, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 7
    for file, name, body in blocks:
        known = {(vector["hex"], vector["desc"]) for vector in load_vectors(file)[name]}
        for line in body.splitlines():
            digits, _, description = line.partition("  ")
            assert (digits, description) in known, line


def test_no_bytes_are_shown_outside_of_vector_blocks() -> None:
    rest = re.sub(r"^```vector .*?^```$", "", SPEC, flags=re.MULTILINE | re.DOTALL)
    assert "```" not in rest
    assert re.findall(r"\b(?=[0-9a-f]*[0-9])(?:[0-9a-f]{2} ?){3,}\b", rest) == []


def test_links_inside_the_spec_lead_somewhere() -> None:
    headings = re.findall(r"^##+ (.+)$", SPEC, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", SPEC)) <= anchors
