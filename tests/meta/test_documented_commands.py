"""Every command that the documentation names exists: make targets, modules, subcommands and options of `wasm-host`."""

import importlib.util
import re
import shlex
from pathlib import Path

import click
import pytest

from wasm_host.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "abi" / "SPEC.md"]
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands_of(page: Path) -> list[str]:
    """What stands in code: between backticks on a line, in fenced blocks, and in indented ones."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.splitlines()]
    lines += [line for line in prose.splitlines() if line.startswith("    ")]
    lines += re.findall(r"`([^`\n]+)`", prose)
    return [line.strip().removeprefix("$ ").partition("  #")[0].partition(" # ")[0] for line in lines]


def named(pattern: str) -> list[tuple[str, str]]:
    """Page and match of all commands that begin with a pattern."""
    found = {
        (page.name, match[1])
        for page in PAGES
        for command in commands_of(page)
        if (match := re.match(pattern, command))
    }
    return sorted(found)


@pytest.mark.parametrize(("page", "target"), named(r"make ([a-z][a-z-]*)\b"))
def test_make_target_exists(page: str, target: str) -> None:
    assert target in TARGETS, f"{page} names `make {target}`; the Makefile has {', '.join(sorted(TARGETS))}"


@pytest.mark.parametrize(("page", "module"), named(r"(?:\.venv/bin/)?python3? -m ([a-z_][a-z_.0-9]*)"))
def test_module_exists(page: str, module: str) -> None:
    assert importlib.util.find_spec(module) is not None, f"{page} names `python -m {module}`"


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line.partition("|")[0])
    except ValueError:
        return line.split()


@pytest.mark.parametrize(("page", "line"), named(r"wasm-host ([a-z].*)"))
def test_subcommand_and_its_options_exist(page: str, line: str) -> None:
    words = _words(line)
    context = click.Context(main)
    command: click.Command | None = main.get_command(context, words[0])
    assert command is not None, (
        f"{page} names `wasm-host {words[0]}`; there are {', '.join(main.list_commands(context))}"
    )
    while isinstance(command, click.Group) and len(words) > 1 and not words[1].startswith("-"):
        words = words[1:]
        command = command.get_command(context, words[0])
        assert command is not None, f"{page} names `wasm-host … {words[0]}`"
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for word in words[1:]:
        option = word.partition("=")[0]
        if re.fullmatch(r"--[a-z-]+", option):
            assert option in known | {"--help"}, f"{page}: {option} is no option of `wasm-host {command.name}`"


def test_pages_name_commands_of_every_kind() -> None:
    # Otherwise the tests above hold nothing.
    assert named(r"make ([a-z][a-z-]*)\b")
    assert named(r"wasm-host ([a-z].*)")
