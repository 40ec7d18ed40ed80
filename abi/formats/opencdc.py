"""The format `opencdc`: OpenCDC records, in JSON or protobuf, with raw or structured data."""

from typing import Any, Literal

from abi.errors import DecodeError
from abi.event_pb2 import Event
from abi.formats import opencdc_json, opencdc_protobuf
from abi.formats.json_format import JsonFormat
from abi.formats.layout import view_of
from abi.formats.opencdc_parts import NAME, WIRE
from abi.formats.refusals import undecodable

Wire = Literal["json", "protobuf"]


class OpenCdcFormat(JsonFormat):
    """OpenCDC records.

    Args:
        wire: read and write only this form. By default both are read, and an event is written in the form that it came
            in, or in JSON when it came in another format.
    """

    name = NAME
    document = opencdc_json.DOCUMENT

    def __init__(self, wire: Wire | None = None) -> None:
        self._wire = wire

    @property
    def is_text(self) -> bool:
        """Records in protobuf are binary, those in JSON are text."""
        return self._wire != "protobuf"

    def decode(self, data: bytes) -> Event:
        """Read one event; see `Format.decode`."""
        if self._wire == "protobuf":
            return opencdc_protobuf.read_record(data)
        looks_like_json = data.lstrip(b" \t\r\n").startswith(b"{")
        if self._wire is None and not looks_like_json:
            if not data:
                raise undecodable(NAME, "there are no bytes", offset=0)
            return opencdc_protobuf.read_record(data)
        try:
            return super().decode(data)
        except DecodeError:
            # A protobuf position field starts with the byte of a line feed, and may go on with a brace.
            if self._wire == "json" or data[:1] != b"\n":
                raise
            return opencdc_protobuf.read_record(data)

    def encode(self, event: Event) -> bytes:
        """Write one event; see `Format.encode`."""
        wire = self._wire or ("protobuf" if event.attributes.get(WIRE) == b"protobuf" else "json")
        return opencdc_protobuf.write_record(view_of(event)) if wire == "protobuf" else super().encode(event)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of records in JSON."""
        return opencdc_json.schema()

    def _read(self, data: bytes) -> Event:
        return opencdc_json.read_record(data)
