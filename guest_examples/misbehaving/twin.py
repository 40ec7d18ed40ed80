"""What `misbehaving` does where it behaves: hand the event back. In plain Python the rest would hang the whole job."""

from collections.abc import Callable, Mapping
from typing import Any

from abi import ConfigRefused, Event


def build(config: Mapping[str, Any]) -> Callable[[Event], Event]:
    """Give the transform; there is nothing to configure."""
    if config:
        raise ConfigRefused("configuration: there is nothing to configure")
    return lambda event: event
