"""The native pipeline: the same BatchResult from plain Python transforms.

For comparison (it is the oracle of the guests), and as a fallback where somebody trusts their own Python. It is not a
sandbox.
"""

import time
from collections.abc import Callable, Sequence

import pyarrow as pa
from google.protobuf.message import DecodeError as ProtobufDecodeError

from abi import Event, EventFailure
from abi.failures import FailureCode
from wasm_host.event_source import Events, sources_of
from wasm_host.guest_text import clean_text
from wasm_host.result import BatchResult, BatchStats, Failure

Transform = Callable[[Event], Event | list[Event] | None]
"""One event in; one, several or none out. An exception is that event's failure."""

_MAX_MESSAGE_BYTES = 1024


class Pipeline:
    """Runs each event through all transforms, in order. Usable wherever a guest is."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self._transforms = tuple(transforms)

    def transform(self, events: Events) -> BatchResult:
        """Run a batch.

        Raises:
            ConfigError: `events` is neither a sequence of bytes or None nor an Arrow array of binaries.
        """
        started = time.perf_counter()
        sources = list(sources_of(events))
        stats = BatchStats(
            events_in=sum(source.count for source in sources),
            bytes_in=sum(source.size_bytes(0, source.count) for source in sources),
        )
        outputs: list[bytes | None] = []
        rows: list[int] = []
        failures: list[Failure] = []
        for row, value in enumerate(_values(events)):
            if value is None:
                outputs.append(None)
                rows.append(row)
                continue
            try:
                results = self._run(value)
            except Exception as error:  # noqa: BLE001 - whatever a transform raises is that event's failure
                failures.append(_failure(row, error))
                continue
            stats.events_dropped += not results
            outputs.extend(results)
            rows.extend([row] * len(results))
        stats.events_out = len(outputs)
        stats.events_failed = len(failures)
        stats.bytes_out = sum(len(output) for output in outputs if output is not None)
        stats.wall_seconds = time.perf_counter() - started
        return BatchResult(pa.array(outputs, pa.binary()), pa.array(rows, pa.int32()), failures, stats)

    def _run(self, value: bytes) -> list[bytes]:
        events = [Event.FromString(value)]
        for transform in self._transforms:
            events = [result for event in events for result in _as_list(transform(event))]
        return [event.SerializeToString(deterministic=True) for event in events]

    def close(self) -> None:
        """Nothing to free; there so that a pipeline can stand where a guest stands."""

    def __enter__(self) -> "Pipeline":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _as_list(result: Event | list[Event] | None) -> list[Event]:
    if result is None:
        return []
    return result if isinstance(result, list) else [result]


def _values(events: Events) -> Sequence[bytes | None]:
    if isinstance(events, (pa.Array, pa.ChunkedArray)):
        values: list[bytes | None] = events.to_pylist()
        return values
    return list(events)


def _failure(row: int, error: Exception) -> Failure:
    if isinstance(error, EventFailure):
        words = clean_text(error.message.encode(), max_bytes=_MAX_MESSAGE_BYTES)
        return Failure(row, FailureCode.GUEST_FAILURE, f'the transform failed the event: "{words}"', words)
    if isinstance(error, ProtobufDecodeError):
        return Failure(row, FailureCode.INPUT_NOT_AN_EVENT, "the input is not an Event in protobuf")
    words = clean_text(f"{type(error).__name__}: {error}".encode(), max_bytes=_MAX_MESSAGE_BYTES)
    return Failure(row, FailureCode.NATIVE_EXCEPTION, f"the transform raised {words}", words)
