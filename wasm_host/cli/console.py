"""Where text goes: colours and width on a terminal, plain lines everywhere else; `NO_COLOR` holds."""

import sys

from rich.console import Console
from rich.text import Text


def out() -> Console:
    """The standard output. Nothing is read as markup: module names and guest texts are strangers' words."""
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


def err() -> Console:
    """The standard error, for progress."""
    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def is_unicode(console: Console) -> bool:
    """Whether a tick can be written."""
    return "utf" in (console.encoding or "").lower()


def mark(console: Console, status: str) -> Text:
    """A tick, a cross or a dash."""
    signs = {"pass": ("✓", "ok", "green"), "fail": ("✗", "FAIL", "bold red"), "skip": ("-", "-", "dim")}
    sign, plain, style = signs[status]
    return Text(sign if is_unicode(console) else plain, style=style)
