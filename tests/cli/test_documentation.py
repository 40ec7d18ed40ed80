"""docs/cli.md names every command and every option, and none that does not exist."""

import re
from pathlib import Path

import click
import pytest

from wasm_host.cli import main

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
# Described on the page about trust, not here.
ELSEWHERE = {"sign", "verify"}
CONTEXT = click.Context(main)
COMMANDS = {name: main.get_command(CONTEXT, name) for name in main.list_commands(CONTEXT)}


def options_of(command: click.Command | None) -> set[str]:
    assert command is not None
    options = {option for parameter in command.params for option in parameter.opts}
    return {option for option in options if option.startswith("--")} - {"--help"}


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - ELSEWHERE))
def test_every_command_and_option_is_described(name: str) -> None:
    assert f"wasm-host {name}" in TEXT
    missing = [option for option in options_of(COMMANDS[name]) if not re.search(rf"{option}(?![a-z-])", TEXT)]
    assert missing == []


def test_every_option_that_is_named_exists() -> None:
    known = {option for command in COMMANDS.values() for option in options_of(command)} | {"--help", "--wasm-module"}
    assert set(re.findall(r"--[a-z][a-z-]*", TEXT)) <= known
