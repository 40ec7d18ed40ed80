"""Hypothesis strategies for the configurations of the examples: every one that they give is taken."""

from typing import Any

from hypothesis import strategies as st

from guest_examples.sample_configurations import ACCEPTED, Configuration

_NAMES = ("id", "email", "name", "status", "amount", "tenant_id", "contact", "emails", "note", "tags", "ünï", "x")
_WORDS = st.sampled_from(("active", "Alice", "acme", "alice@example.com", "", "x", "12345", "é\n"))
_PATTERNS = st.sampled_from(("users", "User", "audit_*", "public.*", "outbox", "*", "acme.orders"))


def paths(*, wildcards: bool = True) -> st.SearchStrategy[str]:
    """Dotted paths of one to three segments."""
    names = (*_NAMES, r"a\.b", r"\*", *(("*", "*") if wildcards else ()))
    return st.lists(st.sampled_from(names), min_size=1, max_size=3).map(".".join)


def fields() -> st.SearchStrategy[str]:
    """Names of one value of an event."""
    prefixed = st.builds("{}{}".format, st.sampled_from(("", "", "row:", "before:", "after:")), paths())
    return prefixed | st.sampled_from(("event:schema", "event:table", "attribute:cdc.operation.trigger"))


def scalars() -> st.SearchStrategy[Any]:
    """Values to compare with or to set."""
    decimals = st.sampled_from(("0", "-0.0", "99.50", "1e2", "1E-7", "9007199254740993.0"))
    return _WORDS | st.integers(-(1 << 63), (1 << 64) - 1) | st.booleans() | st.none() | st.builds(_decimal, decimals)


def _decimal(text: str) -> Configuration:
    return {"decimal": text}


def _mask_actions() -> st.SearchStrategy[Configuration]:
    counted = st.fixed_dictionaries({"action": st.sampled_from(("truncate", "keep_last")), "n": st.integers(0, 6)})
    plain = st.fixed_dictionaries({"action": st.sampled_from(("redact", "null", "hash", "hmac", "keep"))})
    return plain | counted | st.just({"action": "redact", "marker": 'é"\\\x02'})


def _mask_pii() -> st.SearchStrategy[Configuration]:
    rule = st.builds(lambda path, action: {"path": path, **action}, paths(), _mask_actions())
    rules = st.lists(rule, min_size=1, max_size=6, unique_by=lambda entry: entry["path"])
    return st.fixed_dictionaries(
        {"rules": rules, "hmac_key": st.just("0123456789abcdef")},
        optional={"default": _mask_actions(), "remove_attributes": st.just(["cdc.event_id"])},
    )


def _comparisons() -> st.SearchStrategy[Configuration]:
    def comparison(ops: tuple[str, ...], value: st.SearchStrategy[Any]) -> st.SearchStrategy[Configuration]:
        return st.fixed_dictionaries({"field": fields(), "op": st.sampled_from(ops), "value": value})

    ordered = _WORDS | st.integers(-100, 100) | st.builds(_decimal, st.sampled_from(("99.5", "1e400")))
    return st.one_of(
        comparison(("=", "!="), scalars()),
        comparison(("<", "<=", ">", ">="), ordered),
        comparison(("in",), st.lists(scalars(), min_size=1, max_size=3)),
        comparison(("prefix", "suffix", "contains"), _WORDS),
        comparison(("exists",), st.booleans()),
    )


def _conditions() -> st.SearchStrategy[Configuration]:
    def combined(inner: st.SearchStrategy[Configuration]) -> st.SearchStrategy[Configuration]:
        parts = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(*(st.builds(lambda part, key=key: {key: part}, parts) for key in ("all", "any"))) | st.builds(
            lambda part: {"not": part}, inner
        )

    return st.recursive(_comparisons(), combined, max_leaves=4)


def _filter_rows() -> st.SearchStrategy[Configuration]:
    operations = st.lists(st.sampled_from(("INSERT", "CREATE", "UPDATE", "DELETE", "READ", "TRUNCATE")), min_size=1)
    patterns = st.lists(_PATTERNS, min_size=1, max_size=3)
    optional: dict[str, st.SearchStrategy[Any]] = {
        "operations": operations,
        "exclude_operations": operations,
        "entities": patterns,
        "exclude_entities": patterns,
        "tenants": st.just(["acme", "globex"]),
        "tenant_field": fields(),
        "triggers": st.just(["api_*"]),
        "changed_fields": st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3),
        "where": _conditions(),
    }
    return st.fixed_dictionaries({}, optional=optional)


def _rename_fields() -> st.SearchStrategy[Configuration]:
    path = paths(wildcards=False)
    name = st.sampled_from((*_NAMES, 'new "é"'))
    moved = st.fixed_dictionaries({"op": st.sampled_from(("rename", "copy")), "field": path, "to": name})
    put = st.fixed_dictionaries({"op": st.just("set"), "field": path, "value": scalars()})
    removed = st.fixed_dictionaries({"op": st.just("remove"), "field": path})
    return st.fixed_dictionaries({"steps": st.lists(moved | put | removed, min_size=1, max_size=4)})


def _project_columns() -> st.SearchStrategy[Configuration]:
    chosen = st.lists(paths(), min_size=1, max_size=4)
    return st.builds(lambda mode, found: {mode: found}, st.sampled_from(("include", "exclude")), chosen)


def _route() -> st.SearchStrategy[Configuration]:
    route = st.fixed_dictionaries({"match": _PATTERNS | st.sampled_from(("a*", "Alice")), "to": _PATTERNS})
    return st.fixed_dictionaries(
        {"routes": st.lists(route, min_size=1, max_size=4)}, optional={"field": fields(), "default": st.just("rest")}
    )


def _tenant_guard() -> st.SearchStrategy[Configuration]:
    return st.fixed_dictionaries(
        {"tenant": st.sampled_from(("acme", "1", "Alice"))},
        optional={"field": fields(), "on_mismatch": st.sampled_from(("drop", "fail"))},
    )


def _flatten() -> st.SearchStrategy[Configuration]:
    separators = st.sampled_from((".", "_", '"', "é", "\\"))
    return st.fixed_dictionaries({}, optional={"separator": separators, "max_depth": st.integers(1, 128)})


_GENERATED: dict[str, st.SearchStrategy[Configuration]] = {
    "mask_pii": _mask_pii(),
    "filter_rows": _filter_rows(),
    "rename_fields": _rename_fields(),
    "project_columns": _project_columns(),
    "route": _route(),
    "tenant_guard": _tenant_guard(),
    "flatten": _flatten(),
}


def configurations(name: str) -> st.SearchStrategy[Configuration]:
    """Configurations that an example takes: the samples, and for most examples generated ones.

    Raises:
        KeyError: there is no such example.
    """
    samples = st.sampled_from(ACCEPTED[name])
    return _GENERATED[name] | samples if name in _GENERATED else samples
