"""Every example of the format descriptions, word for word, comments and all.

The texts are kept in `seed_examples/`; where the descriptions themselves lie beside the repository, a test compares.
"""

import io
import json
import re
from pathlib import Path
from typing import Any

import fastavro
import pytest
from fastavro.schema import to_parsing_canonical_form

from abi import DecodeError, Operation, event_pb2
from abi.formats import FORMATS
from abi.formats.avro_schema import event_schema
from tests.property.format_documents import Generator

HERE = Path(__file__).parent / "seed_examples"
CDC: list[str] = json.loads((HERE / "cdc.json").read_text())
OPENCDC: list[str] = json.loads((HERE / "opencdc.json").read_text())
COMPLETE_CDC = [text for text in CDC if '"event_id"' in text and "..." not in text.replace('"Mozilla/5.0..."', "")]
SEEDS = Path(__file__).parents[5] / "shared" / "seeds"

_COMMENT = re.compile(r"[ \t]*//[^\n]*")
_LAST_COMMA = re.compile(r",(\s*[}\]])")


def _plain(text: str) -> str:
    """Take out what only people can read: comments, and the comma before a comment that stood last."""
    return _LAST_COMMA.sub(r"\1", _COMMENT.sub("", text))


def _overlay(base: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in part.items():
        both = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = _overlay(merged[name], value) if both else value
    return merged


def _home(fragment: dict[str, Any]) -> dict[str, Any]:
    """Put a fragment where it belongs in a CDC event."""
    if "session_id" in fragment:
        return {"source": fragment}
    if fragment.keys() & {"updated", "deleted", "invalidations"}:
        return {"cascade": fragment}
    return fragment


def _ids(texts: list[str]) -> list[str]:
    return [f"{index}-{re.sub('[^a-z_]+', '-', text[:60].lower())[:40]}" for index, text in enumerate(texts)]


def test_the_three_complete_cdc_events_are_there() -> None:
    assert len(COMPLETE_CDC) == 3


@pytest.mark.parametrize("text", COMPLETE_CDC, ids=["created", "updated", "deleted"])
def test_complete_cdc_event_comes_back_word_for_word(text: str) -> None:
    cdc = FORMATS["cdc"]
    event = cdc.decode(text.encode())
    operation = json.loads(text)["operation"]
    for image in ("before", "after"):
        stands = operation.get(image) is not None
        assert event.HasField(image) == stands
        assert not stands or json.loads(getattr(event, image)) == operation[image]
    assert cdc.encode(event) == text.encode()


def test_cdc_event_is_found_in_fields_and_attributes() -> None:
    event = FORMATS["cdc"].decode(COMPLETE_CDC[2].encode())
    assert (event.op, event.table, event.ts) == (Operation.DELETE, "User", 1768146300987)
    assert (event.source.source_name, event.source.offset) == ("postgresql", "4523")
    assert event.transaction.tx_id == 1234567892
    attributes = dict(event.attributes)
    assert attributes["cdc.event_id"] == b"evt_770e8400-e29b-41d4-a716-446655440000"
    assert attributes["cdc.entity.tenant_id"] == b"tenant-123"
    assert attributes["cdc.operation.trigger"] == b"api_delete"
    assert json.loads(attributes["cdc.operation.changed_fields"])[0] == "id"
    assert [entry["entity_type"] for entry in json.loads(attributes["cdc.cascade"])["deleted"]] == ["Post", "Post"]
    assert attributes["cdc.timestamp"] == b"2026-01-11T15:45:00.987654Z"


FRAGMENTS = [text for text in CDC if text not in COMPLETE_CDC]


@pytest.mark.parametrize("text", FRAGMENTS, ids=_ids(FRAGMENTS))
def test_cdc_fragment_round_trips_inside_an_event(text: str) -> None:
    cdc = FORMATS["cdc"]
    with pytest.raises(DecodeError) as refusal:  # alone it is no event
        cdc.decode(text.encode())
    assert refusal.value.offset is not None
    plain = _plain(text).replace("{ ... }", "{}")
    fragment = json.loads(plain)
    if "cdc" in fragment:  # section 13 configures the capture; it is no part of an event
        with pytest.raises(DecodeError, match="missing required field 'version'"):
            cdc.decode(plain.encode())
        return
    if "version" in fragment:  # section 2.1 lists the alternatives in one string
        with pytest.raises(DecodeError, match="type"):
            cdc.decode(plain.encode())
        fragment = {"source": fragment["source"], "entity": fragment["entity"]}
    whole = _overlay(json.loads(COMPLETE_CDC[1]), _home(fragment))
    for indent in (None, 2):
        document = json.dumps(whole, indent=indent).encode()
        assert cdc.encode(cdc.decode(document)) == document


@pytest.mark.parametrize("text", OPENCDC, ids=_ids(OPENCDC))
def test_opencdc_example_round_trips(text: str) -> None:
    opencdc = FORMATS["opencdc"]
    if "//" in text:
        with pytest.raises(DecodeError):
            opencdc.decode(text.encode())
        part = json.loads(_plain(text))
        text = json.dumps(_overlay(json.loads(OPENCDC[0]), part), indent=4)
    event = opencdc.decode(text.encode())
    assert opencdc.encode(event) == text.encode()
    assert json.loads(event.attributes["opencdc.metadata"]) == json.loads(text)["metadata"]


def test_opencdc_example_is_found_in_fields() -> None:
    event = FORMATS["opencdc"].decode(OPENCDC[0].encode())
    assert (event.op, event.source.offset, event.ts) == (Operation.UPDATE, "standing", 1663858188836)
    assert event.before == b'"eWVsbG93"'
    assert event.attributes["opencdc.payload.before"] == b"base64"
    assert event.attributes["opencdc.key"] == b'"cGFkbG9jay1rZXk="'
    assert json.loads(event.after)["float32"] == 1.2


def test_avro_schema_is_the_described_one() -> None:
    described = json.loads((HERE / "event.avsc").read_text())
    assert to_parsing_canonical_form(event_schema()) == to_parsing_canonical_form(described)


def test_avro_bytes_are_read_by_fastavro_with_the_described_schema() -> None:
    described = fastavro.parse_schema(json.loads((HERE / "event.avsc").read_text()))
    generator = Generator(7)
    for _ in range(300):
        event = generator.event()
        data = FORMATS["avro"].encode(event)
        stream = io.BytesIO(data)
        datum = fastavro.schemaless_reader(stream, described)
        assert isinstance(datum, dict)
        assert stream.tell() == len(data)
        assert datum["before"] == (event.before if event.HasField("before") else None)
        assert datum["op"] == Operation.Name(event.op)
        assert datum["ts"] % 2**64 == event.ts
        assert (datum["table"], datum["primary_key"]) == (event.table, list(event.primary_key))
        assert (datum["transaction"] is not None) == event.HasField("transaction")
        assert datum["source"]["offset"] == event.source.offset


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the format descriptions are not beside the repository")
def test_examples_are_word_for_word_those_of_the_descriptions() -> None:
    described = "\n".join(path.read_text() for path in sorted(SEEDS.glob("*.txt")))
    examples = [*CDC, *OPENCDC, (HERE / "event.avsc").read_text()]
    assert [text for text in examples if text not in described] == []
    assert len(re.findall(r"^```json$", described, re.M)) == len(CDC)
    records = re.findall(r"^\{\n.*?^\}", next(SEEDS.glob("004_*.txt")).read_text(), re.M | re.S)
    assert records == OPENCDC


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the format descriptions are not beside the repository")
def test_every_field_of_the_described_messages_has_its_number() -> None:
    described = next(SEEDS.glob("000_*.txt")).read_text()
    messages = re.findall(r"message (\w+) \{(.*?)^\}", described, re.M | re.S)
    assert [name for name, _ in messages] == ["SourceMetadata", "SnapshotMetadata", "TransactionMetadata", "Event"]
    for name, body in messages:
        ours = event_pb2.DESCRIPTOR.message_types_by_name[name].fields_by_name
        for field, number in re.findall(r"(\w+) = (\d+);", body):
            assert ours[field].number == int(number)
