"""Many small events that each give as much as one may: the sum is bounded too."""

import pytest

import wasm_host
from abi import Event
from tests.hostile.wat_guest import build
from wasm_host import LimitExceededError, Limits, batch_run
from wasm_host.limits import MIB

EVENT = Event(table="t").SerializeToString()
# One megabyte of an unknown field of bytes: a valid event.
BOMB = build(
    memory='(memory (export "memory") 32)',
    extra='(data (i32.const 65536) "\\fa\\ff\\7f\\80\\80\\40")',
    transform="(call $packed (i32.const 0) (i32.const 65536) (i32.const 1048582))",
    dealloc="(nop)",
)


def test_sum_of_outputs_fails_the_call_and_the_guest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_run, "MAX_OUTPUT_BYTES_PER_BATCH", 8 * MIB)
    with wasm_host.load(BOMB, limits=Limits(fuel_per_event=50_000_000)) as guest:
        assert guest.transform([EVENT] * 7).stats.events_out == 7
        with pytest.raises(LimitExceededError, match="more than 8,388,608 bytes of output") as caught:
            guest.transform([EVENT] * 9)
        assert caught.value.details["limit_name"] == "MAX_OUTPUT_BYTES_PER_BATCH"
        assert guest.transform([EVENT]).stats.events_out == 1
