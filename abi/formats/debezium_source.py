"""Debezium's `source` and `transaction` objects: canonical fields derived from them, and patched back into them."""

import re
from typing import Any

import msgspec

from abi.event_pb2 import Event, SnapshotMetadata, SourceMetadata, TransactionMetadata
from abi.formats import json_text
from abi.formats.json_format import MAX_UINT32, MAX_UINT64, NULL, unsigned
from abi.formats.layout import View
from abi.formats.refusals import undecodable, unencodable

NAME = "debezium"
_POSITION_MEMBERS = ("lsn", "commit_lsn", "scn", "file", "pos", "row", "sequence")
_LEADING_DIGITS = re.compile(r"\d+", re.ASCII)
_DIGITS = re.compile(r"0|[1-9]\d*", re.ASCII)


class _Source(msgspec.Struct):
    connector: str | None = None
    ts_ms: int | None = None
    snapshot: str | bool | None = None
    schema: str | None = None
    table: str | None = None
    collection: str | None = None
    sequence: str | None = None
    file: str | None = None
    pos: int | None = None
    row: int | None = None
    lsn: int | str | None = None
    commit_lsn: int | str | None = None
    scn: int | str | None = None
    tx_id: int | str | None = msgspec.field(default=None, name="txId")


class _Transaction(msgspec.Struct):
    id: str | int | None = None
    total_order: int | None = None


_SOURCE = msgspec.json.Decoder(_Source)
_TRANSACTION = msgspec.json.Decoder(_Transaction)


def derive(event: Event, data: bytes, prefix: str, source_text: bytes, transaction_text: bytes) -> None:
    """Set the canonical fields that the two objects speak of.

    Raises:
        DecodeError: a member has another type than Debezium gives it.
    """
    source = _read(_SOURCE, data, f"{prefix}source", source_text) or _Source()
    transaction = _read(_TRANSACTION, data, f"{prefix}transaction", transaction_text)
    timestamp = unsigned(NAME, data, f"{prefix}source.ts_ms", source.ts_ms or 0)
    if transaction and transaction.total_order is not None:
        unsigned(NAME, data, f"{prefix}transaction.total_order", transaction.total_order, MAX_UINT32)
    _fill(event, source, transaction, timestamp)


def _read(decoder: "msgspec.json.Decoder[Any]", data: bytes, path: str, text: bytes) -> Any:
    if text == NULL:
        return None
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as exc:
        reason, _, inner = str(exc).replace("`", "'").partition(" - at '$")
        where = f"$.{path}{inner.rstrip(chr(39))}"
        reason = reason[:1].lower() + reason[1:]
        raise undecodable(NAME, reason, path=where, offset=json_text.locate(data, where)) from None


def _fill(event: Event, source: _Source, transaction: _Transaction | None, timestamp: int) -> None:
    event.source.CopyFrom(
        SourceMetadata(source_name=source.connector or "", offset=_offset(source), timestamp=timestamp)
    )
    event.table = source.table if source.table is not None else source.collection or ""
    if source.schema is not None:
        event.schema = source.schema
    if str(source.snapshot).lower() not in ("none", "false", ""):
        event.snapshot.CopyFrom(SnapshotMetadata(is_last_chunk=source.snapshot == "last"))
    tx_id = _tx_id(source, transaction)
    if tx_id is not None:
        order = transaction.total_order if transaction and transaction.total_order else 1
        event.transaction.CopyFrom(TransactionMetadata(tx_id=tx_id, event_index=order - 1))


def _offset(source: _Source) -> str:
    """Return the source's position: each connector has its own members for it."""
    for value in (source.lsn, source.commit_lsn, source.scn):
        if value is not None:
            return str(value)
    if source.file is not None and source.pos is not None:
        # One binlog event holds many rows, all at its position; without the row they would look like one change.
        return f"{source.file}:{source.pos}" + (f":{source.row}" if source.row else "")
    return source.sequence or ""


def _tx_id(source: _Source, transaction: _Transaction | None) -> int | None:
    for value in (source.tx_id, transaction.id if transaction else None):
        if isinstance(value, int) and 0 <= value <= MAX_UINT64:
            return value
        match = _LEADING_DIGITS.match(value) if isinstance(value, str) else None
        if match and len(match[0]) <= 20 and int(match[0]) <= MAX_UINT64:
            return int(match[0])
    return None


