"""Which examples there are, in which languages, and where their modules and twins are."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from abi import Event

NAMES = (
    "drop_all",
    "explode_cascade",
    "filter_rows",
    "flatten",
    "mask_pii",
    "outbox",
    "pass_through",
    "project_columns",
    "rename_fields",
    "route",
    "tenant_guard",
)
LANGUAGES = ("wat", "zig", "c", "rust", "as", "go")

_FOLDER = Path(__file__).resolve().parent
_WAT_BY_DEFAULT = ("drop_all", "pass_through")


class Twin(Protocol):
    """A module with the native twin of an example."""

    def build(self, config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
        """Read a configuration and give the transform; raises `abi.ConfigRefused`."""
        ...


def path(name: str, lang: str | None = None) -> Path:
    """Where the built module of an example is, whether or not it has been built.

    Without a language this is the default build: WAT for the two smallest, Zig for the others.

    Raises:
        ValueError: there is no such example or language.

    >>> path("mask_pii").name, path("mask_pii", "rust").name
    ('mask_pii.wasm', 'mask_pii.rust.wasm')
    """
    if name not in NAMES:
        raise ValueError(f"no example called {name!r}; there are {', '.join(NAMES)}")
    default = "wat" if name in _WAT_BY_DEFAULT else "zig"
    if lang is None or lang == default:
        return _FOLDER / name / f"{name}.wasm"
    if lang not in LANGUAGES:
        raise ValueError(f"no language called {lang!r}; there are {', '.join(LANGUAGES)}")
    return _FOLDER / name / f"{name}.{lang}.wasm"


def languages_of(name: str) -> tuple[str, ...]:
    """The languages for which a built module of the example is here."""
    return tuple(lang for lang in LANGUAGES if path(name, lang).exists())


def load_wasm(name: str, lang: str | None = None) -> bytes:
    """The bytes of a built module.

    Raises:
        ValueError: there is no such example or language.
        FileNotFoundError: the example has not been built in that language.
    """
    return path(name, lang).read_bytes()


def twin(name: str) -> Twin:
    """The native twin of an example.

    Raises:
        ValueError: there is no such example.
    """
    path(name)
    return cast(Twin, importlib.import_module(f"guest_examples.{name}.twin"))
