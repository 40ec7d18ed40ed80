"""A reader whose first chunk can be looked at before the run begins, to tell the format of its events."""

from collections.abc import Iterator

from abi import DecodeError, formats
from wasm_host.cli.misuse import refuse
from wasm_host.cli.streams.containers import USUAL_FORMAT
from wasm_host.cli.streams.readers import Chunk, Reader


class Feed(Reader):
    """All chunks of a reader, the first included."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.path = reader.path
        self._chunks = reader.chunks()
        self._first = next(self._chunks, None)

    @property
    def bytes_read(self) -> int:  # type: ignore[override] # follows the reader below
        """How far the reader below is."""
        return self.reader.bytes_read

    def chunks(self) -> Iterator[Chunk]:
        """All chunks, the first included."""
        if self._first is not None:
            yield self._first
        yield from self._chunks

    def detect(self, container: str) -> str:
        """The format of the first document that is no tombstone."""
        usual = USUAL_FORMAT[container]
        documents = [] if self._first is None or container == "avro" else self._first.documents
        first = next((value.as_py() for value in documents if value.is_valid), None)
        if first is None:
            return usual
        try:
            return formats.detect(first)
        except DecodeError:
            if container == "delimited":
                return usual  # what is no event at all is the guest's to judge, or a dead letter
            refuse(f"cannot tell the format of the first event in {self.path}", "name it with --format")


def check_format(name: str | None) -> None:
    """Return if there is such a format, or none is named.

    Raises:
        click.UsageError: there is none.
    """
    if name is not None and name not in formats.FORMATS:
        refuse(f"no format {name!r}", f"allowed are {', '.join(formats.FORMATS)}")
