"""The guests that a worker process keeps ready: at most so many, and no more memory than so much, least used out first.

A guest belongs to one tenant and is found by tenant, digest, configuration and limits; two tenants never share an
instance, even where all else is equal. The compiled code beneath is cached by `wasm_host`, in the process and on the
executor's disk.
"""

from collections import OrderedDict

import msgpack

import wasm_host
from spark_udf.bundle import BundledStep
from spark_udf.secret import SecretValues

MAX_GUESTS = 2_048
MAX_GUEST_MEMORY_BYTES = 1024 * 1024 * 1024

GuestKey = tuple[str | None, str, bytes, wasm_host.Limits, wasm_host.Isolation, bool]


class GuestPool:
    """Guests of all tenants of a worker process."""

    def __init__(self, *, max_guests: int = MAX_GUESTS, max_memory_bytes: int = MAX_GUEST_MEMORY_BYTES) -> None:
        self._max_guests = max_guests
        self._max_memory_bytes = max_memory_bytes
        self._guests: OrderedDict[GuestKey, wasm_host.Guest] = OrderedDict()
        self._memory_bytes: dict[GuestKey, int] = {}

    def __len__(self) -> int:
        return len(self._guests)

    def key_of(self, tenant: str | None, step: BundledStep, secrets: SecretValues) -> GuestKey:
        """What tells a guest from all others."""
        config = msgpack.packb(secrets.fill(step.config))
        return (tenant, step.digest, config, step.limits, step.isolation, step.wasi)

    def get(self, key: GuestKey, code: bytes) -> tuple[wasm_host.Guest, bool]:
        """Get a guest, loading it if it is not there.

        Returns:
            The guest, and whether it was there.

        Raises:
            TransformError: the module cannot be loaded here; the driver has admitted it, so the executor differs.
        """
        guest = self._guests.get(key)
        if guest is not None:
            self._guests.move_to_end(key)
            return guest, True
        _, _, config, limits, isolation, wasi = key
        guest = wasm_host.load(code, config=msgpack.unpackb(config), limits=limits, isolation=isolation, wasi=wasi)
        self._guests[key] = guest
        return guest, False

    def note_memory(self, key: GuestKey) -> None:
        """Look at how much memory a guest has grown to after a batch, and make room if all together are over."""
        self._memory_bytes[key] = self._guests[key].memory_bytes
        while len(self._guests) > 1 and (
            len(self._guests) > self._max_guests or sum(self._memory_bytes.values()) > self._max_memory_bytes
        ):
            oldest, guest = self._guests.popitem(last=False)
            self._memory_bytes.pop(oldest, None)
            guest.close()

    def close(self) -> None:
        """Close all guests."""
        for guest in self._guests.values():
            guest.close()
        self._guests.clear()
        self._memory_bytes.clear()
