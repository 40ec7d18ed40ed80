"""Memory that cannot be had is logged and trapped, never a failure of the event: a fresh instance may have the room."""

from typing import Any

import pytest

import wasm_host
from abi import Event
from guest_examples import load_wasm
from wasm_host import Limits

MIB = 1 << 20
GOOD = Event(op="INSERT", table="t", after=b'{"a":{"b":"x"},"id":1}').SerializeToString()
# Each rewrites the image, for which there is no room beside the image itself.
REWRITES: dict[str, dict[str, Any]] = {
    "flatten": {},
    "mask_pii": {"rules": [{"path": "id", "action": "redact"}]},
    "project_columns": {"exclude": ["id"]},
    "rename_fields": {"steps": [{"op": "remove", "field": "id"}]},
}


@pytest.mark.parametrize("name", REWRITES)
def test_zig_guest_out_of_memory_logs_why_and_traps(name: str) -> None:
    limits = Limits(fuel_per_event=1_000_000_000, max_memory_bytes=4 * MIB)
    large = b'{"a":{"b":"' + b"x" * (5 * MIB // 2) + b'"},"id":1}'
    events = [GOOD, Event(op="INSERT", table="t", after=large).SerializeToString(), GOOD]
    with wasm_host.load(load_wasm(name, "zig"), config=REWRITES[name], limits=limits) as guest:
        result = guest.transform(events)
    assert [(failure.row, failure.code, failure.guest_text) for failure in result.failures] == [
        (1, "TRAP_UNREACHABLE", "out of memory")
    ]
    assert result.rows.to_pylist() == [0, 2]
