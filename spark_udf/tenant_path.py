"""Finds the tenant inside the event, for sources that have no tenant column.

This reads every event once in Python (about a microsecond), so a column is the better choice where there is one. An
event that cannot be read, or has nothing at the path, belongs to no tenant and is treated as unknown: deny by default.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
from google.protobuf.message import DecodeError

from abi import Event
from wasm_host.errors import ConfigError

_FIELDS = ("schema", "table", "source.source_name")
_ROOTS = ("after", "attributes", "before", "row")


@dataclass(frozen=True, slots=True)
class TenantPath:
    """A place in the event: `schema`, `table`, `source.source_name`, `attributes.NAME`, or a path into a row image.

    A row image is `after`, `before`, or `row`, which is `after` where there is one and else `before`: deletes have
    only the latter.
    """

    root: str
    keys: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "TenantPath":
        """Read a path.

        Raises:
            ConfigError: it is not one.

        >>> TenantPath.parse("after.tenant_id")
        TenantPath(root='after', keys=('tenant_id',))
        """
        if text in _FIELDS:
            return cls(text, ())
        root, *keys = text.split(".")
        if root not in _ROOTS or not keys or not all(keys):
            raise ConfigError(
                f"tenant is {text!r}, which is neither a column nor a path into the event; paths are "
                f"{', '.join(_FIELDS)}, and {', '.join(f'{root}.NAME' for root in _ROOTS)}",
                hint="name a column of text or whole numbers, or one of these paths",
            )
        return cls(root, tuple(keys))

    def extract(self, events: pa.Array) -> pa.Array:
        """The tenant of each event, null where there is none."""
        return pa.array([self._of(event) for event in events.to_pylist()], pa.string())

    def _of(self, data: bytes | None) -> str | None:
        if data is None:
            return None
        try:
            event = Event.FromString(data)
        except DecodeError:
            return None
        if self.root == "schema":
            return event.schema if event.HasField("schema") else None
        if self.root == "table":
            return event.table or None
        if self.root == "source.source_name":
            return event.source.source_name or None
        if self.root == "attributes":
            return _text(event.attributes.get(".".join(self.keys)))
        return self._in_image(event)

    def _in_image(self, event: Event) -> str | None:
        if self.root == "row":
            image = event.after if event.HasField("after") else event.before
        else:
            image = event.after if self.root == "after" else event.before
        try:
            value: Any = msgspec.json.decode(image)
        except msgspec.DecodeError:
            return None
        for key in self.keys:
            if not isinstance(value, dict):
                return None
            value = value.get(key)
        if isinstance(value, str):
            return value
        # Booleans are integers in Python, but nobody's name.
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
