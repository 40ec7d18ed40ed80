"""The group of commands."""

from importlib.metadata import version

import click

from wasm_host.cli.misuse import OneLineGroup

_COMMANDS = {
    "test": "wasm_host.cli.test",
    "inspect": "wasm_host.cli.inspect",
    "run": "wasm_host.cli.run",
    "bench": "wasm_host.cli.bench",
    "new": "wasm_host.cli.new",
    "build": "wasm_host.cli.build",
    "spark": "wasm_host.cli.spark",
    "demo": "wasm_host.cli.demo",
    "sign": "wasm_host.cli.sign",
    "verify": "wasm_host.cli.verify",
    "completion": "wasm_host.cli.completion",
}


class LazyGroup(OneLineGroup):
    """Imports a command's file when it is asked for: nobody waits for Arrow to read the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order in which a newcomer meets them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """The command of a name."""
        from importlib import import_module

        if cmd_name not in _COMMANDS:
            return None
        command = import_module(_COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="A first run: wasm-host new my_transform --lang zig, then wasm-host build and wasm-host test in it.",
)
@click.version_option(version("wasm-host"), prog_name="wasm-host")
def main() -> None:
    """Test, measure and run WebAssembly transforms of change events, held to limits."""
