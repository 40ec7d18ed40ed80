"""What commands read from the caller's files: the module, a configuration, limits."""

import functools
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgpack

from wasm_host.admission import read_module
from wasm_host.cli.misuse import refuse
from wasm_host.limits import Limits

_MAGIC = b"\0asm"
_CORE_LAYER = b"\0\0"
_MAX_CONFIG_BYTES = 16 << 20
Command = TypeVar("Command", bound=Callable[..., Any])


def read_wasm(path: Path, limits: Limits) -> bytes:
    """Read a module, and say at once when the file cannot be one.

    Raises:
        click.UsageError: missing, a directory, unreadable, empty, a component, or no WebAssembly at all.
        ModuleTooLargeError: over the limit.
    """
    if path.is_dir():
        refuse(f"{path} is a directory", "give the .wasm file in it")
    if not path.exists():
        refuse(f"no file {path}", "give the path of a .wasm file")
    wasm = read_module(path, limits)
    if not wasm:
        refuse(f"{path} is empty", "the build wrote no bytes; build it again")
    if wasm.startswith(_MAGIC) and wasm[6:8] not in (_CORE_LAYER, b""):
        refuse(f"{path} is a component", "build a core module, for example for wasm32-unknown-unknown")
    if not wasm.startswith(_MAGIC):
        is_text = wasm.lstrip().startswith(b"(")
        kind = "WebAssembly text" if is_text else f"not WebAssembly (it begins with {wasm[:8].hex(' ')})"
        refuse(f"{path} is {kind}", "assemble it first (wasmtime.wat2wasm)" if is_text else "give a .wasm file")
    return wasm


def read_config(path: Path | None) -> dict[str, Any]:
    """Read a configuration: TOML, JSON or MessagePack, by the file's name; an empty map when there is none.

    Raises:
        click.UsageError: unreadable, of an unknown kind, malformed, or no map.
    """
    if path is None:
        return {}
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        refuse(f"{path}: cannot tell its kind from the name", f"name it {', '.join(_PARSERS)}")
    try:
        if path.stat().st_size > _MAX_CONFIG_BYTES:
            refuse(f"{path} has {path.stat().st_size:,} bytes", f"at most {_MAX_CONFIG_BYTES:,} are read")
        content = path.read_bytes()
    except OSError as error:
        refuse(f"cannot read {path}: {error.strerror}", "give a readable file")
    try:
        values = parse(content)
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        refuse(f"{path} is no {path.suffix[1:].upper()}: {reason}", "correct the file")
    if not isinstance(values, dict):
        refuse(f"{path} holds a {type(values).__name__}", "its top level must be a map")
    return values


_PARSERS: dict[str, Callable[[bytes], Any]] = {
    ".toml": lambda content: tomllib.loads(content.decode()),
    ".json": json.loads,
    ".msgpack": functools.partial(msgpack.unpackb, raw=False, strict_map_key=True),
}


def read_limits(path: Path | None) -> Limits:
    """Read limits; the defaults when there is no file.

    Raises:
        click.UsageError: the file cannot be read.
        ConfigError: it names an unknown limit, or a value is out of range.
    """
    return Limits.from_mapping(read_config(path))


def module_options(*, is_module_required: bool = True) -> Callable[[Command], Command]:
    """The argument and options of every command that loads a module."""
    file = click.Path(path_type=Path)
    parameters = (
        click.option("--wasi", is_flag=True, help="Offer the deterministic WASI stub, which Go's modules need."),
        click.option("--limits", "limits_file", type=file, metavar="FILE", help="Limits (TOML or JSON)."),
        click.option(
            "--config", "config_file", type=file, metavar="FILE", help="The transform's configuration (TOML, JSON)."
        ),
        click.argument("module", type=file, required=is_module_required),
    )

    def add(command: Command) -> Command:
        for parameter in parameters:
            command = parameter(command)
        return command

    return add
