"""The state block at address 0 of the staging memory: how Python and the in-wasm driver talk to each other.

Declared once, here. The WAT text names a field as `offset=@name`; `host_modules.py` puts the offset in. The block
survives a trap, so it also says which event was under way and in which export.
"""

import ctypes
import struct
from enum import IntEnum

STATE_BYTES = 256
METRIC_SLOTS = 256
METRIC_SLOT_BYTES = 192
METRIC_NAME_OFFSET = 40
LOG_RECORD_HEADER_BYTES = 12
FAILURE_RECORD_HEADER_BYTES = 12
NULL_ROW_BIT = 0x8000_0000


class RunStatus(IntEnum):
    """What the driver's `run` returns."""

    DONE = 0
    OUTPUT_FULL = 1
    FAILED = 2


class StartStatus(IntEnum):
    """What the driver's `start` returns."""

    READY = 0
    WRONG_VERSION = 1
    NO_BLOCK = 2
    REFUSED = 3


STAGES: dict[int, str] = {
    1: "alloc",
    2: "transform",
    3: "dealloc",
    4: "dealloc",
    11: "_initialize",
    12: "wasm_host_abi_version",
    13: "alloc",
    14: "init",
    15: "dealloc",
    16: "shutdown",
}
"""Which export the driver entered last, by the number in `stage`."""

_WRITTEN_BY_HOST_PER_SEGMENT = (
    "row_base",
    "offsets_address",
    "input_address",
    "validity_address",
    "validity_bit",
    "first",
    "index",  # then counted by the driver
    "count",
    "is_fresh",
    "answer_waits",  # then set by the driver
)
SEGMENT_WORDS = struct.Struct(f"<{len(_WRITTEN_BY_HOST_PER_SEGMENT)}I")
"""These fields, which the block begins with, in one write."""
_WRITTEN_BY_HOST_PER_INSTANCE = (
    "expected_version",
    "has_kinds",
    "validates",
    "has_init",
    "config_address",
    "config_bytes",
    "max_output_bytes",
    "max_output_events",
    "max_message_bytes",
    "confirm_pages",
    "metrics_address",
    "last_line_address",
    "line_capacity",
    "log_address",
    "log_capacity",
    "failure_address",
    "failure_capacity",
)
_WRITTEN_BY_HOST_PER_LAYOUT = (
    "running",
    "rows_address",
    "ends_address",
    "output_events_capacity",
    "output_address",
    "output_capacity",
)
_WRITTEN_BY_DRIVER = (
    "stage",
    "failure_code",
    "detail",
    "output_events",
    "output_bytes",
    "bytes_wanted",
    "failure_bytes",
    "log_bytes",
    "log_mark",
    "log_lines_lost",
    "log_lines_lost_mark",
    "last_line_bytes",
    "aborted",
    "abort_line",
    "abort_column",
    "touched_metrics",
    "pending_counts",
    "metrics_seen",
    "metrics_lost",
    "metrics_lost_mark",
    "answer_kind",
    "answer_ptr",
    "answer_bytes",
    "answer_block_bytes",
)


class DriverState(ctypes.LittleEndianStructure):
    """All fields are unsigned 32-bit words; addresses are addresses in the staging memory."""

    _fields_ = [
        (name, ctypes.c_uint32)
        for name in (
            *_WRITTEN_BY_HOST_PER_SEGMENT,
            *_WRITTEN_BY_HOST_PER_INSTANCE,
            *_WRITTEN_BY_HOST_PER_LAYOUT,
            *_WRITTEN_BY_DRIVER,
        )
    ]


FIELD_OFFSETS: dict[str, int] = {name: getattr(DriverState, name).offset for name, *_ in DriverState._fields_}

assert ctypes.sizeof(DriverState) <= STATE_BYTES
