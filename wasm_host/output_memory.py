"""Memory for the outputs of batches, used again as soon as nobody holds it.

A large block from the allocator is given back to the kernel when it is freed, and the next one costs a page fault for
each of its pages: a fifth of what a worker's batch costs with a light transform. Whether a block is in use is told by
its reference count, which Arrow arrays made on it hold; so an output that a caller keeps stays as it is.
"""

import sys
import threading

import numpy as np
import numpy.typing as npt

from wasm_host.limits import KIB, MIB

_MIN_BYTES = 256 * KIB
_MAX_BYTES = 16 * MIB
# Of a worker: one is being filled, one is still held by whoever writes it to Spark, and one more.
_MAX_BLOCKS = 3
_MAX_TIMES_TOO_LARGE = 4
# The list, the loop's variable and the argument of getrefcount itself.
_REFERENCES_WHEN_UNUSED = 3


class OutputMemory:
    """A few blocks of memory. Bounded: at most three of 16 MiB are kept, and only of sizes that batches ask for."""

    def __init__(self) -> None:
        self._blocks: list[npt.NDArray[np.uint8]] = []
        self._lock = threading.Lock()

    def take(self, size_bytes: int) -> npt.NDArray[np.uint8]:
        """A block of at least so many bytes, with anything in it. It is free again when the last reference is gone."""
        if not _MIN_BYTES <= size_bytes <= _MAX_BYTES:
            return np.empty(size_bytes, np.uint8)
        with self._lock:
            for block in self._blocks:
                is_fitting = size_bytes <= len(block) <= _MAX_TIMES_TOO_LARGE * size_bytes
                if is_fitting and sys.getrefcount(block) == _REFERENCES_WHEN_UNUSED:
                    return block
            block = np.empty(size_bytes, np.uint8)
            self._blocks.append(block)
            # The oldest is forgotten here; whoever uses it still has it.
            del self._blocks[:-_MAX_BLOCKS]
            return block


output_memory = OutputMemory()
"""That of the process. A fork has a copy of its own, as of all memory."""
