"""What each format keeps and drops, found out by converting, and written as the tables of `docs/formats.md`.

Run `python -m tests.unit.abi.formats.conversion_table` from the root of the repository to write them anew.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

from abi import EncodeError, Event, Operation
from abi.formats import FORMATS, OpenCdcFormat

PAGE = Path(__file__).parents[4] / "docs" / "formats.md"
BEGIN, END = "<!-- tables: begin (generated, see the note below) -->", "<!-- tables: end -->"

FIELDS = (
    "before",
    "after",
    "op",
    "source.source_name",
    "source.offset",
    "source.timestamp",
    "ts",
    "schema",
    "table",
    "primary_key",
    "snapshot.snapshot_id",
    "snapshot.chunk_index",
    "snapshot.is_last_chunk",
    "transaction.tx_id",
    "transaction.total_events",
    "transaction.event_index",
    "envelope_version",
    "before_is_key_only",
    "unavailable_columns",
    "before_unavailable_columns",
    "attributes",
)


def full_event() -> Event:
    """Make an event in which every canonical field is set."""
    event = Event(
        before=b'{"id": 1, "price": 1.50, "note": null}',
        after=b'{"id": 1, "price": 2.50, "note": ""}',
        op=Operation.UPDATE,
        ts=1768145700123,
        schema="public",
        table="orders",
        primary_key=["id"],
        envelope_version=2,
        before_is_key_only=True,
        unavailable_columns=["blob"],
        before_unavailable_columns=["clob"],
        attributes={"app.topic": b"orders"},
    )
    event.source.source_name, event.source.offset, event.source.timestamp = "postgres", "0/16B6A70", 1768145700100
    event.snapshot.snapshot_id, event.snapshot.chunk_index, event.snapshot.is_last_chunk = "s1", 3, True
    event.transaction.tx_id, event.transaction.total_events, event.transaction.event_index = 77, 9, 4
    return event


def _value(event: Event, field: str) -> Any:
    if field == "attributes":
        return {key: value for key, value in event.attributes.items() if not key.endswith(".layout")}
    value: Any = event
    for part in field.split("."):
        value = getattr(value, part)
    return list(value) if field.endswith(("columns", "primary_key")) else value


def _through(event: Event, name: str, *, wire: str | None = None) -> Event:
    chosen = OpenCdcFormat("protobuf") if wire else FORMATS[name]
    return chosen.decode(chosen.encode(event))


def fate(event: Event, field: str, again: Event) -> str:
    """Say what became of a field: kept, dropped, or changed and how."""
    then, now = _value(event, field), _value(again, field)
    if field == "attributes":
        return "kept" if then.items() <= now.items() else "dropped"
    if then == now:
        return "kept"
    if not now:
        return "dropped"
    both_json = field in ("before", "after") and json.loads(then) == json.loads(now)
    return "value kept, text not" if both_json else f"becomes `{now}`"


def field_table() -> str:
    """Write the table of canonical fields against formats."""
    event = full_event()
    columns = {name: _through(event, name) for name in FORMATS}
    columns["opencdc (protobuf)"] = _through(event, "opencdc", wire="protobuf")
    lines = [f"| field | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for field in FIELDS:
        fates = [fate(event, field, again) for again in columns.values()]
        lines.append(f"| `{field}` | {' | '.join(fates)} |")
    return "\n".join(lines)


def operation_table() -> str:
    """Write the table of operations against formats."""
    lines = [f"| operation | {' | '.join(FORMATS)} |", "|---" * (len(FORMATS) + 1) + "|"]
    for name, number in Operation.items():
        cells = []
        for chosen in FORMATS.values():
            event = full_event()
            event.op = number
            try:
                again = chosen.decode(chosen.encode(event))
            except EncodeError:
                cells.append("refused")
                continue
            cells.append("kept" if again.op == number else f"becomes {Operation.Name(again.op)}")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def samples() -> dict[str, bytes]:
    """Make one document of each format with everything that the format has."""
    source = {"version": "3.0.0.Final", "connector": "postgresql", "name": "srv", "ts_ms": 1768145700100}
    source |= {"snapshot": "last", "db": "shop", "schema": "public", "table": "orders", "txId": 77, "lsn": 24023128}
    row = {"id": 1, "price": 2.5}
    debezium = {"before": row, "after": row, "source": source, "transaction": {"id": "77:1", "total_order": 5}}
    debezium |= {"op": "u", "ts_ms": 1768145700123, "ts_us": 1768145700123456, "ts_ns": 1768145700123456789}
    metadata = {"opencdc.collection": "orders", "opencdc.createdAt": "1768145700100000001", "opencdc.version": "v1"}
    metadata |= {"opencdc.readAt": "1768145700123456789", "conduit.source.connector.id": "pg", "file.path": "x"}
    opencdc = {"position": base64.b64encode(b"0/16B6A70").decode(), "operation": "update", "metadata": metadata}
    opencdc |= {"key": {"id": 1}, "payload": {"before": row, "after": row}}
    examples = json.loads((Path(__file__).parent / "seed_examples" / "cdc.json").read_text())
    cdc = next(text for text in examples if '"event_id": "evt_660e' in text)
    return {
        "protobuf": FORMATS["protobuf"].encode(full_event()),
        "avro": FORMATS["avro"].encode(full_event()),
        "json": FORMATS["json"].encode(full_event()),
        "cdc": cdc.encode(),
        "opencdc": json.dumps(opencdc).encode(),
        "debezium": json.dumps(debezium).encode(),
    }


def pair_table() -> str:
    """Write the table of every format into every other: what is dropped on the way."""
    lines = [f"| from \\ to | {' | '.join(FORMATS)} |", "|---" * (len(FORMATS) + 1) + "|"]
    for name, document in samples().items():
        cells = [_losses(FORMATS[name].decode(document), name, target) for target in FORMATS]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _losses(event: Event, name: str, target: str) -> str:
    if name == target:
        assert FORMATS[name].decode(FORMATS[target].encode(event)) == event
        return "nothing"
    again = _through(event, target)
    lost = [field for field in FIELDS if fate(event, field, again) != "kept"]
    return ", ".join(f"`{field}`" for field in lost) or "nothing"


def tables() -> str:
    """Write all three tables."""
    return "\n\n".join(
        [
            "### Canonical fields\n\nOne event with every field set, written and read again.\n\n" + field_table(),
            "### Operations\n\n" + operation_table(),
            "### From one format to another\n\nA document with everything that its format has, and what does not "
            "arrive (or arrives changed). `attributes` are the members that have no canonical field.\n\n"
            + pair_table(),
        ]
    )


def main() -> None:
    """Write the tables into the page."""
    page = PAGE.read_text()
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n\n{tables()}\n\n{END}", page))


if __name__ == "__main__":
    main()
