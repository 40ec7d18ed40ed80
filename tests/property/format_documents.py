"""Documents of every format, made from a seed: all members, all styles of writing, the awkward values on purpose.

Hypothesis draws the seed (so a failing seed is kept and replayed); the bulk is made by `random.Random`, which is fast
enough for twenty thousand documents of each format in CI.
"""

import base64
import io
import json
import math
import random
import struct
from collections.abc import Callable
from typing import Any

import fastavro

from abi import Event
from abi.formats.avro_schema import event_fingerprint, event_schema
from abi.formats.opencdc_pb2 import Record

_SCHEMA = fastavro.parse_schema(event_schema())

TEXTS = [
    "",
    "a",
    "users",
    "public",
    "Ünïcødé",
    "日本語",
    "🦀",
    'quo"te',
    "back\\slash",
    "new\nline",
    "</script>",
    "\u2028",
    "\x7f",
]
NUMBERS = [
    "0",
    "-0",
    "1",
    "1.50",
    "-1.0e+10",
    "1E400",
    "9223372036854775807",
    "18446744073709551616",
    "0.1000",
    "123.456789012345678901",
]
TIMES = [
    "2026-01-11T15:35:00Z",
    "2026-01-11T15:35:00.123Z",
    "2026-01-11T15:35:00.123456Z",
    "2026-01-11T15:35:00.123456789Z",
    "2026-01-11T16:35:00.5+01:00",
    "1970-01-01T00:00:00.000Z",
]
LONGS = [0, 1, 1768145700123, 2**31, 2**53 + 1, 2**63 - 1]
WIDE = [*LONGS, 2**63, 2**64 - 1]


class Number(str):
    """A number's exact text."""


