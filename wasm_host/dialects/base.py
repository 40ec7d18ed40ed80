"""What a dialect must say."""

from abc import ABC, abstractmethod
from typing import ClassVar

import pyarrow as pa

from wasm_host.event_source import Events
from wasm_host.result import Failure


class Dialect(ABC):
    """One contract between host and guest.

    Attributes:
        name: Shown to people, and part of cache keys.
        version_export: The export by which a module says that it follows this dialect.
        version: What that export must return.
        has_kinds: Whether the packed answer carries two bits of kind above 30 bits of pointer.
        is_validated_in_wasm: Whether the driver checks that outputs are protobuf events.
    """

    name: ClassVar[str]
    version_export: ClassVar[str]
    version: ClassVar[int]
    has_kinds: ClassVar[bool]
    is_validated_in_wasm: ClassVar[bool]

    @abstractmethod
    def encode_inputs(self, events: Events) -> tuple[Events, list[Failure]]:
        """Turn canonical protobuf events into what the guest reads; an event that cannot be turned is a failure."""

    @abstractmethod
    def decode_outputs(self, outputs: pa.Array, rows: pa.Array, inputs: Events) -> tuple[pa.Array, list[Failure]]:
        """Turn the guest's outputs into protobuf events, null where a failure with that output's row is returned.

        `inputs` are the canonical events the outputs came from, for what the dialect itself cannot carry.
        """
