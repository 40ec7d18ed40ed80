"""A guest that does what its input says: it answers with the packed result and the bytes that the test chose.

The host does not look into inputs, so an input need not be an event. Here it is: the answer (8 bytes, little-endian),
the number of bytes to put at 4096 (8 bytes), those bytes. The memory has one page and the input always lies at 1024,
as the vectors say.
"""

import wasmtime

from abi import ResultKind, pack_result

MEMORY_BYTES = 65536
INPUT_AT = 1024
PAYLOAD_AT = 4096

PUPPET_WASM = bytes(
    wasmtime.wat2wasm(f"""
    (module
      (memory (export "memory") 1 1)
      (func (export "wasm_host_abi_version") (result i32) (i32.const 1))
      (func (export "alloc") (param i32) (result i32) (i32.const {INPUT_AT}))
      (func (export "dealloc") (param i32 i32))
      (func (export "transform") (param $ptr i32) (param $len i32) (result i64)
        (memory.copy
          (i32.const {PAYLOAD_AT}) (i32.add (local.get $ptr) (i32.const 16)) (i32.load offset=8 (local.get $ptr)))
        (i64.load (local.get $ptr))))
    """)
)


def answer_with(packed: int, payload: bytes = b"", length: int = 64) -> bytes:
    """The input that makes the puppet answer so; padded to `length` bytes."""
    data = packed.to_bytes(8, "little") + len(payload).to_bytes(8, "little") + payload
    return data.ljust(length, b"\0")


def answer_with_bytes(kind: ResultKind, payload: bytes) -> bytes:
    """The input that makes the puppet answer with these bytes, as that kind."""
    return answer_with(pack_result(kind, PAYLOAD_AT, len(payload)), payload)
