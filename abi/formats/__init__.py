"""Change events in six formats, each turned into the canonical Event and back without a byte lost.

    >>> from abi import formats
    >>> document = b'{"before":null,"after":{"id": 1},"source":{"connector":"mysql"},"op":"c","ts_ms":1}'
    >>> formats.detect(document)
    'debezium'
    >>> event = formats.get("debezium").decode(document)
    >>> event.after, formats.get("debezium").encode(event) == document
    (b'{"id": 1}', True)

`docs/formats.md` says what each keeps and drops; "Attributes" in `SPEC.md` says where the rest goes.
"""

from abi.formats.avro import AvroFormat
from abi.formats.canonical_json import CanonicalJsonFormat
from abi.formats.cdc import CdcFormat
from abi.formats.columnar_read import events_to_columns
from abi.formats.columnar_write import columns_to_events
from abi.formats.dead_letter import dead_letter_opencdc
from abi.formats.debezium import DebeziumFormat
from abi.formats.detection import detect
from abi.formats.format import Format, RowFailure
from abi.formats.opencdc import OpenCdcFormat
from abi.formats.protobuf import ProtobufFormat
from abi.formats.registry import FORMATS, UnknownFormatError, get

__all__ = [
    "FORMATS",
    "AvroFormat",
    "CanonicalJsonFormat",
    "CdcFormat",
    "DebeziumFormat",
    "Format",
    "OpenCdcFormat",
    "ProtobufFormat",
    "RowFailure",
    "UnknownFormatError",
    "columns_to_events",
    "dead_letter_opencdc",
    "detect",
    "events_to_columns",
    "get",
]
