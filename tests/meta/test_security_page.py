"""docs/security.md lists every limit with its true default."""

import re
from dataclasses import fields
from pathlib import Path

from wasm_host import Limits

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_limit_is_listed_with_its_default() -> None:
    listed = {
        name: int(value.replace(",", "")) for name, value in re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", PAGE, re.M)
    }
    assert listed == {field.name: field.default for field in fields(Limits)}
