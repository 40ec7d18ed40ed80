"""How each member of a Debezium envelope is written from the canonical fields and the `debezium.` attributes."""

import re

from abi.event_pb2 import Operation
from abi.formats.debezium_source import NAME, source_text, transaction_text
from abi.formats.json_format import NULL, Text, image, json_attribute, text_attribute
from abi.formats.layout import Document, Slot, View
from abi.formats.refusals import unencodable

OPERATIONS = {
    "c": Operation.INSERT,
    "u": Operation.UPDATE,
    "d": Operation.DELETE,
    "r": Operation.READ,
    "t": Operation.TRUNCATE,
}
TOMBSTONE = f"{NAME}.tombstone"
_LETTERS = {number: b'"%b"' % letter.encode() for letter, number in OPERATIONS.items()}
_DECIMAL = re.compile(rb"-?\d{1,20}")


def _is_schema_change(view: View) -> bool:
    return view.event.op == Operation.SCHEMA_CHANGE


def _op(view: View) -> bytes | None:
    if _is_schema_change(view):
        return None
    letter = _LETTERS.get(view.event.op)
    if letter is None:
        raise unencodable(NAME, f"operation {int(view.event.op)} has no letter", path="op", hint="set op to 1..6")
    return letter


def _unless_schema_change(text: Text) -> Text:
    return lambda view: None if _is_schema_change(view) and text(view) == NULL else text(view)


def _table_changes(view: View) -> bytes | None:
    # Without one of its two members an envelope would not read as a schema change.
    text = _TABLE_CHANGES(view)
    if text is None and _is_schema_change(view) and _DDL(view) is None:
        return b"[]"
    return text


def _finer_time(name: str, per_millisecond: int) -> Text:
    def text(view: View) -> bytes | None:
        kept = view.attributes.get(f"{NAME}.{name}")
        if kept is None:
            return None
        if _DECIMAL.fullmatch(kept) and int(kept) // per_millisecond == view.event.ts:
            return b"%d" % int(kept)
        return b"%d" % (view.event.ts * per_millisecond)

    return text


_TABLE_CHANGES = json_attribute(NAME, "tableChanges")
_DDL = text_attribute(NAME, "ddl")


def _slots(prefix: str) -> list[Slot]:
    return [
        Slot(f"{prefix}before", _unless_schema_change(image(NAME, "before", "before", NULL))),
        Slot(f"{prefix}after", _unless_schema_change(image(NAME, "after", "after", NULL))),
        Slot(f"{prefix}source", source_text),
        Slot(f"{prefix}transaction", _unless_schema_change(transaction_text)),
        Slot(f"{prefix}op", _op),
        Slot(f"{prefix}ts_ms", lambda view: b"%d" % view.event.ts),
        Slot(f"{prefix}ts_us", _finer_time("ts_us", 1_000)),
        Slot(f"{prefix}ts_ns", _finer_time("ts_ns", 1_000_000)),
        Slot(f"{prefix}databaseName", text_attribute(NAME, "databaseName")),
        Slot(f"{prefix}schemaName", text_attribute(NAME, "schemaName")),
        Slot(f"{prefix}ddl", _DDL),
        Slot(f"{prefix}tableChanges", _table_changes),
    ]


BARE = Document(NAME, _slots(""))
WRAPPED = Document(NAME, [Slot("schema", json_attribute(NAME, "schema")), *_slots("payload.")])
