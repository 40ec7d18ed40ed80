"""The vectors, read in plain Python: protobuf, msgpack and the packing module agree with what they say."""

from typing import Any

import msgpack
import pytest
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from abi import ConfigRefused, Event, ResultKind, TransformError, formats, pack_result, unpack_result
from abi.failures import FailureCode
from tests.vectors import load_vectors, vector_params


@pytest.mark.parametrize("file", ["valid", "invalid"])
def test_descriptions_are_unique_within_a_section(file: str) -> None:
    for section, vectors in load_vectors(file).items():
        names = [vector["desc"] for vector in vectors]
        assert len(set(names)) == len(names), section


def test_every_code_is_one_that_exists() -> None:
    codes = {vector["code"] for vectors in load_vectors("invalid").values() for vector in vectors}
    assert codes <= set(FailureCode) | {ConfigRefused.code}


@pytest.mark.parametrize("vector", vector_params("valid", "packed_results"))
def test_packed_result_reads_as_it_says(vector: dict[str, Any]) -> None:
    kind = ResultKind[vector["kind"]]
    assert unpack_result(int(vector["hex"], 16)) == (kind, vector["pointer"], vector["length"])
    assert f"{pack_result(kind, vector['pointer'], vector['length']):016x}" == vector["hex"]


@pytest.mark.parametrize("vector", vector_params("invalid", "packed_results"))
def test_packed_result_breaks_the_rule_it_names(vector: dict[str, Any]) -> None:
    """The rules of the spec's section 4, in the order in which a host must check them."""
    kind, pointer, length = unpack_result(int(vector["hex"], 16))
    input_end = vector["input_pointer"] + vector["input_length"]
    if kind is ResultKind.RESERVED:
        expected = FailureCode.RESULT_RESERVED_KIND
    elif kind is not ResultKind.FAILURE and (pointer == 0 or length == 0):
        expected = FailureCode.RESULT_EMPTY
    elif pointer + length > vector["memory_bytes"]:
        expected = FailureCode.RESULT_OUT_OF_BOUNDS
    else:
        assert pointer < input_end
        assert vector["input_pointer"] < pointer + length
        assert (pointer, length > vector["input_length"]) != (vector["input_pointer"], False)
        expected = FailureCode.RESULT_OVERLAPS_INPUT
    assert vector["code"] == expected


@pytest.mark.parametrize("vector", vector_params("valid", "events"))
def test_event_reads_as_it_says(vector: dict[str, Any]) -> None:
    event = Event.FromString(bytes.fromhex(vector["hex"]))
    assert json_format.MessageToDict(event, preserving_proto_field_name=True) == vector["value"]


@pytest.mark.parametrize("vector", vector_params("valid", "events"))
def test_event_keeps_its_unknown_fields_in_a_round_trip(vector: dict[str, Any]) -> None:
    event = Event.FromString(bytes.fromhex(vector["hex"]))
    without = Event()
    json_format.ParseDict(vector["value"], without)
    again = Event.FromString(event.SerializeToString())
    assert again == event
    if "unknown" in vector["desc"]:
        assert again.ByteSize() > without.ByteSize()


@pytest.mark.parametrize("vector", vector_params("invalid", "events"))
def test_what_is_no_event_is_refused_by_protobuf(vector: dict[str, Any]) -> None:
    with pytest.raises(DecodeError):
        Event.FromString(bytes.fromhex(vector["hex"]))
    assert vector["code"] == FailureCode.OUTPUT_NOT_AN_EVENT


def split_stream(data: bytes) -> list[bytes]:
    """The delimited stream of the spec's section 6.3, by the letter."""
    events, at = [], 0
    while at < len(data):
        length = shift = 0
        while True:
            if at == len(data) or shift > 28:
                raise ValueError("length")
            byte, at = data[at], at + 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if length > len(data) - at:
            raise ValueError("length past the end")
        events.append(data[at : at + length])
        at += length
    return events


@pytest.mark.parametrize("vector", vector_params("valid", "streams"))
def test_stream_splits_into_its_events(vector: dict[str, Any]) -> None:
    parts = split_stream(bytes.fromhex(vector["hex"]))
    assert [part.hex() for part in parts] == vector["events"]
    assert [Event.FromString(part).ByteSize() for part in parts] == [len(part) for part in parts]


@pytest.mark.parametrize("vector", vector_params("invalid", "streams"))
def test_broken_stream_is_refused_for_the_reason_it_names(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["hex"])
    if vector["code"] == FailureCode.STREAM_MALFORMED:
        with pytest.raises(ValueError, match="length"):
            split_stream(data)
        return
    assert vector["code"] == FailureCode.OUTPUT_NOT_AN_EVENT
    with pytest.raises(DecodeError):
        [Event.FromString(part) for part in split_stream(data)]


def from_json(value: Any) -> Any:
    """Undo the one thing that JSON cannot say: bytes."""
    if isinstance(value, dict):
        return (
            bytes.fromhex(value["$bytes"]) if set(value) == {"$bytes"} else {k: from_json(v) for k, v in value.items()}
        )
    return [from_json(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("vector", vector_params("valid", "configurations"))
def test_configuration_reads_and_writes_as_it_says(vector: dict[str, Any]) -> None:
    value = from_json(vector["value"])
    assert msgpack.unpackb(bytes.fromhex(vector["hex"])) == value
    assert msgpack.packb(value).hex() == vector["hex"]


def read_configuration(data: bytes) -> dict[str, Any]:
    """What the spec's section 8 allows, by the letter."""
    try:
        value = msgpack.unpackb(data, strict_map_key=True, ext_hook=refuse_extension)
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        raise ConfigRefused(f"not MessagePack: {type(error).__name__}") from error
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ConfigRefused("not a map with text keys")
    if any(isinstance(item, msgpack.Timestamp) for item in value.values()):
        raise ConfigRefused("a timestamp is an extension")
    return value


def refuse_extension(code: int, data: bytes) -> None:
    raise ValueError(f"extension {code}")


@pytest.mark.parametrize("vector", vector_params("invalid", "configurations"))
def test_configuration_that_is_none_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(ConfigRefused):
        read_configuration(bytes.fromhex(vector["hex"]))
    assert vector["code"] == ConfigRefused.code


@pytest.mark.parametrize("vector", vector_params("valid", "rustcdc_events"))
def test_rustcdc_json_reads_and_writes_as_it_says(vector: dict[str, Any]) -> None:
    event = Event.FromString(bytes.fromhex(vector["hex"]))
    read = formats.get("json").decode(vector["json"].encode())
    # How the text was laid out is kept beside the event, when it is not the standard form.
    assert ("json.layout" in read.attributes) == vector.get("reads_only", False)
    read.attributes.pop("json.layout", None)
    assert read == event
    if not vector.get("reads_only"):
        assert formats.get("json").encode(event).decode() == vector["json"]


@pytest.mark.parametrize("vector", vector_params("invalid", "rustcdc_outputs"))
def test_what_is_no_rustcdc_json_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(TransformError):
        formats.get("json").decode(bytes.fromhex(vector["hex"]))
    assert vector["code"] == FailureCode.OUTPUT_NOT_AN_EVENT


@pytest.mark.parametrize("vector", vector_params("invalid", "rustcdc_inputs"))
def test_event_that_rustcdc_json_cannot_say_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(TransformError):
        formats.get("json").encode(formats.get("protobuf").decode(bytes.fromhex(vector["hex"])))
    assert vector["code"] == FailureCode.INPUT_NOT_AN_EVENT
