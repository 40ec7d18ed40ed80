"""Compares wasm with its native twin on a sampled share of the events. Wasm's answer is the one that counts.

Differences are counted, and a few are kept by the event's SHA-256: enough to find it in the source with
`sha2(event, 256)`, without copying private data into metrics.
"""

import hashlib

import numpy as np
import pyarrow as pa

from abi import Event
from spark_udf.counters import MAX_DIFFERENCES, Counters
from wasm_host.native import Pipeline
from wasm_host.result import BatchResult

Outcome = tuple[str, list[bytes | None]]


class Shadow:
    """Takes every n-th event, counted over all batches of a task."""

    def __init__(self, sample: float) -> None:
        self._step = max(1, round(1 / sample))
        self._seen = 0

    def compare(self, events: pa.Array, result: BatchResult, native: Pipeline, counters: Counters) -> None:
        """Run sampled events of a batch through the twin and compare."""
        first = -self._seen % self._step
        self._seen += len(events)
        sampled = np.arange(first, len(events), self._step)
        if not len(sampled):
            return
        inputs = events.take(pa.array(sampled))
        expected = _outcomes(native.transform(inputs), len(sampled))
        found = _outcomes_of_rows(result, sampled)
        counters.shadow_compared += len(sampled)
        for position, (wasm, twin) in enumerate(zip(found, expected, strict=True)):
            if _same(wasm, twin):
                continue
            counters.shadow_differences += 1
            if len(counters.differences) < MAX_DIFFERENCES:
                original = inputs[position].as_py() or b""
                counters.differences.append(
                    {
                        "event_sha256": hashlib.sha256(original).hexdigest(),
                        "wasm": _describe(wasm),
                        "native": _describe(twin),
                    }
                )


def _outcomes(result: BatchResult, length: int) -> list[Outcome]:
    return _outcomes_of_rows(result, np.arange(length))


def _outcomes_of_rows(result: BatchResult, rows: np.ndarray) -> list[Outcome]:
    source = result.rows.to_numpy(zero_copy_only=False)
    codes = {failure.row: failure.code for failure in result.failures}
    outcomes: list[Outcome] = []
    starts, ends = np.searchsorted(source, rows, "left"), np.searchsorted(source, rows, "right")
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        outcomes.append((codes.get(row, ""), result.events.slice(start, end - start).to_pylist()))
    return outcomes


def _same(wasm: Outcome, twin: Outcome) -> bool:
    if bool(wasm[0]) != bool(twin[0]) or len(wasm[1]) != len(twin[1]):
        return False
    return all(a == b or _same_event(a, b) for a, b in zip(wasm[1], twin[1], strict=True))


def _same_event(left: bytes | None, right: bytes | None) -> bool:
    """Say whether two encodings are one event: protobuf leaves the order of fields and map entries free."""
    if left is None or right is None:
        return left is right
    return bool(Event.FromString(left) == Event.FromString(right))


def _describe(outcome: Outcome) -> str:
    code, events = outcome
    if code:
        return f"failed: {code}"
    if not events:
        return "dropped"
    hashes = ", ".join("null" if event is None else hashlib.sha256(event).hexdigest()[:16] for event in events[:4])
    return f"{len(events)} events: {hashes}"
