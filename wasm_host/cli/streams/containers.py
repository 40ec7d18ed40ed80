"""Which container a file is in, and which formats of events can stand in it."""

from pathlib import Path

from abi import formats
from wasm_host.cli.misuse import refuse

CONTAINERS = ("ndjson", "delimited", "avro", "parquet")
_BY_SUFFIX = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
    ".pb": "delimited",
    ".bin": "delimited",
    ".delimited": "delimited",
    ".avro": "avro",
    ".parquet": "parquet",
}
_TEXT_FORMATS = ("json", "cdc", "opencdc", "debezium")
_FORMATS_IN = {
    "ndjson": _TEXT_FORMATS,
    "delimited": ("protobuf", "opencdc", "avro"),
    "avro": ("avro",),
    "parquet": tuple(formats.FORMATS),
}
USUAL_FORMAT = {"ndjson": "json", "delimited": "protobuf", "avro": "avro", "parquet": "protobuf"}


def container_of(path: str, named: str | None, format_name: str | None, option: str) -> str:
    """The container that was named, or the one that the file's name or the format says.

    Raises:
        click.UsageError: none of them says it.
    """
    if named is not None:
        return named
    found = _BY_SUFFIX.get(Path(path).suffix.lower())
    if found is not None:
        return found
    if format_name is None:
        refuse(
            f"cannot tell what {path} holds from its name",
            f"give {option} {'|'.join(CONTAINERS)}, or name it {', '.join(_BY_SUFFIX)}",
        )
    return "ndjson" if format_name in _TEXT_FORMATS else "delimited"


def check_fits(format_name: str, container: str) -> None:
    """Return if events of a format can stand in a container.

    Raises:
        click.UsageError: they cannot.
    """
    allowed = _FORMATS_IN[container]
    if format_name not in allowed:
        refuse(f"{format_name} events do not go into {container}", f"allowed are {', '.join(allowed)}")


def format_for_output(container: str, input_format: str) -> str:
    """The input's format where it fits, else the container's usual one."""
    return input_format if input_format in _FORMATS_IN[container] else USUAL_FORMAT[container]


def output_format(name: str, container: str) -> formats.Format:
    """The format that writes; OpenCDC has two forms, and the container decides."""
    if name == "opencdc":
        return formats.get(name, wire="protobuf" if container == "delimited" else "json")
    return formats.get(name)