class Generator:
    """Draws documents from one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    # JSON text -------------------------------------------------------------------------------------------------------

    def render(self, value: Any) -> bytes:
        """Write a value in one of the styles that documents come in."""
        style = self.rng.choice(["compact", "compact", "python", "pretty", "wild"])
        return self._text(value, style, 0).encode()

    def _text(self, value: Any, style: str, depth: int) -> str:
        if isinstance(value, Number):
            return str(value)
        if isinstance(value, dict | list):
            return self._container(value, style, depth)
        if isinstance(value, str) and style == "wild":
            return self._wild_string(value)
        return json.dumps(value, ensure_ascii=style == "python" or self.rng.random() < 0.1)

    def _container(self, value: dict[str, Any] | list[Any], style: str, depth: int) -> str:
        comma, colon, pad, end = {
            "compact": (",", ":", "", ""),
            "python": (", ", ": ", "", ""),
            "pretty": (",\n" + "  " * (depth + 1), ": ", "\n" + "  " * (depth + 1), "\n" + "  " * depth),
            "wild": (
                self._space() + "," + self._space(),
                self._space() + ":" + self._space(),
                self._space(),
                self._space(),
            ),
        }[style]
        if isinstance(value, list):
            inner = comma.join(self._text(item, style, depth + 1) for item in value)
            return f"[{pad}{inner}{end}]"
        items = list(value.items())
        if style == "wild":
            self.rng.shuffle(items)
        inner = comma.join(f"{self._text(k, style, 0)}{colon}{self._text(v, style, depth + 1)}" for k, v in items)
        return "{" + pad + inner + end + "}"

    def _space(self) -> str:
        return "".join(self.rng.choices(" \t\r\n", k=self.rng.randrange(3)))

    def _wild_string(self, text: str) -> str:
        plain = json.dumps(text, ensure_ascii=False)[1:-1]
        if self.rng.random() < 0.3 and text.isalnum() and text.isascii():
            at = self.rng.randrange(len(text))
            plain = text[:at] + f"\\u{ord(text[at]):04X}" + text[at + 1 :]
        return '"' + plain.replace("/", self.rng.choice(["/", "\\/"])) + '"'

    # Values ----------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """Draw a string."""
        return self.rng.choice(TEXTS) if self.rng.random() < 0.5 else f"t{self.rng.randrange(10**6)}"

    def maybe(self, make: Callable[[], Any], chance: float = 0.6) -> Any:
        """Draw a value or None."""
        return make() if self.rng.random() < chance else None

    def value(self, depth: int = 0) -> Any:
        """Draw a column's value."""
        kind = self.rng.randrange(9 if depth < 3 else 6)
        if kind < 2:
            return self.text()
        if kind < 4:
            return Number(self.rng.choice(NUMBERS))
        if kind < 6:
            return self.rng.choice([True, False, None])
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.rng.randrange(3))]
        if kind == 7:
            return base64.b64encode(self.rng.randbytes(self.rng.randrange(12))).decode()
        return {self.text(): self.value(depth + 1) for _ in range(self.rng.randrange(3))}

    def row(self) -> dict[str, Any]:
        """Draw a row image."""
        return {f"c{i}" if self.rng.random() < 0.9 else self.text(): self.value() for i in range(self.rng.randrange(5))}

    def _some(self, members: dict[str, Any], drop: float = 0.3) -> dict[str, Any]:
        """Leave out some optional members, make some null, and add some that nobody knows."""
        kept = {name: value for name, value in members.items() if self.rng.random() > drop}
        for name in list(kept):
            if self.rng.random() < 0.05:
                kept[name] = None
        if self.rng.random() < 0.15:
            kept[f"x_{self.rng.randrange(100)}"] = self.value()
        return kept

    # Documents -------------------------------------------------------------------------------------------------------

    def json(self) -> bytes:
        """Draw a document of the format `json`."""
        rng = self.rng
        document: dict[str, Any] = {"before": self.maybe(self.row), "after": self.maybe(self.row)}
        document["op"] = rng.choice(["insert", "update", "delete", "read", "schema_change", "truncate"])
        document["source"] = {"source_name": self.text(), "offset": self.text(), "timestamp": rng.choice(WIDE)}
        document |= {"ts": rng.choice(WIDE), "schema": self.maybe(self.text), "table": self.text()}
        document["primary_key"] = rng.choice([None, [], [self.text()], [self.text(), "id"]])
        document["snapshot"] = self.maybe(
            lambda: {"snapshot_id": self.text(), "chunk_index": rng.choice([0, 2**32 - 1]), "is_last_chunk": True}, 0.3
        )
        document["transaction"] = self.maybe(
            lambda: {"tx_id": rng.choice(WIDE), "total_events": rng.choice([None, 0, 7]), "event_index": 3}, 0.3
        )
        document |= {"envelope_version": rng.choice([1, 1, 2]), "before_is_key_only": rng.random() < 0.2}
        if rng.random() < 0.2:
            document["unavailable_columns"] = rng.choice([[], [self.text()]])
        if rng.random() < 0.2:
            document["attributes"] = {self.text(): base64.b64encode(rng.randbytes(5)).decode()}
        if rng.random() < 0.2:
            document["x_unknown"] = self.value()
        if rng.random() < 0.2:
            del document["before_is_key_only"]
        return self.render(document)

    def cdc(self) -> bytes:
        """Draw a document of the format `cdc`."""
        rng = self.rng
        kind, event_type = rng.choice(
            [("CREATE", "created"), ("UPDATE", "updated"), ("DELETE", "deleted"), ("UPDATE", "deleted")]
        )
        operation: dict[str, Any] = {"type": kind}
        operation |= self._some(
            {
                "trigger": rng.choice(["api_update", "cascade_delete", self.text()]),
                "timestamp": rng.choice(TIMES),
                "before": self.row(),
                "after": self.row(),
                "changed_fields": [self.text()],
                "changed_field_values": {"c0": {"before": self.value(), "after": self.value()}},
            }
        )
        source = {name: self.text() for name in ("database", "instance", "database_name", "host", "region")}
        source["transaction_id"] = rng.choice(["1234567890", "007", "", "gtid:1-2", str(2**64 - 1), str(2**64)])
        source |= {name: self.text() for name in ("session_id", "user", "schema")}
        entity = {"entity_type": self.text(), "entity_id": self.text()}
        entity |= self._some(
            {
                "entity_identifier": self.text(),
                "tenant_id": self.text(),
                "version": rng.choice([0, -3, 2**70]),
                "is_soft_deleted": rng.random() < 0.5,
            }
        )
        document = {"version": "1.0", "event_id": f"evt_{self.text()}", "event_type": f"entity:{event_type}"}
        document |= {"timestamp": rng.choice(TIMES), "sequence_number": rng.choice([*LONGS, -5, -(2**63)])}
        document |= {"schema_name": self.text(), "schema_version": "2.1.0", "source": self._some(source)}
        document |= {"entity": entity, "operation": operation}
        cascade = {"updated": [], "deleted": [{"entity_type": "Post", "entity_id": "1", "reason": self.text()}]}
        document |= {"cascade": rng.choice([cascade, {}, None]), "metadata": {"user_roles": ["a"], "q": self.value()}}
        if rng.random() < 0.1:
            document["x_unknown"] = self.value()
        return self.render(document)

    def debezium(self) -> bytes:
        """Draw a document of the format `debezium`."""
        rng = self.rng
        if rng.random() < 0.03:
            return rng.choice(
                [b"null", b" null\n", b'{"schema":null,"payload":null}', b'{"schema": {}, "payload": null }']
            )
        source: dict[str, Any] = {
            "version": "3.0.0.Final",
            "connector": rng.choice(["postgresql", "mysql", self.text()]),
        }
        source |= self._some(
            {
                "name": self.text(),
                "ts_ms": rng.choice(LONGS),
                "snapshot": rng.choice(["true", "false", "last", "incremental", True, False]),
                "db": self.text(),
                "sequence": '["1","2"]',
                "schema": self.text(),
                "table": self.text(),
                "collection": self.text(),
                "txId": rng.choice([0, 555, 2**64, -1, "555:1"]),
                "lsn": rng.choice([24023128, "0000:1", 2**64]),
                "file": "binlog.000003",
                "pos": 154,
                "row": rng.choice([0, 3]),
            }
        )
        envelope = {"before": self.maybe(self.row), "after": self.maybe(self.row), "source": source}
        transaction = {
            "id": rng.choice(["571:53", "x", self.text()]),
            "total_order": rng.choice([1, 3]),
            "q": self.value(),
        }
        envelope |= {
            "transaction": rng.choice([None, transaction]),
            "op": rng.choice("cudrt"),
            "ts_ms": rng.choice(LONGS),
        }
        if rng.random() < 0.5:
            fine = rng.randrange(10**6)
            envelope |= {"ts_us": envelope["ts_ms"] * 1000 + fine // 1000, "ts_ns": envelope["ts_ms"] * 10**6 + fine}
        if rng.random() < 0.1:
            envelope["after"] = {"big": "__debezium_unavailable_value", "payload": 1}
        if rng.random() < 0.1:
            change = {"databaseName": self.text(), "schemaName": None, "ddl": "CREATE", "tableChanges": [self.value()]}
            envelope = {"source": source, "ts_ms": 5} | change
        if rng.random() < 0.2:
            for name in rng.sample(sorted(envelope), 2):
                if name not in ("op", "ddl", "tableChanges"):
                    del envelope[name]
        if rng.random() < 0.3:
            return self.render({"schema": rng.choice([None, {"type": "struct", "fields": []}]), "payload": envelope})
        return self.render(envelope)

    def _metadata(self) -> dict[str, str]:
        rng = self.rng
        fields = {"opencdc.version": "v1", "opencdc.collection": self.text(), "file.path": "./example.in"}
        fields |= {"opencdc.readAt": rng.choice(["1663858188836816000", "", "x", "9" * 30])}
        fields |= {"opencdc.createdAt": "1663858188836816001", "conduit.source.connector.id": self.text()}
        fields |= {"conduit.source.plugin.name": "builtin:file", "opencdc.key.schema.version": "1"}
        items = [item for item in fields.items() if rng.random() < 0.6]
        rng.shuffle(items)
        return dict(items)

    def _raw(self) -> bytes:
        return self.rng.choice([b"", b"yellow", b'{"id": 1, "n": 1.50} ', b"[1]", self.rng.randbytes(7), b'{"a":1'])

    def opencdc(self) -> bytes:
        """Draw a record, in JSON or protobuf."""
        return self.opencdc_json() if self.rng.random() < 0.6 else self.opencdc_protobuf()

    def opencdc_json(self) -> bytes:
        """Draw an OpenCDC record in JSON."""
        rng = self.rng

        def data() -> Any:
            return rng.choice([self.row(), base64.b64encode(self._raw()).decode()])

        record: dict[str, Any] = {"operation": rng.choice(["create", "update", "delete", "snapshot"])}
        record |= self._some(
            {
                "position": base64.b64encode(rng.choice([b"standing", b"\xff\x00", b"", b"42"])).decode(),
                "metadata": self._metadata(),
                "key": data(),
                "payload": self._some({"before": data(), "after": data()}),
            }
        )
        return self.render(record)

    def opencdc_protobuf(self) -> bytes:
        """Draw an OpenCDC record in protobuf, with the map order that the library happens to write."""
        rng = self.rng
        record = Record(operation=rng.randrange(1, 5), metadata=self._metadata())  # type: ignore[arg-type]
        record.position = rng.choice([b"standing", b"\xff\x00", b""])
        for data in (record.key, record.payload.before, record.payload.after):
            choice = rng.randrange(4)
            if choice == 0:
                data.raw_data = self._raw()
            elif choice == 1:
                data.structured_data.update(self._fields())
            elif choice == 2:
                data.SetInParent()
        if rng.random() < 0.1:
            record.ClearField("payload")
        unknown = b"\x32\x03abc" if rng.random() < 0.1 else b""
        return record.SerializeToString() + unknown

    def _fields(self, depth: int = 0) -> dict[str, Any]:
        rng = self.rng
        floats = [
            0.0,
            -0.0,
            1.0,
            1.5,
            1e300,
            math.nan,
            math.inf,
            -math.inf,
            2.0**53,
            struct.unpack("<d", b"\1" + b"\0" * 5 + b"\xf8\x7f")[0],
        ]
        kinds: list[Callable[[], Any]] = [
            self.text,
            lambda: rng.choice(floats),
            lambda: rng.choice([True, False, None]),
        ]
        if depth < 2:
            kinds += [
                lambda: self._fields(depth + 1),
                lambda: [rng.choice(floats), self.text(), None, {"a/b~": math.nan}],
            ]
        return {f"f{i}" if i else self.text(): rng.choice(kinds)() for i in range(rng.randrange(4))}

    def event(self) -> Event:
        """Draw a canonical event."""
        rng = self.rng
        event = Event(op=rng.randrange(1, 7), ts=rng.choice(WIDE), table=self.text(), envelope_version=1)  # type: ignore[arg-type]
        for field in ("before", "after"):
            if rng.random() < 0.6:
                setattr(event, field, self.render(self.row()))
        if rng.random() < 0.8:
            event.source.source_name, event.source.offset = self.text(), self.text()
            event.source.timestamp = rng.choice(WIDE)
        if rng.random() < 0.5:
            event.schema = self.text()
        event.primary_key.extend(self.text() for _ in range(rng.randrange(3)))
        if rng.random() < 0.3:
            event.snapshot.chunk_index = rng.choice([0, 1, 2**32 - 1])
        if rng.random() < 0.3:
            event.transaction.tx_id = rng.choice(WIDE)
            event.transaction.total_events = rng.choice([0, 2**32 - 1])
        event.before_is_key_only = rng.random() < 0.2
        return event

    def protobuf(self) -> bytes:
        """Draw a canonical event as bytes, with attributes in any order and unknown fields anywhere."""
        event = self.event()
        for _ in range(self.rng.randrange(6)):
            event.attributes[self.text()] = self.rng.randbytes(4)
        parts = [event.SerializeToString()]
        if self.rng.random() < 0.2:
            parts.append(self.rng.choice([b"\x78\x05", b"\xfa\x7d\x01x", b"\x7b\x7c"]))
            self.rng.shuffle(parts)
        return b"".join(parts)

    def avro(self) -> bytes:
        """Draw an event as fastavro writes it, in any framing."""
        event = self.event()
        source = event.source
        datum = {
            "before": event.before if event.HasField("before") else None,
            "after": event.after if event.HasField("after") else None,
            "op": ["INSERT", "UPDATE", "DELETE", "READ", "SCHEMA_CHANGE", "TRUNCATE"][event.op - 1],
            "source": {
                "source_name": source.source_name,
                "offset": source.offset,
                "timestamp": _signed(source.timestamp),
            },
            "ts": _signed(event.ts),
            "schema": event.schema if event.HasField("schema") else None,
            "table": event.table,
            "primary_key": list(event.primary_key),
            "snapshot": {"snapshot_id": "s", "chunk_index": -1, "is_last_chunk": True}
            if event.HasField("snapshot")
            else None,
            "transaction": {"tx_id": _signed(event.transaction.tx_id), "total_events": 0, "event_index": 2**31 - 1}
            if event.HasField("transaction")
            else None,
            "envelope_version": 1,
            "before_is_key_only": event.before_is_key_only,
        }
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, _SCHEMA, datum)
        single_object = b"\xc3\x01" + event_fingerprint()
        confluent = b"\x00" + self.rng.choice([1, 77, 2**32 - 1]).to_bytes(4, "big")
        return self.rng.choice([b"", single_object, confluent]) + stream.getvalue()


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
