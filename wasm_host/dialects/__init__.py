"""How an event crosses into a guest and how its answer is read. One small class a dialect; more will come."""

from wasm_host.dialects.base import Dialect
from wasm_host.dialects.protobuf_v1 import ProtobufV1
from wasm_host.dialects.rustcdc_v2 import RustcdcV2

DIALECTS: tuple[Dialect, ...] = (ProtobufV1(), RustcdcV2())
"""In order of preference, for a module that exports the version function of several."""

__all__ = ["DIALECTS", "Dialect", "ProtobufV1", "RustcdcV2"]
