"""How fast is each format, both ways, and columns ↔ events?

Question: what does it cost to bring events of a format into the canonical form and back, beside what everybody knows,
`json.loads` + `json.dumps` of the same bytes (which keeps neither the text of numbers nor anything else exactly)?

Axes: format and style (the format's standard form; pretty-printed, which needs a layout). One core, one process, warm;
events of about 0.4 to 1.4 kB as they stand in the format descriptions. Excluded: Arrow, Spark, guests.
Columns ↔ events runs on Arrow batches of 10,000 rows, through numpy, without a Python loop over rows.

Run: `python -m benchmarks.bench_formats [--quick]`
"""

import argparse
import json
import time
from collections.abc import Callable

import pyarrow as pa

from abi import Event, Operation
from abi.formats import FORMATS, AvroFormat, OpenCdcFormat, columns_to_events, events_to_columns

ROW = (
    b'{"id":"550e8400-e29b-41d4-a716-446655440000","email":"alice@example.com","name":"Alice Smith","balance":1234.50}'
)


def _event() -> Event:
    event = Event(op=Operation.UPDATE, before=ROW, after=ROW, ts=1768145700123, schema="public", table="users")
    event.primary_key.append("id")
    event.source.source_name, event.source.offset, event.source.timestamp = "postgres", "4521", 1768145700100
    event.transaction.tx_id, event.envelope_version = 1234567890, 1
    return event


def _cdc() -> bytes:
    event = _event()
    texts = {
        "event_id": "evt_550e8400-e29b-41d4-a716-446655440000",
        "schema_name": "acme-api",
        "schema_version": "2.1.0",
    }
    texts |= {"source.instance": "prod-primary-1", "source.session_id": "sess_xyz", "operation.trigger": "api_update"}
    texts |= {"entity.entity_id": "550e8400-e29b-41d4-a716-446655440000", "entity.tenant_id": "tenant-123"}
    texts |= {"timestamp": "2026-01-11T15:35:00.123456Z", "operation.changed_fields": '["email","updated_at"]'}
    for key, text in texts.items():
        event.attributes[f"cdc.{key}"] = text.encode()
    return FORMATS["cdc"].encode(event)


def documents() -> dict[str, bytes]:
    """Make one typical document of each format and style."""
    event = _event()
    compact = {
        "json": FORMATS["json"].encode(event),
        "cdc": _cdc(),
        "opencdc": FORMATS["opencdc"].encode(event),
        "debezium": FORMATS["debezium"].encode(event),
    }
    pretty = {f"{name} (pretty)": json.dumps(json.loads(data), indent=2).encode() for name, data in compact.items()}
    binary = {
        "protobuf": FORMATS["protobuf"].encode(event),
        "avro": FORMATS["avro"].encode(event),
        "avro (single-object)": AvroFormat("single-object").encode(event),
        "opencdc (protobuf)": OpenCdcFormat("protobuf").encode(event),
    }
    return binary | compact | pretty


def _rate(act: Callable[[], object], seconds: float, *, repeat: int = 50) -> float:
    """Count how often `act` runs in a second of processor time, from the best of three runs."""
    act()
    best = 0.0
    for _ in range(3):
        count, start = 0, time.process_time()
        while (spent := time.process_time() - start) < seconds / 3:
            for _ in range(repeat):
                act()
            count += repeat
        best = max(best, count / spent)
    return best


def bench_events(seconds: float) -> None:
    """Print events per second of decode, encode, both, and of json.loads + json.dumps."""
    print(f"{'format':24}{'bytes':>7}{'decode/s':>12}{'encode/s':>12}{'both/s':>12}{'loads+dumps/s':>15}")
    for label, data in documents().items():
        chosen = FORMATS[label.split(" ")[0]]
        event = chosen.decode(data)
        assert chosen.encode(event) == data
        decode = _rate(lambda chosen=chosen, data=data: chosen.decode(data), seconds)
        encode = _rate(lambda chosen=chosen, event=event: chosen.encode(event), seconds)
        both = 1 / (1 / decode + 1 / encode)
        beside = ""
        if data.startswith(b"{"):
            beside = f"{_rate(lambda data=data: json.dumps(json.loads(data)), seconds):,.0f}"
        print(f"{label:24}{len(data):>7}{decode:>12,.0f}{encode:>12,.0f}{both:>12,.0f}{beside:>15}")


def bench_columns(seconds: float) -> None:
    """Print rows per second of events → columns and back, beside a Python loop with the protobuf package."""
    plain, with_attributes = _event(), FORMATS["cdc"].decode(_cdc())
    print(f"\n{'columns':24}{'bytes':>7}{'to columns/s':>15}{'from columns/s':>16}{'parse loop/s':>15}")
    for label, event in (("no attributes", plain), ("10 attributes (cdc)", with_attributes)):
        data = event.SerializeToString()
        events = pa.array([data] * 10_000, pa.binary())
        batch, _ = events_to_columns(events)
        assert [Event.FromString(row) for row in columns_to_events(batch)[0].to_pylist()[:3]] == [event] * 3
        read = _rate(lambda events=events: events_to_columns(events), seconds, repeat=1) * len(events)
        write = _rate(lambda batch=batch: columns_to_events(batch), seconds, repeat=1) * len(events)
        rows = events.to_pylist()
        loop = _rate(lambda rows=rows: [Event.FromString(row) for row in rows], seconds, repeat=1) * len(events)
        print(f"{label:24}{len(data):>7}{read:>15,.0f}{write:>16,.0f}{loop:>15,.0f}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one short run, to see that it works")
    quick: bool = parser.parse_args().quick
    bench_events(0.06 if quick else 1.5)
    bench_columns(0.06 if quick else 3)


if __name__ == "__main__":
    main()
