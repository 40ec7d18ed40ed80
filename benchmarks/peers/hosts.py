"""The ways to run a transform over a list of events; each is a function from events to the number that came out."""

import hashlib
import hmac
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import extism
import msgpack
import orjson
import pyarrow as pa
import wasmtime
from google.protobuf.internal.decoder import _DecodeVarint32

import wasm_host
from abi import Event, Operation
from benchmarks.peers.workloads import FIELDS, HMAC_KEY, Workload
from guest_examples import load_wasm, twin
from wasm_host.native import Pipeline

HERE = Path(__file__).parent
FUEL_PER_EVENT = 20_000_000
Run = Callable[[list[bytes]], int]


def ours(work: Workload) -> Run:
    """This host: batches in Arrow, the module's export called once an event, inside WebAssembly."""
    guest = wasm_host.load(load_wasm(work.example, "zig"), config=work.config)

    def run(events: list[bytes]) -> int:
        result = guest.transform(pa.array(events, pa.binary()))
        assert not result.failures, result.failures[0]
        return len(result.events)

    return run


def ours_one_by_one(work: Workload) -> Run:
    """This host as it is not meant to be used: a batch of one, again and again."""
    guest = wasm_host.load(load_wasm(work.example, "zig"), config=work.config)
    return lambda events: sum(len(guest.transform([event]).events) for event in events)


def per_event_calls(work: Workload) -> Run:
    """What a Python embedding does: alloc, write, transform, dealloc, read, dealloc for each event, with fuel."""
    config = wasmtime.Config()
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    store = wasmtime.Store(engine)
    store.set_fuel(10 * FUEL_PER_EVENT)
    linker = wasmtime.Linker(engine)
    services = wasmtime.Module(engine, wasmtime.wat2wasm((HERE / "no_services.wat").read_text()))
    linker.define_instance(store, "env", linker.instantiate(store, services))
    instance = linker.instantiate(store, wasmtime.Module(engine, load_wasm(work.example, "zig")))
    exports: Any = instance.exports(store)
    alloc, dealloc, transform, memory = (exports[name] for name in ("alloc", "dealloc", "transform", "memory"))
    packed = msgpack.packb(work.config)
    block = alloc(store, len(packed))
    memory.write(store, packed, block)
    assert exports["init"](store, block, len(packed)) == 0
    dealloc(store, block, len(packed))

    def run(events: list[bytes]) -> int:
        count = 0
        for event in events:
            store.set_fuel(FUEL_PER_EVENT)
            source = alloc(store, len(event))
            memory.write(store, event, source)
            answer = transform(store, source, len(event)) & 0xFFFFFFFFFFFFFFFF
            kind, pointer, size = answer >> 62, answer >> 32 & 0x3FFFFFFF, answer & 0xFFFFFFFF
            assert kind < 2
            if pointer != source:
                dealloc(store, source, len(event))
            if size:
                output = bytes(memory.read(store, pointer, pointer + size))
                dealloc(store, pointer, size)
                count += sum(1 for _ in _messages(output)) if kind else 1
        return count

    return run


def extism_plugin(work: Workload) -> Run:
    """The Extism Python SDK: the same module behind an adapter in WebAssembly, one call an event, without fuel."""
    named = {
        "env": wasmtime.wat2wasm((HERE / "no_services.wat").read_text()),
        "guest": load_wasm(work.example, "zig"),
        "main": wasmtime.wat2wasm((HERE / "extism_adapter.wat").read_text()),
    }
    plugin = extism.Plugin({"wasm": [{"data": bytes(code), "name": name} for name, code in named.items()]})
    plugin.call("configure", msgpack.packb(work.config))
    is_several = work.transform == "explode"

    def run(events: list[bytes]) -> int:
        count = 0
        for event in events:
            output = plugin.call("transform", event)
            if output:
                count += sum(1 for _ in _messages(output)) if is_several else 1
        return count

    return run


def native(work: Workload) -> Run:
    """The native pipeline: the guest's twin in Python, which keeps every byte that it does not change."""
    pipeline = Pipeline([twin(work.example).build(work.config)])
    return lambda events: len(pipeline.transform(pa.array(events, pa.binary())).events)


def native_orjson(work: Workload) -> Run:
    """The native pipeline with transforms written for speed: upb and orjson (numbers and layout are not kept)."""
    pipeline = Pipeline([_ORJSON[work.transform]])

    def run(events: list[bytes]) -> int:
        result = pipeline.transform(pa.array(events, pa.binary()))
        assert not result.failures, result.failures[0]
        return len(result.events)

    return run


def _messages(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        size, position = _DecodeVarint32(data, position)
        yield data[position : position + size]
        position += size


def _change_images(event: Event, change: Callable[[dict[str, Any]], None]) -> Event:
    for image in ("before", "after"):
        if event.HasField(image):
            row = orjson.loads(getattr(event, image))
            change(row)
            setattr(event, image, orjson.dumps(row))
    return event


def _redact(event: Event) -> Event:
    def change(row: dict[str, Any]) -> None:
        for name in FIELDS:
            if row.get(name) is not None:
                row[name] = "***"

    return _change_images(event, change)


def _hmac(event: Event) -> Event:
    def change(row: dict[str, Any]) -> None:
        if row.get("email") is not None:
            row["email"] = hmac.digest(HMAC_KEY.encode(), row["email"].encode(), hashlib.sha256).hex()

    return _change_images(event, change)


def _filter(event: Event) -> Event | None:
    row = orjson.loads(event.after if event.HasField("after") else event.before)
    return event if row.get("status") == "active" else None


def _explode(event: Event) -> list[Event]:
    cascade = orjson.loads(event.attributes["cdc.cascade"])
    found = [event]
    for kind, operation in (("updated", Operation.UPDATE), ("deleted", Operation.DELETE)):
        for entry in cascade[kind]:
            other = Event(op=operation, table=entry["entity_type"], ts=event.ts, schema=event.schema)
            other.after = orjson.dumps({"id": entry["entity_id"]})
            found.append(other)
        cascade[kind] = []
    event.attributes["cdc.cascade"] = orjson.dumps(cascade)
    return found


_ORJSON: dict[str, Callable[[Event], Event | list[Event] | None]] = {
    "pass-through": lambda event: event,
    "redaction": _redact,
    "hmac": _hmac,
    "filter": _filter,
    "explode": _explode,
}
