"""An output that is there as a whole or not at all."""

import os
import sys
from pathlib import Path
from typing import BinaryIO

from wasm_host.cli.misuse import refuse


class AtomicFile:
    """Writes beside the target and takes its place at the end; `-` is the standard output, which cannot be taken back.

    Attributes:
        stream: Where to write.
    """

    stream: BinaryIO

    def __init__(self, target: str) -> None:
        self._target: Path | None = None
        if target == "-":
            self.stream = sys.stdout.buffer
            return
        self._target = Path(target)
        if self._target.is_dir():
            refuse(f"{target} is a directory", "give a file")
        # Same folder, so that taking the target's place is one step of the file system.
        self._partial = self._target.with_name(f".{self._target.name}.{os.getpid()}.partial")
        try:
            self.stream = self._partial.open("wb")
        except OSError as error:
            refuse(f"cannot write {target}: {error.strerror}", "give a file in a folder that exists")

    def commit(self) -> None:
        """Make the output visible."""
        self.stream.flush()
        if self._target is not None:
            os.fsync(self.stream.fileno())
            self.stream.close()
            self._partial.replace(self._target)

    def discard(self) -> None:
        """Leave nothing behind; after `commit` it does nothing."""
        if self._target is not None:
            self.stream.close()
            self._partial.unlink(missing_ok=True)
