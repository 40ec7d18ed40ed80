"""What the build needs to know of one language: where its sources are, whether its compiler is here, how to call it."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent
"""The folder that holds one folder for each example, and `sdk/`."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One language.

    Attributes:
        language: short name, also part of the built file's name (`mask_pii.c.wasm`).
        source: the example's source below `guest_examples/`, with `{name}` for the example.
        missing: why the compiler cannot be used here, or `None` when it can.
        compile: takes source and target; raises `BuildError`.
        is_reproducible: building again, anywhere, gives the same bytes; a test holds it.
        needs_wasi: the module imports WASI functions and runs only with the host's deterministic stub.
        max_module_bytes: size above which a build is refused.
    """

    language: str
    source: str
    missing: Callable[[], str | None]
    compile: Callable[[Path, Path], None]
    is_reproducible: bool = False
    needs_wasi: bool = False
    max_module_bytes: int = 100_000

    def source_of(self, name: str) -> Path:
        """Where the source of an example is, whether or not it exists."""
        return EXAMPLES / self.source.format(name=name)

    def has(self, name: str) -> bool:
        """Whether the example is written in this language."""
        return self.source_of(name).exists()


class BuildError(Exception):
    """A compiler refused a source; the text is what it printed."""


def run(command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    """Run a compiler and raise `BuildError` with its output if it fails."""
    done = subprocess.run(  # noqa: S603 - the commands are this package's own
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildError((done.stderr or done.stdout).strip())
