"""docs/errors.md lists every error class and every failure code, and nothing that does not exist."""

import ast
import importlib
import pickle
import re
from pathlib import Path

import pytest

from abi.errors import EventFailure, TransformError
from abi.failures import FailureCode
from tests.meta.source_tree import PACKAGES, ROOT, module_files, module_name

CATALOGUE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
FAILURES_PART, CALLS_PART = CATALOGUE.split("## Errors of calls")


def defines_an_error(path: Path) -> bool:
    """Whether a class in the file has a base whose name says that it is an error."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bases = [ast.unparse(base) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases]
    return any(base.endswith(("Error", "Refused", "Failure", "Exception")) for base in bases)


def error_classes() -> list[type[TransformError]]:
    """Every class of the tree, wherever in our packages it is defined."""
    for package in PACKAGES:
        for path in module_files(package):
            if defines_an_error(path):
                importlib.import_module(module_name(path))
    found: list[type[TransformError]] = []
    waiting: list[type[TransformError]] = [TransformError]
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting.extend(kind.__subclasses__())
    return sorted(
        {kind for kind in found if kind.__module__.partition(".")[0] in PACKAGES}, key=lambda kind: kind.__name__
    )


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_failure_code_is_catalogued_once_and_in_order() -> None:
    assert [row[0].strip("`") for row in rows(FAILURES_PART)] == [code.value for code in FailureCode]


def test_every_error_class_is_catalogued_once_with_its_code() -> None:
    listed = sorted((row[1].strip("`"), row[0].strip("`")) for row in rows(CALLS_PART))
    assert listed == sorted((kind.__name__, kind.code) for kind in error_classes())


def test_every_row_says_cause_fix_and_whether_a_retry_helps() -> None:
    for row in rows(FAILURES_PART):
        assert len(row) == 3, row
        assert all(len(cell) > 10 for cell in row[1:]), row
    for row in rows(CALLS_PART):
        assert len(row) == 5, row
        assert all(len(cell) > 10 for cell in row[2:4]), row
        assert row[4] in {"no", "**yes**"}, row


def test_codes_are_unique_and_upper_snake_case() -> None:
    codes = [kind.code for kind in error_classes()]
    assert len(set(codes)) == len(codes)
    # A native transform's failure is the event's failure, under the same code.
    assert set(codes) & set(FailureCode) == {EventFailure.code}
    assert all(re.fullmatch(r"[A-Z]+(_[A-Z]+)*", code) for code in [*codes, *FailureCode])


def test_catalogue_names_the_limit_that_decided() -> None:
    for row in rows(FAILURES_PART):
        field = FailureCode(row[0].strip("`")).limit_field
        assert field is None or field in row[1] + row[2], row[0]


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
def test_error_survives_pickling_and_says_its_code(kind: type[TransformError]) -> None:
    error = kind("seen 2; allowed is 1", hint="change it", limit=1)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, again.hint, again.details) == (kind, error.message, error.hint, {"limit": 1})
    assert str(again) == f"[{kind.code}] seen 2; allowed is 1; hint: change it"
    assert "code" in vars(kind), "each class has a code of its own"
