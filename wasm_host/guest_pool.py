"""Guests that a process keeps ready: at most so many, and no more memory than so much, the least used out first.

Keyed by whatever tells one guest from all others; a platform that serves tenants puts the tenant into the key, so that
two tenants never share an instance even where all else is equal.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable

from wasm_host.engine import SMALL_RESERVATION_BYTES, address_space_bytes
from wasm_host.errors import HostError
from wasm_host.guest import Guest
from wasm_host.limits import MIB

DEFAULT_MAX_GUESTS = 2_048
DEFAULT_MAX_MEMORY_BYTES = 1024 * MIB
# Of a limited address space an eighth is for guests that wait: Python and Arrow need most of the rest, and the guest at
# work may move to a larger place while it grows.
_SHARE_OF_ADDRESS_SPACE = 8
_MEMORIES_PER_GUEST = 2


class GuestPool:
    """A bounded set of loaded guests. After a fork the child starts with none and leaves the parent's alone."""

    def __init__(
        self, *, max_guests: int = DEFAULT_MAX_GUESTS, max_memory_bytes: int = DEFAULT_MAX_MEMORY_BYTES
    ) -> None:
        self._max_guests = max_guests
        self._max_memory_bytes = max_memory_bytes
        self._guests: OrderedDict[Hashable, Guest] = OrderedDict()
        self._held_bytes: dict[Hashable, int] = {}
        self._total_bytes = 0
        self._process = os.getpid()
        self._inherited: list[object] = []
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._guests)

    def get(self, key: Hashable, load: Callable[[], Guest]) -> Guest:
        """The guest under `key`, loaded if it is not there.

        Raises:
            TransformError: whatever `load` raises; nothing is kept then.
        """
        self._forget_inherited()
        guest = self._guests.get(key)
        if guest is None:
            self.misses += 1
            guest = self._guests[key] = self._load_with_room(load)
            self.settle(key)
        else:
            self.hits += 1
            self._guests.move_to_end(key)
        return guest

    def settle(self, key: Hashable) -> None:
        """Look at how much memory a guest holds after a batch, and make room if all together hold too much."""
        guest = self._guests.get(key)
        if guest is None:
            return
        room_bytes, least_bytes = self._max_memory_bytes, 0
        address_space = address_space_bytes()
        if address_space is not None:
            room_bytes = min(room_bytes, address_space // _SHARE_OF_ADDRESS_SPACE)
            least_bytes = _MEMORIES_PER_GUEST * SMALL_RESERVATION_BYTES
        self._note(key, max(guest.held_bytes, least_bytes))
        while len(self._guests) > 1 and (len(self._guests) > self._max_guests or self._total_bytes > room_bytes):
            self._close_oldest()

    def make_room(self, key: Hashable) -> bool:
        """Close all guests but one, for a batch of it that found no memory; False when there was nothing to close."""
        others = [other for other in self._guests if other != key]
        for other in others:
            self._note(other, 0)
            self._guests.pop(other).close()
        return bool(others)

    def _load_with_room(self, load: Callable[[], Guest]) -> Guest:
        """Load; where the machine has no room, guests that wait make some."""
        while True:
            try:
                return load()
            except HostError:
                if not self._guests:
                    raise
            self._close_oldest()

    def _close_oldest(self) -> None:
        oldest, unused = self._guests.popitem(last=False)
        self._note(oldest, 0)
        unused.close()

    def _note(self, key: Hashable, held_bytes: int) -> None:
        self._total_bytes += held_bytes - self._held_bytes.pop(key, 0)
        if held_bytes:
            self._held_bytes[key] = held_bytes

    def close(self) -> None:
        """Close all guests."""
        self._forget_inherited()
        while self._guests:
            _, guest = self._guests.popitem()
            guest.close()
        self._held_bytes.clear()
        self._total_bytes = 0

    def _forget_inherited(self) -> None:
        if self._process != os.getpid():
            self._inherited.append(self._guests)
            self._guests = OrderedDict()
            self._held_bytes = {}
            self._total_bytes = 0
            self._process = os.getpid()
