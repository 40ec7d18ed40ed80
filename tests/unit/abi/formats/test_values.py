"""Values that are easily confused come back as they went in, and stay apart on the way."""

import json
import math
import struct
import subprocess
import sys

import pytest

from abi import Event, Operation
from abi.formats import FORMATS, AvroFormat, OpenCdcFormat, dead_letter_opencdc, detect, get
from abi.formats.opencdc_pb2 import Record

ROWS = [
    b'{"n":9223372036854775807}',
    b'{"n":18446744073709551616}',
    b'{"n":1.50}',
    b'{"n":1.5}',
    b'{"n":15e-1}',
    b'{"n":123456789012345678901234567890.123456789}',
    b'{"n":-0}',
    b'{"n":null}',
    b"{}",
    b'{"n":""}',
    b'{"n":"NaN"}',
    b'{"n":"\\u00e9"}',
    b'{"n":"\xc3\xa9"}',
    b'{"b":1,"a":2}',
    b'{ "b" : 1,\n"a":2 }',
    b'{"a":1,"a":2}',
    b'{"t":"2026-01-11T15:35:00.123456789Z"}',
    b'{"t":1768145700123456789}',
    b'{"b":"AAECAw=="}',
]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("row", ROWS, ids=[row.decode() for row in ROWS])
def test_row_image_keeps_its_bytes_through_every_format(name: str, row: bytes) -> None:
    event = Event(op=Operation.UPDATE, table="t", before=row, after=row)
    again = FORMATS[name].decode(FORMATS[name].encode(event))
    assert (again.before, again.after) == (row, row)


@pytest.mark.parametrize("name", FORMATS)
def test_absent_image_stays_absent_and_empty_row_stays_empty(name: str) -> None:
    event = Event(op=Operation.INSERT, table="t", after=b"{}")
    again = FORMATS[name].decode(FORMATS[name].encode(event))
    assert (again.HasField("before"), again.after) == (False, b"{}")


