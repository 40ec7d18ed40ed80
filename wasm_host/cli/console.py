"""Where text goes: colours and width on a terminal, plain lines everywhere else; `NO_COLOR` holds."""

import os
import sys
from typing import Literal, TextIO

from rich.console import Console
from rich.text import Text


def out() -> Console:
    """The standard output. Nothing is read as markup: module names and guest texts are strangers' words."""
    return _console(sys.stdout)


def err() -> Console:
    """The standard error, for progress."""
    return _console(sys.stderr)


def _console(file: TextIO) -> Console:
    # Without a colour system there is no bold and no italic either: who says NO_COLOR wants plain text.
    system: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(file=file, color_system=system, highlight=False, markup=False, emoji=False, soft_wrap=True)


def is_unicode(console: Console) -> bool:
    """Whether a tick can be written."""
    return "utf" in (console.encoding or "").lower()


def mark(console: Console, status: str) -> Text:
    """A tick, a cross or a dash."""
    signs = {"pass": ("✓", "ok", "green"), "fail": ("✗", "FAIL", "bold red"), "skip": ("-", "-", "dim")}
    sign, plain, style = signs[status]
    return Text(sign if is_unicode(console) else plain, style=style)
