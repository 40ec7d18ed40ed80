"""rustcdc's ABI version 2: the same exports, events as serde's JSON.

Only the conversion costs Python time; the batch still runs inside the driver. What rustcdc's JSON has no field for
(attributes) is taken from the input again, except what repeats row values.
"""

import pyarrow as pa

from abi import Event, TransformError, formats
from abi.failures import FailureCode
from abi.names import ROW_VALUE_ATTRIBUTES, RUSTCDC_ABI_VERSION, RUSTCDC_VERSION_EXPORT
from wasm_host.dialects.base import Dialect
from wasm_host.event_source import Events
from wasm_host.result import Failure


class RustcdcV2(Dialect):
    """JSON events; the answer is 32 bits of pointer and 32 bits of length, 0 drops."""

    name = "rustcdc/2"
    version_export = RUSTCDC_VERSION_EXPORT
    version = RUSTCDC_ABI_VERSION
    has_kinds = False
    is_validated_in_wasm = False

    def encode_inputs(self, events: Events) -> tuple[Events, list[Failure]]:
        """Protobuf to JSON; what is not an event fails here and goes on as null."""
        encode = formats.get("json").encode
        read = formats.get("protobuf").decode
        encoded: list[bytes | None] = []
        failures: list[Failure] = []
        for row, value in enumerate(_values(events)):
            try:
                encoded.append(None if value is None else encode(read(value)))
            except TransformError as error:
                encoded.append(None)
                message = f"the input cannot be given to a rustcdc guest: {error.message}"
                failures.append(Failure(row, FailureCode.INPUT_NOT_AN_EVENT, message))
        return pa.array(encoded, pa.large_binary()), failures

    def decode_outputs(self, outputs: pa.Array, rows: pa.Array, inputs: Events) -> tuple[pa.Array, list[Failure]]:
        """JSON to protobuf; what is not an event is that row's failure."""
        decode = formats.get("json").decode
        values = _values(inputs)
        decoded: list[bytes | None] = []
        failures: list[Failure] = []
        for row, text in zip(rows.to_pylist(), outputs.to_pylist(), strict=True):
            source = values[row]
            if text is None or source is None:
                decoded.append(None)
                continue
            try:
                event = decode(text)
            except TransformError as error:
                decoded.append(None)
                message = f"the guest's output is not an event in JSON: {error.message}"
                failures.append(Failure(row, FailureCode.OUTPUT_NOT_AN_EVENT, message))
                continue
            # How the guest laid out its text is no property of the event.
            event.attributes.pop("json.layout", None)
            for name, value in Event.FromString(source).attributes.items():
                # A guest that masks cannot see these, so giving them back would undo its work.
                if name not in event.attributes and name not in ROW_VALUE_ATTRIBUTES:
                    event.attributes[name] = value
            decoded.append(event.SerializeToString(deterministic=True))
        return pa.array(decoded, pa.binary()), failures


def _values(events: Events) -> list[bytes | None]:
    if isinstance(events, (pa.Array, pa.ChunkedArray)):
        values: list[bytes | None] = events.to_pylist()
        return values
    return list(events)
