"""Hypothesis strategies for canonical events and row images: public, for the harness and for tests of one's own.

    from hypothesis import given
    from wasm_host import strategies

    @given(strategies.events())
    def test_my_transform(event: bytes) -> None: ...

They shrink to the smallest event that breaks a transform. For bulk there is `wasm_host.generate`. The columns are few
and known (`generate_json.COLUMNS`), so that rules by name meet values.
"""

import json
from typing import Any

from hypothesis import strategies as st

from abi import Event, Operation
from wasm_host.generate import SCHEMAS, TABLES, TENANTS, TRIGGERS
from wasm_host.generate_json import BROKEN, COLUMNS, NUMBERS, ODD_NUMBERS, WORDS

_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_SPACE = st.sampled_from(("", "", "", " ", "\n\t", "\r\n  "))


def json_strings() -> st.SearchStrategy[str]:
    """JSON strings, quotes included: raw characters or escapes, whichever the writer liked."""
    return st.builds(_quote, st.sampled_from(WORDS) | _TEXT, st.booleans())


def _quote(text: str, is_ascii: bool) -> str:
    return json.dumps(text, ensure_ascii=is_ascii)


def json_numbers() -> st.SearchStrategy[str]:
    """JSON numbers as text: large, exact, negative zero, with exponents."""
    return (
        st.sampled_from((*NUMBERS, *ODD_NUMBERS))
        | st.integers().map(str)
        | st.decimals(allow_nan=False, allow_infinity=False, places=2).map(str).filter(lambda text: "E" not in text)
    )


def json_documents() -> st.SearchStrategy[str]:
    """Any JSON document, as text, with white space where it may be."""
    scalars = json_strings() | json_numbers() | st.sampled_from(("null", "true", "false"))
    return st.recursive(scalars, lambda inner: _arrays(inner) | _objects(inner), max_leaves=8)


def _arrays(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    element = st.builds("{}{}{}".format, _SPACE, inner, _SPACE)
    return st.builds("[{}]".format, st.lists(element, max_size=4).map(",".join))


def _objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    key = st.builds(_quote, st.sampled_from((*COLUMNS, "email", "x", "*")) | _TEXT, st.booleans())
    member = st.builds("{0}{1}{0}:{2}{3}".format, _SPACE, key, _SPACE, inner)
    # Keys may come twice: that is legal JSON, and a way past careless rules.
    return st.builds("{{{}}}".format, st.lists(member, max_size=5).map(",".join))


def row_images() -> st.SearchStrategy[bytes]:
    """Row images: objects with our columns in them."""
    return _objects(json_documents()).map(str.encode)


def broken_images() -> st.SearchStrategy[bytes]:
    """Images that are not JSON, or nearly are."""
    cut = st.builds(lambda image, at: image[: at % len(image)], row_images(), st.integers(0, 1 << 16))
    return st.sampled_from(BROKEN) | cut | st.binary(max_size=20)


def images() -> st.SearchStrategy[bytes]:
    """What stands in an image: mostly a row, sometimes another document, sometimes nothing that can be read."""
    return st.one_of(row_images(), row_images(), row_images(), json_documents().map(str.encode), broken_images())


def attributes() -> st.SearchStrategy[dict[str, bytes]]:
    """Attributes as a CDC 1.0 document leaves them, and some of an application's own."""
    names = st.lists(st.sampled_from(COLUMNS), max_size=3).map(lambda found: json.dumps(found).encode())
    known: dict[str, st.SearchStrategy[bytes]] = {
        "cdc.entity.tenant_id": st.sampled_from(TENANTS).map(str.encode),
        "cdc.operation.trigger": st.sampled_from(TRIGGERS).map(str.encode),
        "cdc.operation.changed_fields": names,
        "cdc.operation.changed_field_values": st.just(b'{"email":{"before":"a","after":"b"}}'),
        "cdc.event_id": st.just(b"evt_1"),
        "cdc.cascade": _cascades(),
        "app.note": st.binary(max_size=5),
    }
    return st.fixed_dictionaries({}, optional=known)


def _cascades() -> st.SearchStrategy[bytes]:
    entry = st.fixed_dictionaries(
        {"entity_type": st.sampled_from(("Post", "User")), "entity_id": _TEXT},
        optional={"reason": _TEXT, "changes": st.lists(st.sampled_from(COLUMNS), max_size=2)},
    )
    cascade = st.fixed_dictionaries(
        {}, optional={"updated": st.lists(entry, max_size=3), "deleted": st.lists(entry, max_size=3) | st.none()}
    )
    return cascade.map(lambda value: json.dumps(value).encode()) | broken_images()


def event_messages() -> st.SearchStrategy[Event]:
    """Events, as messages."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        "before": images(),
        "after": images(),
        "schema": st.sampled_from(SCHEMAS),
        "primary_key": st.lists(st.sampled_from(("id", "email", "tenant_id")), max_size=2),
        "ts": st.integers(0, (1 << 64) - 1),
        "envelope_version": st.integers(0, (1 << 32) - 1),
        "before_is_key_only": st.booleans(),
        "unavailable_columns": st.lists(st.sampled_from(COLUMNS), max_size=2),
        "attributes": attributes(),
    }
    required: dict[str, st.SearchStrategy[Any]] = {
        "op": st.sampled_from(sorted(Operation.values())),
        "table": st.sampled_from(TABLES),
    }
    return st.fixed_dictionaries(required, optional=fields).map(_message)


def _message(members: dict[str, Any]) -> Event:
    return Event(**members)


def events() -> st.SearchStrategy[bytes]:
    """Events in protobuf form, in the order in which protobuf writes; some with fields that nobody knows."""
    encoded = event_messages().map(lambda event: event.SerializeToString(deterministic=True))
    # Field 15 (a number) and field 2000 (bytes) are in no schema of ours.
    unknown = st.sampled_from((b"", b"", b"", b"\x78\x05", b"\x82\x7d\x03abc"))
    return st.builds(bytes.__add__, encoded, unknown)
