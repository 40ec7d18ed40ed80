"""Keep an event that was found to fail, as a case that shows it again."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

from abi import Event
from wasm_host.errors import ConfigError
from wasm_host.harness.subject import Configuration

_IMAGES = ("before", "after")


def save_found_case(
    folder: Path | None,
    name: str,
    problem: str,
    config: Configuration,
    event: bytes,
    expect: dict[str, Any] | None = None,
) -> str | None:
    """Write the case file and return its path; None when nothing is to be kept.

    Raises:
        ConfigError: the file cannot be written.
    """
    if folder is None:
        return None
    document = {
        "description": f"Found by the harness ({name}): {problem}",
        "config": encode_config_value(dict(config)),
        "events": [{"input": input_of(event), "expect": expect or {"answered": True}}],
    }
    slug = "-".join(name.split())
    path = folder / f"found-{slug}-{hashlib.sha256(event).hexdigest()[:8]}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}", hint="choose another folder with --save") from error
    return str(path)


def input_of(event: bytes) -> dict[str, Any]:
    """An event as people write it in a case; in base64 where that form would not give the same bytes back."""
    try:
        message = Event.FromString(event)
        members: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
        for name in _IMAGES:
            if message.HasField(name):
                members[name] = getattr(message, name).decode()
        if message.attributes:
            members["attributes"] = {key: message.attributes[key].decode() for key in sorted(message.attributes)}
    except (DecodeError, UnicodeDecodeError):
        return {"base64": base64.b64encode(event).decode()}
    message.DiscardUnknownFields()
    if message.SerializeToString(deterministic=True) != event:
        return {"base64": base64.b64encode(event).decode()}
    return members


def encode_config_value(value: Any) -> Any:
    """A configuration in JSON; bytes as the case format writes them."""
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: encode_config_value(item) for key, item in value.items()}
    return [encode_config_value(item) for item in value] if isinstance(value, list | tuple) else value
