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

_RULE = {"path": "a", "action": "null"}
_IS_A = {"field": "a", "op": "=", "value": 1}


def _nested(depth: int) -> Configuration:
    """A condition inside `depth` others."""
    condition: Configuration = _IS_A
    for _ in range(depth):
        condition = {"not": condition}
    return condition


_BAD_PATHS: list[Any] = [
    "",
    1,
    None,
    "a..b",
    ".a",
    "a.",
    "a\\",
    "a\\x",
    "x" * 101,
    "a\tb",
    "é" * 51,
    ["a"],
    "\\",
    "*.",
    "..\\",
]
_BAD_FIELDS: list[Any] = [
    "",
    1,
    "event:op",
    "event:",
    "attribute:",
    "attribute:" + "x" * 101,
    "row:",
    "before:a..b",
    "after:\\x",
    ":.",
]

REFUSED: dict[str, list[Configuration]] = {
    "pass_through": [{"x": 1}],
    "drop_all": [],
    "mask_pii": [
        {},
        {"rules": {}},
        {"rules": []},
        {"rules": [_RULE] * 65},
        {"rules": [1]},
        {"rulez": [], "rules": 1},
        {"rules": [{"path": "a"}]},
        {"rules": [{"action": "null"}]},
        {"rules": [{"path": "a", "action": "mask"}]},
        {"rules": [{"path": "a", "action": 7}]},
        {"rules": [_RULE, {"path": "a", "action": "hash"}]},
        {
            "rules": [
                {"path": "a.*", "action": "hash"},
                {"path": "a.\\*", "action": "hash"},
                {"path": "a.*", "action": "x"},
            ]
        },
        {"rules": [{"path": "a", "action": "redact", "marker": ""}]},
        {"rules": [{"path": "a", "action": "redact", "marker": 3}]},
        {"rules": [{"path": "a", "action": "hash", "marker": "x"}]},
        {"rules": [{"path": "a", "action": "hash", "n": 1}]},
        {"rules": [{"path": "a", "action": "truncate"}]},
        {"rules": [{"path": "a", "action": "truncate", "n": -1}]},
        {"rules": [{"path": "a", "action": "keep_last", "n": 1_000_001}]},
        {"rules": [{"path": "a", "action": "keep_last", "n": 1.0}]},
        {"rules": [{"path": "a", "action": "keep_last", "n": True}]},
        {"rules": [{"path": "a", "action": "keep_last", "n": 2**64 - 1}]},
        {"rules": [{"path": "a", "action": "keep_last", "n": -(2**63)}]},
        {"rules": [{"path": "a", "action": "hmac"}]},
        {"rules": [{"path": "a", "action": "hmac"}], "hmac_key": 5},
        {"rules": [{"path": "a", "action": "hmac"}], "hmac_key": "short"},
        {"rules": [{"path": "a", "action": "hmac"}], "hmac_key": b"short"},
        {"rules": [{"path": "a", "action": "hmac", "extra": 1}], "hmac_key": b"short"},
        {"rules": [{"pfad é": "a"}]},
        {"default": {"action": "keep"}},
        {"default": "redact"},
        {"default": {"path": "a", "action": "null"}},
        {"default": None},
        {"default": {"action": "hmac"}},
        {"rules": [_RULE], "remove_attributes": "x"},
        {"rules": [_RULE], "remove_attributes": [""]},
        {"rules": [_RULE], "remove_attributes": ["x", 1]},
        *({"rules": [{"path": path, "action": "null"}]} for path in _BAD_PATHS),
    ],
    "filter_rows": [
        {"operation": ["INSERT"]},
        {"operations": "INSERT"},
        {"operations": []},
        {"operations": ["INSERT", "insert"]},
        {"exclude_operations": [1]},
        {"entities": [""]},
        {"exclude_entities": ["a", None]},
        {"tenants": {}},
        {"triggers": ["x"] * 65},
        {"changed_fields": [["status"]]},
        {"where": []},
        {"where": {}},
        {"where": {"field": "a"}},
        {"where": {"field": "a", "op": "~", "value": 1}},
        {"where": {"field": "a", "op": "="}},
        {"where": {"field": "a", "op": "=", "value": 1.5}},
        {"where": {"field": "a", "op": "=", "value": b"x"}},
        {"where": {"field": "a", "op": "=", "value": [1]}},
        {"where": {"field": "a", "op": "=", "value": {"decimal": "01"}}},
        {"where": {"field": "a", "op": "=", "value": {"decimal": "1.5 "}}},
        {"where": {"field": "a", "op": "=", "value": {"decimal": 1}}},
        {"where": {"field": "a", "op": "=", "value": {"decimal": ""}}},
        {"where": {"field": "a", "op": "=", "value": {}}},
        {"where": {"field": "a", "op": "=", "value": {"dezimal": "1"}}},
        {"where": {"field": "a", "op": "<", "value": None}},
        {"where": {"field": "a", "op": ">=", "value": True}},
        {"where": {"field": "a", "op": "prefix", "value": 1}},
        {"where": {"field": "a", "op": "exists", "value": "true"}},
        {"where": {"field": "a", "op": "in", "value": "x"}},
        {"where": {"field": "a", "op": "in", "value": []}},
        {"where": {"field": "a", "op": "in", "value": [1, 1.5]}},
        {"where": {"all": [_IS_A], "any": [_IS_A]}},
        {"where": {"any": [_IS_A], "not": _IS_A}},
        {"where": {"not": [_IS_A]}},
        {"where": {"all": {}}},
        {"where": {"all": [{"any": [_IS_A, {"not": {"field": "a", "op": "="}}]}]}},
        {"where": {"any": [{"all": [_IS_A] * 40}, {"all": [_IS_A] * 25}]}},
        {"where": _nested(8)},
        {"where": _nested(20)},
        *({"tenant_field": field} for field in _BAD_FIELDS),
        *({"where": {"field": field, "op": "=", "value": 1}} for field in [*_BAD_FIELDS, *_BAD_PATHS]),
    ],
    "tenant_guard": [
        {},
        {"tenant": ""},
        {"tenant": 1},
        {"tenant": "a", "on_mismatch": "ignore"},
        {"tenant": "a", "tenants": []},
        *({"tenant": "a", "field": field} for field in _BAD_FIELDS),
    ],
    "route": [
        {},
        {"routes": []},
        {"routes": [{}]},
        {"routes": [{"match": "a"}]},
        {"routes": [{"match": "", "to": "b"}]},
        {"routes": [{"match": "a", "to": "b", "from": "c"}]},
        {"routes": [{"match": "a", "to": "b"}], "default": ""},
        {"routes": [{"match": "a", "to": "b"}], "default": None},
        {"routes": [{"match": "a", "to": "b"}], "field": "event:op"},
    ],
    "project_columns": [
        {},
        {"include": ["a"], "exclude": ["a"]},
        {"include": []},
        {"exclude": "a"},
        *({"exclude": ["ok", path]} for path in _BAD_PATHS),
    ],
    "rename_fields": [
        {},
        {"steps": []},
        {"steps": [{"op": "move"}]},
        {"steps": [{"op": "rename", "field": "a"}]},
        {"steps": [{"op": "rename", "field": "a", "to": ""}]},
        {"steps": [{"op": "rename", "field": "a", "to": "x\n"}]},
        {"steps": [{"op": "copy", "field": "a", "to": "x" * 101}]},
        {"steps": [{"op": "copy", "field": "a", "to": "b", "value": 1}]},
        {"steps": [{"op": "remove", "field": "a", "to": "b"}]},
        {"steps": [{"op": "set", "field": "a"}]},
        {"steps": [{"op": "set", "field": "a", "value": 1.5}]},
        {"steps": [{"op": "set", "field": "a.*", "value": 1}]},
        *({"steps": [{"op": "remove", "field": path}]} for path in _BAD_PATHS),
    ],
    "flatten": [
        {"separator": ""},
        {"separator": "\x01"},
        {"separator": "x" * 101},
        {"max_depth": 0},
        {"max_depth": 129},
        {"max_depth": "1"},
        {"depth": 1},
    ],
    "outbox": [{"table": ""}, {"payload": 1}, {"to": ""}, {"aggregate_id": None}, {"topic": "x"}],
    "explode_cascade": [{"key": ""}, {"key": 1}, {"key": "x" * 101}, {"key": "\x7f\x1f"}, {"keys": "id"}],
}
"""By example: configurations that it refuses, each for one reason or for several of which the first must be named."""
