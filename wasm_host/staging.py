"""Where things lie in the staging memory.

Fixed parts first (state block, last log line, metric slots, log, failures, configuration), then the chunk: offsets,
validity, input, rows, ends, and the output last, so that it can grow without moving the input of a run under way.
"""

from dataclasses import dataclass

from wasm_host.driver_state import (
    FAILURE_RECORD_HEADER_BYTES,
    METRIC_SLOT_BYTES,
    METRIC_SLOTS,
    STATE_BYTES,
)
from wasm_host.limits import KIB, MIB, WASM_PAGE_BYTES, Limits

CHUNK_ROWS = 16_384
CHUNK_BYTES = MIB
_OUTPUT_BYTES = 2 * MIB
_FAILURE_BYTES = 16 * KIB


@dataclass(frozen=True, slots=True)
class StagingLayout:
    """Addresses and capacities for one size of input and output."""

    last_line: int
    metrics: int
    log: int
    failures: int
    failure_capacity: int
    config: int
    offsets: int
    validity: int
    input: int
    input_capacity: int
    rows: int
    ends: int
    entries: int
    output: int
    output_capacity: int

    @classmethod
    def fitting(
        cls,
        limits: Limits,
        *,
        config_bytes: int = 0,
        input_bytes: int = CHUNK_BYTES,
        output_bytes: int = _OUTPUT_BYTES,
    ) -> "StagingLayout":
        """Lay out room for a configuration, a chunk of `input_bytes` and an output of `output_bytes`."""
        entries = max(CHUNK_ROWS, limits.max_output_events_per_event)
        failure_capacity = _FAILURE_BYTES + FAILURE_RECORD_HEADER_BYTES + limits.max_error_message_bytes
        last_line = STATE_BYTES
        metrics = _aligned(last_line + limits.max_error_message_bytes)
        log = metrics + METRIC_SLOTS * METRIC_SLOT_BYTES
        failures = _aligned(log + limits.max_log_bytes_per_batch)
        config = _aligned(failures + failure_capacity)
        offsets = _aligned(config + config_bytes)
        validity = offsets + 4 * (CHUNK_ROWS + 1)
        input_ = _aligned(validity + CHUNK_ROWS // 8 + 2)
        rows = _aligned(input_ + input_bytes)
        ends = rows + 4 * entries
        output = _aligned(ends + 4 * entries)
        return cls(
            last_line=last_line,
            metrics=metrics,
            log=log,
            failures=failures,
            failure_capacity=failure_capacity,
            config=config,
            offsets=offsets,
            validity=validity,
            input=input_,
            input_capacity=input_bytes,
            rows=rows,
            ends=ends,
            entries=entries,
            output=output,
            output_capacity=output_bytes,
        )

    @property
    def pages(self) -> int:
        """Size of a memory that holds all of it."""
        return -(-(self.output + self.output_capacity) // WASM_PAGE_BYTES)


def _aligned(address: int) -> int:
    return -(-address // 16) * 16
