"""JSON Schemas (draft 2020-12), made from the same types that read the documents, so that the two cannot differ."""

from typing import Any

import msgspec


def schema_of(kind: type, title: str) -> dict[str, Any]:
    """Return the JSON Schema of the documents that a type reads; sub-documents kept raw may be any value."""
    schema = msgspec.json.schema(kind, schema_hook=_any_value)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | schema


def _any_value(kind: type) -> dict[str, Any]:
    if kind is msgspec.Raw:
        return {}
    raise NotImplementedError(f"no JSON Schema for {kind.__name__}")
