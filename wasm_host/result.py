"""What a batch became: outputs, where each came from, and an exact verdict for every event that has none."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one event has no output.

    Attributes:
        row: Its row in the batch.
        code: Stable, one of `abi.failures.FailureCode`.
        message: One line that stands alone.
        guest_text: The guest's own words (its message, abort text or last log line), bounded and escaped.
        fuel: What the event used, where it ran alone; None where it shared a chunk with others.
    """

    row: int
    code: str
    message: str
    guest_text: str | None = None
    fuel: int | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that the guest logged; `row` is None while the guest was being brought up."""

    row: int | None
    level: str
    text: str


@dataclass(slots=True)
class BatchStats:
    """Counts of one batch. Nulls go in and out and count as neither dropped nor failed."""

    events_in: int = 0
    events_out: int = 0
    events_dropped: int = 0
    events_failed: int = 0
    fuel: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    instances_made: int = 0
    wall_seconds: float = 0.0
    log_lines_lost: int = 0
    metrics_lost: int = 0


@dataclass(slots=True)
class BatchResult:
    """The outcome of `transform`.

    Attributes:
        events: Output events, in order; null where the input was null.
        rows: For each output, the input row it came from.
        failures: In order of rows.
        stats: Counts, fuel, bytes and time.
        logs: What the guest logged, as far as it fitted.
        metrics: What the guest recorded, summed by name.
    """

    events: "pa.Array"
    rows: "pa.Array"
    failures: list[Failure] = field(default_factory=list)
    stats: BatchStats = field(default_factory=BatchStats)
    logs: list[LogLine] = field(default_factory=list)
    metrics: dict[str, int] = field(default_factory=dict)

    @property
    def row_numbers(self) -> npt.NDArray[np.int32]:
        """`rows` as numpy sees them, without a copy."""
        # Not rows.to_numpy(), which imports pandas: 150 ms of a worker's first batch.
        if not len(self.rows):
            return np.empty(0, np.int32)
        return np.frombuffer(self.rows.buffers()[1], np.int32, count=len(self.rows), offset=4 * self.rows.offset)
