"""`wasm-host completion`: the script that teaches a shell the commands, options and files."""

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_WASM_HOST_COMPLETE"


@click.command("completion", epilog='Example, in ~/.bashrc: eval "$(wasm-host completion bash)"')
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL."""
    completion = get_completion_class(shell)
    assert completion is not None, "click knows these three"
    click.echo(completion(context.find_root().command, {}, "wasm-host", _VARIABLE).source())