@pytest.mark.parametrize("name", ["protobuf", "avro", "json"])
@pytest.mark.parametrize("number", [0, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_all_64_bits_of_an_unsigned_number_come_back(name: str, number: int) -> None:
    event = Event(op=Operation.INSERT, ts=number, table="t")
    event.transaction.tx_id = event.source.timestamp = number
    again = FORMATS[name].decode(FORMATS[name].encode(event))
    assert (again.ts, again.transaction.tx_id, again.source.timestamp) == (number, number, number)


@pytest.mark.parametrize(
    "bits", ["7ff8000000000000", "7ff8000000000001", "fff8000000000000", "7ff0000000000000", "fff0000000000000"]
)
def test_numbers_that_json_lacks_keep_their_bits_in_opencdc(bits: str) -> None:
    record = Record(operation=1)  # type: ignore[arg-type]
    record.payload.after.structured_data.update({"x": struct.unpack(">d", bytes.fromhex(bits))[0], "y": "NaN"})
    data = record.SerializeToString(deterministic=True)
    event = FORMATS["opencdc"].decode(data)
    row = json.loads(event.after)
    assert (row["x"] in ("NaN", "Infinity", "-Infinity"), row["y"]) == (True, "NaN")
    assert FORMATS["opencdc"].encode(event) == data
    event.after = b'{"x":"masked","y":"NaN"}'
    changed = Record.FromString(FORMATS["opencdc"].encode(event)).payload.after.structured_data
    assert (changed["x"], changed["y"]) == ("masked", "NaN")


def test_zero_and_minus_zero_are_told_apart_in_structured_data() -> None:
    for number, text in ((0.0, b'{"x":0}'), (-0.0, b'{"x":-0.0}')):
        record = Record(operation=1)  # type: ignore[arg-type]
        record.payload.after.structured_data["x"] = number
        event = FORMATS["opencdc"].decode(record.SerializeToString())
        assert event.after == text
        back = Record.FromString(FORMATS["opencdc"].encode(event)).payload.after.structured_data["x"]
        assert math.copysign(1, back) == math.copysign(1, number)


def test_raw_data_that_is_a_row_is_given_to_guests_as_a_row() -> None:
    record = Record(operation=2)  # type: ignore[arg-type]
    record.payload.after.raw_data = b'{"id": 1, "email": "a@b.c"}\n'
    event = FORMATS["opencdc"].decode(record.SerializeToString())
    assert (event.after, event.attributes["opencdc.payload.after"]) == (b'{"id": 1, "email": "a@b.c"}\n', b"raw")
    event.after = b'{"id": 1, "email": "***"}'
    assert Record.FromString(FORMATS["opencdc"].encode(event)).payload.after.raw_data == b'{"id": 1, "email": "***"}'


def test_opencdc_protobuf_is_read_by_the_message_definition() -> None:
    event = Event(op=Operation.UPDATE, table="users", after=b'{"id":7,"tags":["a",null]}', primary_key=["id"])
    event.source.offset = "42"
    record = Record.FromString(OpenCdcFormat("protobuf").encode(event))
    assert (record.position, record.operation) == (b"42", 2)
    assert record.metadata["opencdc.collection"] == "users"
    assert dict(record.key.structured_data) == {"id": 7.0}
    assert list(record.payload.after.structured_data["tags"]) == ["a", None]
    assert not record.payload.HasField("before")


@pytest.mark.parametrize("wire", ["json", "protobuf"])
def test_dead_letter_says_why_and_where(wire: str) -> None:
    event = Event(op=Operation.INSERT, table="users", after=b'{"id":1}')
    record = dead_letter_opencdc(event, error='boom "\n', node_id="mask@abc", wire=wire)  # type: ignore[arg-type]
    again = FORMATS["opencdc"].decode(record)
    metadata = json.loads(again.attributes["opencdc.metadata"])
    assert (metadata["conduit.dlq.nack.error"], metadata["conduit.dlq.nack.node.id"]) == ('boom "\n', "mask@abc")
    assert (again.table, again.after, metadata["opencdc.version"]) == ("users", b'{"id":1}', "v1")


def test_dead_letter_keeps_an_opencdc_record_as_it_stood() -> None:
    document = (
        b'{ "position":"YQ==", "operation":"create", "metadata":{"b":"1"}, "key":"aw==", "payload":{"after":{"id":1}}}'
    )
    record = dead_letter_opencdc(FORMATS["opencdc"].decode(document), error="e", node_id="n")
    assert record == document.replace(b'"1"}', b'"1","conduit.dlq.nack.error":"e","conduit.dlq.nack.node.id":"n"}')


@pytest.mark.parametrize(
    "event", [b"\xff not an event", Event(op=Operation.TRUNCATE, table="t"), Event(op=Operation.INSERT, after=b"{oops")]
)
def test_dead_letter_carries_whole_what_a_record_has_no_place_for(event: bytes | Event) -> None:
    data = event if isinstance(event, bytes) else event.SerializeToString(deterministic=True)
    record = dead_letter_opencdc(event, error="e", node_id="n", wire="protobuf")
    assert Record.FromString(record).payload.after.raw_data == data


@pytest.mark.parametrize("name", ["json", "cdc", "opencdc", "debezium"])
def test_json_schema_names_the_members_of_the_documents(name: str) -> None:
    schema = FORMATS[name].schema()
    assert schema is not None
    document = json.loads(FORMATS[name].encode(Event(op=Operation.INSERT, table="t", after=b"{}")))
    definition = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    assert document.keys() <= definition["properties"].keys()
    assert set(definition.get("required", [])) <= document.keys()


def test_avro_schema_evolution_is_resolved_and_written_with_our_schema() -> None:
    newer = FORMATS["avro"].schema()
    assert newer is not None
    newer["fields"].append({"name": "region", "type": "string"})
    plain = AvroFormat("plain").encode(Event(op=Operation.INSERT, table="t", after=b'{"id":1}'))
    evolved = get("avro", writer_schemas={9: newer}, schema_id=3)
    event = evolved.decode(b"\x00\x00\x00\x00\x09" + plain + b"\x04eu")
    assert (event.table, event.after) == ("t", b'{"id":1}')
    assert evolved.encode(event)[:5] == b"\x00\x00\x00\x00\x03"


def test_avro_array_in_blocks_comes_back_in_blocks() -> None:
    event = Event(op=Operation.INSERT, table="t", primary_key=["a", "b"])
    data = AvroFormat("plain").encode(event)
    blocks = data.replace(b"\x04\x02a\x02b\x00", b"\x02\x02a\x01\x04\x02b\x00")
    assert blocks != data
    again = FORMATS["avro"].decode(blocks)
    assert list(again.primary_key) == ["a", "b"]
    assert FORMATS["avro"].encode(again) == blocks
    again.table = "u"
    assert FORMATS["avro"].encode(again) == data.replace(b"\x02t", b"\x02u")


@pytest.mark.parametrize("data", [b"", b"hello", b"{}", b'{"a":1}', b"\xff" * 9])
def test_detection_refuses_what_is_nothing_of_ours(data: bytes) -> None:
    with pytest.raises(Exception, match="look like none of"):
        detect(data)


def test_importing_abi_formats_does_not_import_pyarrow() -> None:
    code = "import sys, abi.formats; sys.exit('pyarrow' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
