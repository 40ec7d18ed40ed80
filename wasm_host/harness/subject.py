"""The module under test with everything it is run with."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wasm_host.guest import Guest, Isolation, load
from wasm_host.limits import Limits

Configuration = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is tested.

    Attributes:
        wasm: The module's bytes.
        path: Where they came from; cases are looked for beside it.
        configs: The configurations that generated events are run with; at least one.
        takes_config: Whether the caller gave these (and did not leave the empty one standing).
    """

    wasm: bytes
    path: Path | None = None
    limits: Limits = field(default_factory=Limits)
    wasi: bool = False
    configs: tuple[Configuration, ...] = ({},)
    takes_config: bool = False

    def load(self, config: Configuration | None = None, *, isolation: Isolation = "worker") -> Guest:
        """Bring up an instance; by default with the first configuration.

        Raises:
            TransformError: as `wasm_host.load`.
        """
        chosen = self.configs[0] if config is None else config
        return load(self.wasm, config=dict(chosen) or None, limits=self.limits, isolation=isolation, wasi=self.wasi)


@dataclass(frozen=True, slots=True)
class Trial:
    """How it is tested.

    Attributes:
        examples: Generated events for each configuration's share of the properties.
        cases: Folder or file of golden cases, or None.
        updates: Rewrite the cases' expectations instead of comparing.
        against: `PACKAGE.MODULE:NAME` of a native twin.
        must_mask: Dotted paths whose values must appear nowhere.
        saves: Folder for the events that were found to fail, or None.
    """

    examples: int = 200
    seed: int = 0
    cases: Path | None = None
    updates: bool = False
    against: str | None = None
    must_mask: tuple[str, ...] = ()
    saves: Path | None = None


def with_configurations(subject: Subject, found: list[Configuration]) -> Subject:
    """Where the caller gave no configuration, use those of the cases: generated events should go the same ways."""
    if subject.takes_config or not found:
        return subject
    return replace(subject, configs=tuple(found), takes_config=True)
