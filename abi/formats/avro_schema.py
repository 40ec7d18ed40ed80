"""The Avro schema of the canonical Event, and its fingerprint.

Names, types and their order are rustcdc's, so that data written by either side is read by the other; the fingerprint is
taken from Avro's Parsing Canonical Form, in which nothing else counts.
"""

import copy
from functools import lru_cache
from typing import Any

_STRING_OR_NULL = {"type": ["null", "string"], "default": None}

_SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Event",
    "namespace": "io.rustcdc",
    "doc": "The canonical change event, envelope version 1.",
    "fields": [
        {"name": "before", "type": ["null", "bytes"], "default": None, "doc": "Row before the change, UTF-8 JSON."},
        {"name": "after", "type": ["null", "bytes"], "default": None, "doc": "Row after the change, UTF-8 JSON."},
        {
            "name": "op",
            "type": {
                "type": "enum",
                "name": "Operation",
                "namespace": "io.rustcdc",
                "symbols": ["INSERT", "UPDATE", "DELETE", "READ", "SCHEMA_CHANGE", "TRUNCATE"],
            },
        },
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "SourceMetadata",
                "namespace": "io.rustcdc",
                "fields": [
                    {"name": "source_name", "type": "string"},
                    {"name": "offset", "type": "string"},
                    {"name": "timestamp", "type": "long", "doc": "Milliseconds since 1970."},
                ],
            },
        },
        {"name": "ts", "type": "long", "doc": "Milliseconds since 1970."},
        {"name": "schema", **_STRING_OR_NULL},
        {"name": "table", "type": "string"},
        {"name": "primary_key", "type": {"type": "array", "items": "string"}, "default": []},
        {
            "name": "snapshot",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "SnapshotMetadata",
                    "namespace": "io.rustcdc",
                    "fields": [
                        {"name": "snapshot_id", "type": "string"},
                        {"name": "chunk_index", "type": "int"},
                        {"name": "is_last_chunk", "type": "boolean"},
                    ],
                },
            ],
            "default": None,
        },
        {
            "name": "transaction",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "TransactionMetadata",
                    "namespace": "io.rustcdc",
                    "fields": [
                        {"name": "tx_id", "type": "long"},
                        {"name": "total_events", "type": "int"},
                        {"name": "event_index", "type": "int"},
                    ],
                },
            ],
            "default": None,
        },
        {"name": "envelope_version", "type": "int", "default": 1},
        {"name": "before_is_key_only", "type": "boolean", "default": False},
    ],
}


def event_schema() -> dict[str, Any]:
    """Return a fresh copy of the schema."""
    return copy.deepcopy(_SCHEMA)


@lru_cache(maxsize=1)
def event_fingerprint() -> bytes:
    """Return the schema's 64-bit fingerprint (CRC-64-AVRO), as single-object encoding writes it: little-endian."""
    from fastavro.schema import fingerprint, to_parsing_canonical_form

    number = fingerprint(to_parsing_canonical_form(event_schema()), "CRC-64-AVRO")
    return bytes.fromhex(number)