def source_text(view: View) -> bytes:
    """Write the `source` object: as it stood, with what has changed since patched in."""
    kept = view.attributes.get(f"{NAME}.source")
    if kept is None:
        return json_text.patch(NAME, b"{}", _all_members(view.event))
    kept = json_text.checked(NAME, "source", kept)
    then = _then(view)
    if then is None:
        raise unencodable(NAME, f"attribute '{NAME}.source' is not a source object", path="source")
    changes = _changes(view.event, then, kept)
    return json_text.patch(NAME, kept, changes) if changes else kept


def transaction_text(view: View) -> bytes:
    """Write the `transaction` object: as it stood, with what has changed since patched in."""
    event = view.event
    kept = view.attributes.get(f"{NAME}.transaction")
    then = _then(view)
    if kept is not None:
        kept = json_text.checked(NAME, "transaction", kept)
        is_same_presence = then is not None and event.HasField("transaction") == then.HasField("transaction")
        if then is not None and is_same_presence and event.transaction == then.transaction:
            return kept
    if not event.HasField("transaction") or (kept is None and event.transaction.event_index == 0):
        return NULL
    order = b"%d" % (event.transaction.event_index + 1)
    identity = b'"%d"' % event.transaction.tx_id
    base = kept if kept is not None and kept.startswith(b"{") else b"{}"
    return json_text.patch(NAME, base, {"id": identity, "total_order": order})


def _then(view: View) -> Event | None:
    """Derive the canonical fields again from the kept objects: what they were before any guest."""
    try:
        source = _SOURCE.decode(view.attributes.get(f"{NAME}.source", b"{}"))
        transaction = _TRANSACTION.decode(view.attributes.get(f"{NAME}.transaction", b"{}"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    event = Event()
    try:
        _fill(event, source, transaction, source.ts_ms or 0)
    except ValueError:  # a guest put numbers into the attribute that no canonical field holds
        return None
    return event


def _changes(now: Event, then: Event, kept: bytes) -> dict[str, bytes | None]:
    changes: dict[str, bytes | None] = {}
    if now.source.source_name != then.source.source_name:
        changes["connector"] = json_text.quote(now.source.source_name)
    if now.source.timestamp != then.source.timestamp:
        changes["ts_ms"] = b"%d" % now.source.timestamp
    if now.table != then.table:
        names = {member.name for member in json_text.members(NAME, kept)}
        changes["collection" if "collection" in names - {"table"} and "table" not in names else "table"] = (
            json_text.quote(now.table)
        )
    if now.schema != then.schema or now.HasField("schema") != then.HasField("schema"):
        changes["schema"] = json_text.quote(now.schema) if now.HasField("schema") else NULL
    if now.HasField("snapshot") != then.HasField("snapshot") or (
        now.snapshot.is_last_chunk != then.snapshot.is_last_chunk
    ):
        changes["snapshot"] = _snapshot_word(now)
    if now.transaction.tx_id != then.transaction.tx_id or now.HasField("transaction") != then.HasField("transaction"):
        changes["txId"] = b"%d" % now.transaction.tx_id if now.HasField("transaction") else NULL
    if now.source.offset != then.source.offset:
        changes |= _position_changes(now.source.offset, kept)
    return changes


def _position_changes(offset: str, kept: bytes) -> dict[str, bytes | None]:
    names = [member.name for member in json_text.members(NAME, kept)]
    if "lsn" in names and _DIGITS.fullmatch(offset):
        return {"lsn": offset.encode()}
    # The members of the old position would outrank the new one, so they go.
    changes: dict[str, bytes | None] = {name: None for name in _POSITION_MEMBERS if name in names}
    return changes | {"sequence": json_text.quote(offset)}


def _snapshot_word(event: Event) -> bytes:
    if not event.HasField("snapshot"):
        return b'"false"'
    return b'"last"' if event.snapshot.is_last_chunk else b'"true"'


def _all_members(event: Event) -> dict[str, bytes | None]:
    members: dict[str, bytes | None] = {
        "connector": json_text.quote(event.source.source_name),
        "ts_ms": b"%d" % event.source.timestamp,
        "snapshot": _snapshot_word(event),
        "sequence": json_text.quote(event.source.offset) if event.source.offset else None,
        "schema": json_text.quote(event.schema) if event.HasField("schema") else None,
        "table": json_text.quote(event.table),
        "txId": b"%d" % event.transaction.tx_id if event.HasField("transaction") else None,
    }
    return {name: text for name, text in members.items() if text is not None}
