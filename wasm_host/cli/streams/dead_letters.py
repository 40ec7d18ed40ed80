"""Failed events, kept with the reason: one JSON record a line."""

import base64
import json
from typing import Literal

from abi.formats import dead_letter_opencdc
from wasm_host.cli.streams.atomic_file import AtomicFile

LetterFormat = Literal["ndjson", "opencdc"]
LETTER_FORMATS: tuple[LetterFormat, ...] = ("ndjson", "opencdc")


class DeadLetters:
    """Writes dead letters to a file that appears when the run has ended well."""

    def __init__(self, target: str, letter_format: LetterFormat, node_id: str) -> None:
        self._file = AtomicFile(target)
        self._format = letter_format
        self._node_id = node_id
        self.count = 0

    def add(self, row: int, code: str, message: str, *, document: bytes, event: bytes | None) -> None:
        """Keep one event.

        Args:
            row: Its number in the input, from 0.
            code: Stable code.
            message: One line for people.
            document: Its bytes as they were read.
            event: The canonical event, if it could be read as one.
        """
        self.count += 1
        if self._format == "opencdc":
            error = f"[{code}] {message}"
            line = dead_letter_opencdc(event or document, error=error, node_id=self._node_id)
        else:
            record = {
                "row": row,
                "code": code,
                "message": message,
                "module": self._node_id,
                "document_base64": base64.b64encode(document).decode(),
            }
            line = json.dumps(record, ensure_ascii=False).encode()
        self._file.stream.write(line.replace(b"\n", b" ") + b"\n")

    def commit(self) -> None:
        """Make the file visible."""
        self._file.commit()

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.discard()
