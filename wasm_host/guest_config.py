"""A transform's configuration as its guest's `init` gets it: one MessagePack map (SPEC.md, section 8)."""

from collections.abc import Mapping
from typing import Any

import msgpack

from wasm_host.errors import ConfigError

_MAX_DEPTH = 100
_SCALARS = (str, bytes, int, float, type(None))


def encode_config(config: Mapping[str, Any] | None) -> bytes:
    """Write the configuration; an empty map if there is none.

    Raises:
        ConfigError: it is not a map, a key is not a text, or a value is of a kind that guests are not promised.
    """
    if config is not None and not isinstance(config, Mapping):
        raise _refusal(f"is a {type(config).__name__}; allowed is a map")
    plain = _plain(config or {}, depth=0)
    try:
        return bytes(msgpack.packb(plain, use_bin_type=True))
    except (TypeError, ValueError, OverflowError) as error:
        raise _refusal(f"cannot be written as MessagePack: {str(error)[:200]}") from error


def _plain(value: Any, depth: int) -> Any:
    """The value in maps, lists and scalars; MessagePack itself would also take extensions and keys of any type."""
    if depth > _MAX_DEPTH:
        raise _refusal(f"nests deeper than {_MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise _refusal(
                    f"has the key {key!r:.60}, which is of type {type(key).__name__}; allowed as keys are texts"
                )
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    # A named tuple is a list by type only: msgpack's own extension type is one.
    if isinstance(value, list) or type(value) is tuple:
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, _SCALARS):
        return value
    raise _refusal(f"cannot be written as MessagePack: it holds a {type(value).__name__}")


def _refusal(what: str) -> ConfigError:
    return ConfigError(
        f"the configuration {what}",
        hint="use maps with texts as keys, lists, texts, bytes, numbers, booleans and None",
        field="config",
    )
