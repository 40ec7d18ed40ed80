"""What the examples' pages say is true: their configurations are taken, and every example has a page."""

import json
from pathlib import Path

import pytest

from guest_examples import NAMES, twin
from guest_examples.toolchains import EXAMPLES
from wasm_host.cases import load_case, run_case
from wasm_host.native import Pipeline


@pytest.mark.parametrize("name", NAMES)
def test_configuration_in_the_readme_is_taken(name: str) -> None:
    text = (EXAMPLES / name / "README.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```json\n")[1:]]
    assert blocks or "No configuration." in text
    for block in blocks:
        assert callable(twin(name).build(json.loads(block)))


@pytest.mark.parametrize("name", NAMES)
def test_example_is_described_in_the_semantics(name: str) -> None:
    headings = [
        line for line in (EXAMPLES / "sdk" / "SEMANTICS.md").read_text().splitlines() if line.startswith("### ")
    ]
    assert any(name in heading for heading in headings)


def test_example_in_cases_page_is_a_case(tmp_path: Path) -> None:
    text = (EXAMPLES / "CASES.md").read_text().split("```json\n")[1].split("```")[0]
    file = tmp_path / "page.json"
    file.write_text(text)
    assert run_case(load_case(file), lambda config: Pipeline([twin("mask_pii").build(config)])) == []
