"""A batch that ends in the middle leaves nothing behind for the next one."""

import pytest

import guest_examples
import wasm_host
from abi import Event
from wasm_host import batch_run

EVENTS = [Event(table=f"t{number}").SerializeToString() for number in range(5)]


def test_outputs_of_an_interrupted_batch_do_not_reach_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with wasm_host.load(guest_examples.load_wasm("pass_through")) as guest:
        with monkeypatch.context() as patch:

            def interrupt(*_: object) -> int:
                raise KeyboardInterrupt

            # After the run inside wasm, before its output is taken.
            patch.setattr(batch_run.BatchRun, "_count_fuel", interrupt)
            with pytest.raises(KeyboardInterrupt):
                guest.transform(EVENTS)
        result = guest.transform(EVENTS[:2])
    assert result.events.to_pylist() == EVENTS[:2]
    assert result.rows.to_pylist() == [0, 1]
