"""The README's first screen is true: its example runs, and what it prints is what the text says."""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_example_runs_and_prints_what_the_text_says() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    promised = re.search(r"prints `(.*?)`:", README)
    assert code is not None
    assert promised is not None
    assert len(code[1].strip().splitlines()) <= 15
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code[1], "README.md", "exec"), {})
    assert output.getvalue().strip() == promised[1]


def test_make_targets_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z-]+)\b(?=[ `])", README))
    assert {"demo", "test"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target} is not a target"


def test_files_that_are_named_exist() -> None:
    for path in re.findall(r"`((?:docs|abi)/[A-Za-z_/]+\.md)`", README):
        assert (ROOT / path).is_file(), path
