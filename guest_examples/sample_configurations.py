"""Configurations that exercise every part of each example: for tests, benchmarks and as a start for one's own."""

from typing import Any

Configuration = dict[str, Any]

_HMAC_KEY = "a key of enough bytes"

ACCEPTED: dict[str, list[Configuration]] = {
    "pass_through": [{}],
    "drop_all": [{}],
    "mask_pii": [
        {"rules": [{"path": "email", "action": "redact"}, {"path": "contact.email", "action": "redact"}]},
        {
            "rules": [
                {"path": "email", "action": "hash"},
                {"path": "contact.*", "action": "hmac"},
                {"path": "emails.*", "action": "keep_last", "n": 4},
                {"path": "note", "action": "truncate", "n": 3},
                {"path": "id", "action": "null"},
                {"path": "name", "action": "redact", "marker": 'hidden "é"\n\x01'},
            ],
            "hmac_key": _HMAC_KEY,
        },
        {
            "default": {"action": "redact"},
            "rules": [{"path": "id", "action": "keep"}, {"path": "tags", "action": "keep"}],
        },
        {
            "default": {"action": "keep_last", "n": 0},
            "rules": [
                {"path": "contact", "action": "keep"},
                {"path": "contact.email", "action": "hash"},
                {"path": "contact.*", "action": "truncate", "n": 1},
                {"path": "*.x", "action": "null"},
            ],
        },
        {"rules": [{"path": "*", "action": "hash"}]},
        {"rules": [{"path": "*.*", "action": "hmac"}, {"path": "*", "action": "keep"}], "hmac_key": b"\x00" * 80},
        {"default": {"action": "truncate", "n": 2}, "remove_attributes": ["cdc.event_id", "app.note"]},
        {
            "rules": [
                {"path": r"a\.b", "action": "redact"},
                {"path": "ünï", "action": "keep_last", "n": 2},
                {"path": r"*.\*", "action": "hash"},
            ]
        },
    ],
    "filter_rows": [
        {},
        {"operations": ["CREATE", "UPDATE"], "entities": ["users", "public.audit_*", "User"]},
        {"exclude_operations": ["DELETE", "TRUNCATE"], "exclude_entities": ["acme.*", "Post"]},
        {"tenants": ["acme", "tenant-123"], "triggers": ["api_*", "admin_action"]},
        {"tenants": ["acme"], "tenant_field": "tenant_id"},
        {"tenants": ["acme"], "tenant_field": "event:schema"},
        {"changed_fields": ["status", "email", "name"]},
        {"where": {"field": "amount", "op": ">=", "value": {"decimal": "99.5"}}},
        {"where": {"field": "before:amount", "op": "<", "value": 9007199254740993}},
        {
            "where": {
                "any": [
                    {
                        "all": [
                            {"field": "status", "op": "=", "value": "active"},
                            {"field": "contact.email", "op": "suffix", "value": "example.com"},
                        ]
                    },
                    {"field": "id", "op": "in", "value": [1, 10, {"decimal": "100.0"}, "x", None, True]},
                    {"field": "tags.*", "op": "contains", "value": "li"},
                    {"not": {"field": "note", "op": "exists", "value": True}},
                ]
            }
        },
        {
            "where": {
                "all": [
                    {"field": "event:table", "op": "prefix", "value": "u"},
                    {"field": "attribute:cdc.operation.trigger", "op": "!=", "value": "admin_action"},
                    {"field": "row:name", "op": ">", "value": "Al"},
                ]
            }
        },
        {"where": {"field": "*", "op": "<=", "value": "Z"}},
        {"where": {"field": "*.*", "op": "=", "value": None}},
        {"where": {"field": "id", "op": "!=", "value": {"decimal": "1.0e0"}}},
    ],
    "tenant_guard": [
        {"tenant": "acme"},
        {"tenant": "acme", "field": "tenant_id", "on_mismatch": "fail"},
        {"tenant": "acme", "field": "event:schema", "on_mismatch": "fail"},
        {"tenant": "1", "field": "before:id", "on_mismatch": "fail"},
        {"tenant": "tenant-123", "field": "attribute:cdc.entity.tenant_id", "on_mismatch": "fail"},
        {"tenant": "acme", "field": "*", "on_mismatch": "drop"},
    ],
    "route": [
        {"routes": [{"match": "users", "to": "people"}, {"match": "audit_*", "to": "log_*_*"}], "default": "other"},
        {
            "routes": [
                {"match": "aud*", "to": "*"},
                {"match": "audit_*", "to": "never"},
                {"match": "audit_log", "to": "exact"},
            ]
        },
        {
            "field": "status",
            "routes": [{"match": "act*", "to": "a*"}, {"match": "deleted", "to": "gone*"}],
            "default": "rest",
        },
        {"field": "attribute:app.note", "routes": [{"match": "*", "to": "*"}], "default": "none"},
        {"field": "event:schema", "routes": [{"match": "public", "to": "p"}]},
        {"field": "tags.*", "routes": [{"match": "x*", "to": "t-*"}, {"match": "Alice", "to": "alice"}]},
    ],
    "project_columns": [
        {"include": ["email", "contact.email", "status"]},
        {"exclude": ["email", "contact.*", "emails"]},
        {"include": ["tags.*", "*.email"]},
        {"exclude": ["*.email", "tags.*", r"a\.b"]},
        {"exclude": ["*"]},
        {"include": ["*.*.x"]},
    ],
    "rename_fields": [
        {"steps": [{"op": "rename", "field": "email", "to": "mail"}, {"op": "remove", "field": "note"}]},
        {
            "steps": [
                {"op": "copy", "field": "name", "to": 'display "name"'},
                {"op": "set", "field": "status", "value": "seen\n"},
                {"op": "set", "field": "contact.verified", "value": False},
                {"op": "rename", "field": "contact.email", "to": "e"},
            ]
        },
        {
            "steps": [
                {"op": "rename", "field": "id", "to": "key"},
                {"op": "copy", "field": "key", "to": "key2"},
                {"op": "remove", "field": "key2"},
            ]
        },
        {"steps": [{"op": "rename", "field": "email", "to": "name"}]},
        {"steps": [{"op": "remove", "field": "id"}, {"op": "set", "field": "x", "value": {"decimal": "1.50"}}]},
        {"steps": [{"op": "rename", "field": "name", "to": "name"}, {"op": "set", "field": "n", "value": None}]},
        {
            "steps": [
                {"op": "rename", "field": "tenant_id", "to": "email"},
                {"op": "rename", "field": "email", "to": "z"},
            ]
        },
    ],
    "flatten": [
        {},
        {"separator": "_"},
        {"separator": '"', "max_depth": 1},
        {"max_depth": 2},
    ],
    "outbox": [
        {},
        {"to": "events.*", "table": "public.out*"},
        {"id": "aggregateid", "event_type": "id", "payload": "aggregatetype", "table": "*"},
    ],
    "explode_cascade": [{}, {"key": 'entity "id"'}],
}
"""By example: configurations that it takes."""
