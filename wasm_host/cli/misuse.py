"""Bad usage is one line on the standard error and exit status 2; nobody is shown a traceback for a typing mistake."""

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from abi import TransformError
from wasm_host.cli.errors import CommandFailedError

EXIT_FAILED = 1
EXIT_MISUSE = 2
EXIT_INTERRUPTED = 130


def refuse(message: str, hint: str | None = None) -> NoReturn:
    """End the command: what was seen, and what to do instead."""
    raise click.UsageError(f"{message}; {hint}" if hint else message)


class OneLineGroup(click.Group):
    """A group whose errors fit on one line."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and end the process with its status."""
        try:
            status = super().main(args, prog_name or "wasm-host", complete_var, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            status = EXIT_MISUSE
        except click.ClickException as error:
            status = _say(error.format_message(), _context_of(error), EXIT_MISUSE)
        except CommandFailedError as error:
            status = _say(str(error), None, EXIT_FAILED)
        except TransformError as error:
            status = _say(str(error), None, EXIT_MISUSE)
        except (KeyboardInterrupt, click.Abort):
            status = _say("interrupted", None, EXIT_INTERRUPTED)
        except BrokenPipeError:
            # The reader of our output went away; what Python would still flush at exit has nowhere to go.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = EXIT_FAILED
        if not standalone_mode:
            return status
        sys.exit(status if isinstance(status, int) else 0)


def _context_of(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return context.command_path if isinstance(context, click.Context) else None


def _say(message: str, command: str | None, status: int) -> int:
    line = " ".join(message.split())
    click.echo(f"{command or 'wasm-host'}: {line}", err=True)
    return status
