"""How fast is each example in the sandbox, beside its native twin in plain Python?

Question: what does a transform cost as a WebAssembly guest, through the whole host (batch in, batch out), against the
same transform in Python through the native pipeline? Axes: the example; for `mask_pii` the action (redact, hmac). The
event is an update of about 470 bytes with both row images. Each row runs guest and twin in turn, several rounds, and
shows the medians, so that a noisy moment hits both.

The twins keep every byte that they do not change, which Python's json module cannot. For those who would not mind, the
last column has the same masking by `json.loads` and `json.dumps`: faster Python that loses the text of numbers.

Excluded: Spark, loading (compile time has a column of its own: wasmtime, cold, one thread).

Run: `python -m benchmarks.bench_guests [--quick]`
"""

import argparse
import hashlib
import hmac
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import wasmtime

import wasm_host
from abi import Event, Operation
from guest_examples import load_wasm, twin
from wasm_host.native import Pipeline

HMAC_KEY = "0123456789abcdef0123456789abcdef"
ROW = (
    b'{"id":9007199254740993,"contact":{"email":"alice@example.com","phone":"+49 30 1234567"},"name":"Alice Smith",'
    b'"status":"active","balance":1234.50,"created_at":"2026-01-11T15:35:00Z"}'
)
OUTBOX_ROW = b'{"id":"e1","aggregatetype":"order","aggregateid":42,"type":"Placed","payload":"{\\"total\\":1.50}"}'
CASCADE = (
    b'{"updated":[{"entity_type":"Organization","entity_id":"880e","changes":["member_count"],"reason":"gone"}],'
    b'"deleted":[{"entity_type":"Post","entity_id":"990e","reason":"parent_deleted"}],"invalidations":[]}'
)
TWO_FIELDS = ("contact.email", "name")


def make_event() -> Event:
    """An update with both row images, about 470 bytes."""
    event = Event(op=Operation.UPDATE, schema="public", table="users", ts=1768145700123, primary_key=["id"])
    event.before, event.after = ROW, ROW.replace(b"1234.50", b"1250.00")
    event.source.source_name, event.source.offset = "postgres", "0/16B3748"
    event.source.timestamp, event.transaction.tx_id, event.envelope_version = 1768145700100, 1234567890, 1
    event.attributes["cdc.entity.tenant_id"] = b"acme"
    return event


def _rules(action: str) -> dict[str, Any]:
    return {"rules": [{"path": path, "action": action} for path in TWO_FIELDS], "hmac_key": HMAC_KEY}


def workloads() -> dict[str, tuple[str, dict[str, Any], bytes]]:
    """By label: the example, its configuration and the event."""
    event = make_event()
    outbox, cascade = make_event(), make_event()
    outbox.op, outbox.table, outbox.after = Operation.INSERT, "outbox", OUTBOX_ROW
    outbox.ClearField("before")
    cascade.attributes["cdc.cascade"] = CASCADE
    usual: dict[str, tuple[str, dict[str, Any]]] = {
        "mask_pii redact": ("mask_pii", _rules("redact")),
        "mask_pii hmac": ("mask_pii", _rules("hmac")),
        "mask_pii default": ("mask_pii", {"default": {"action": "redact"}}),
        "filter_rows where": ("filter_rows", {"where": {"field": "balance", "op": ">=", "value": 1000}}),
        "filter_rows entity": ("filter_rows", {"entities": ["public.users"], "tenants": ["acme"]}),
        "filter_rows changed": ("filter_rows", {"changed_fields": ["balance"]}),
        "project_columns": ("project_columns", {"exclude": ["contact.phone", "status"]}),
        "rename_fields": ("rename_fields", {"steps": [{"op": "rename", "field": "name", "to": "full_name"}]}),
        "flatten": ("flatten", {}),
        "route": ("route", {"routes": [{"match": "users", "to": "people"}]}),
        "tenant_guard": ("tenant_guard", {"tenant": "acme"}),
        "pass_through": ("pass_through", {}),
        "drop_all": ("drop_all", {}),
    }
    found = {label: (name, config, event.SerializeToString()) for label, (name, config) in usual.items()}
    found["outbox"] = ("outbox", {}, outbox.SerializeToString())
    found["explode_cascade"] = ("explode_cascade", {}, cascade.SerializeToString())
    return found


def mask_with_json(action: str) -> Callable[[Event], Event]:
    """The masking that most people would write: whole documents through the json module."""
    key = HMAC_KEY.encode()

    def hide(text: str) -> str:
        return "***" if action == "redact" else hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def transform(event: Event) -> Event:
        for image in ("before", "after"):
            if event.HasField(image):
                row = json.loads(getattr(event, image))
                row["contact"]["email"] = hide(row["contact"]["email"])
                row["name"] = hide(row["name"])
                setattr(event, image, json.dumps(row, separators=(",", ":")).encode())
        return event

    return transform


def seconds_per_event(run: Callable[[pa.Array], Any], events: pa.Array) -> float:
    """Time one batch."""
    started = time.perf_counter()
    run(events)
    return (time.perf_counter() - started) / len(events)


def compile_seconds(wasm: bytes) -> float:
    """Compile a module as a worker does: one thread, fuel on, nothing cached."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.parallel_compilation = False
    engine = wasmtime.Engine(config)
    started = time.perf_counter()
    wasmtime.Module(engine, wasm)
    return time.perf_counter() - started


def measure(label: str, name: str, config: dict[str, Any], event: bytes, *, rounds: int, count: int) -> None:
    """Measure one row of the table and print it."""
    batch, few = (pa.array([event] * size, pa.binary()) for size in (count, max(count // 20, 100)))
    contenders: list[tuple[Callable[[pa.Array], Any], pa.Array]] = []
    with wasm_host.load(load_wasm(name), config=config or None) as guest:
        contenders.append((guest.transform, batch))
        contenders.append((Pipeline([twin(name).build(config)]).transform, few))
        if label in ("mask_pii redact", "mask_pii hmac"):
            contenders.append((Pipeline([mask_with_json(label.split()[1])]).transform, few))
        assert not guest.transform(batch[:1]).failures
        times: list[list[float]] = [[] for _ in contenders]
        for _ in range(rounds):
            for (run, events), found in zip(contenders, times, strict=True):
                found.append(seconds_per_event(run, events))
    wasm, native, *plain = (statistics.median(found) * 1e6 for found in times)
    compiled = statistics.median(compile_seconds(load_wasm(name)) for _ in range(3)) * 1e3
    line = f"{label:<20} {wasm:>9.3f} {native:>9.2f} {native / wasm:>7.1f}x {compiled:>9.1f}"
    print(line + (f" {plain[0]:>9.2f} {plain[0] / wasm:>7.1f}x" if plain else ""))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Guests against their native twins.")
    parser.add_argument("--quick", action="store_true", help="one small round, to see that it runs")
    quick = parser.parse_args().quick
    rounds, count = (1, 2_000) if quick else (9, 20_000)
    print(f"event of {len(make_event().SerializeToString())} bytes, batches of {count}, median of {rounds} rounds")
    print(f"{'':<20} {'guest µs':>9} {'twin µs':>9} {'ratio':>8} {'compile ms':>9} {'json µs':>8} {'ratio':>8}")
    for label, (name, config, event) in workloads().items():
        measure(label, name, config, event, rounds=rounds, count=count)


if __name__ == "__main__":
    main()
