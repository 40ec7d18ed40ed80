"""The formats by name."""

from types import MappingProxyType
from typing import Any, Final

from abi.errors import AbiError
from abi.formats.avro import AvroFormat
from abi.formats.canonical_json import CanonicalJsonFormat
from abi.formats.cdc import CdcFormat
from abi.formats.debezium import DebeziumFormat
from abi.formats.format import Format
from abi.formats.opencdc import OpenCdcFormat
from abi.formats.protobuf import ProtobufFormat
from abi.formats.refusals import shown

_CLASSES: tuple[type[Format], ...] = (
    ProtobufFormat,
    AvroFormat,
    CanonicalJsonFormat,
    CdcFormat,
    OpenCdcFormat,
    DebeziumFormat,
)

FORMATS: Final = MappingProxyType({kind.name: kind() for kind in _CLASSES})
"""Every format with its default options, by name."""


class UnknownFormatError(AbiError):
    """The name is none of a format."""

    code = "UNKNOWN_FORMAT"


def get(name: str, **options: Any) -> Format:
    """Return the format `name`; options are those of its class, for example `get("avro", framing="single-object")`.

    Raises:
        UnknownFormatError: there is no such format, or the format has no such option.
    """
    kind = next((kind for kind in _CLASSES if kind.name == name), None)
    if kind is None:
        raise UnknownFormatError(f"no format {shown(name)}", hint=f"allowed are {', '.join(FORMATS)}")
    if not options:
        return FORMATS[name]
    try:
        return kind(**options)
    except TypeError as exc:
        raise UnknownFormatError(f"format {name}: {exc}", hint="see docs/formats.md for its options") from None
