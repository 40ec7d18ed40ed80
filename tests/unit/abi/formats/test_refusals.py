"""Bad input is refused with one coded line that says what was seen, where, and what is allowed."""

import json

import pyarrow as pa
import pytest

from abi import DecodeError, EncodeError, Event, Operation
from abi.formats import FORMATS, AvroFormat, OpenCdcFormat, UnknownFormatError, get

JSON = (
    b'{"before":null,"after":{"id":1},"op":"insert","source":{"source_name":"s","offset":"o","timestamp":1},'
    b'"ts":1,"table":"t","envelope_version":1}'
)
DEBEZIUM = b'{"before":null,"after":{"id":1},"source":{"connector":"mysql","ts_ms":1,"table":"t"},"op":"c","ts_ms":1}'
OPENCDC = (
    b'{"position":"YQ==","operation":"create","metadata":{},"key":null,"payload":{"before":null,"after":{"id":1}}}'
)
CDC = FORMATS["cdc"].encode(Event(op=Operation.INSERT, table="t", after=b'{"id":1}'))
AVRO = AvroFormat("single-object").encode(Event(op=Operation.INSERT, table="t", after=b'{"id":1}'))
PROTOBUF = Event(op=Operation.INSERT, table="t", after=b'{"id":1}').SerializeToString()

CASES = [
    ("json", JSON[:40], "Input data was truncated", None, 40),
    ("json", b"", "truncated", None, 0),
    ("json", JSON.replace(b'"ts":1,', b'"ts":"1",'), "expected 'int', got 'str'", "$.ts", b'"1"'),
    ("json", JSON.replace(b'"ts":1,', b'"ts":-1,'), "'-1' is outside 0..18446744073709551615", "$.ts", b"-1"),
    ("json", JSON.replace(b'"table":"t",', b""), "missing required field 'table'", "$", 0),
    ("json", JSON.replace(b'"insert"', b'"upsert"'), "unknown operation 'upsert'", "$.op", b'"upsert"'),
    ("json", JSON.replace(b'{"id":1}', b'{"id":"\xff"}'), "invalid UTF-8", None, b"\xff"),
    ("json", JSON.replace(b'{"id":1}', b"[" * 200 + b"]" * 200), "nested deeper than 128", None, 23 + 127),
    ("json", JSON.replace(b'"ts":1', b'"ts":1,"ts":2'), "stands twice", None, b',"ts":2'),
    ("json", JSON.replace(b'{"id":1}', b'{"id":NaN}'), "invalid character", None, b"NaN}"),
    ("json", JSON.replace(b'{"id":1}', b'{"id":"\\ud800"}'), "hex escape", None, b'"},"op"'),
    ("json", b"[]", "expected 'object', got 'array'", "$", 0),
    ("cdc", CDC.replace(b'"1.0"', b'"2.0"'), "unknown version '2.0'", "$.version", b'"2.0"'),
    ("cdc", CDC.replace(b'"CREATE"', b'"UPSERT"'), "unknown operation.type 'UPSERT'", "$.operation.type", b'"UPSERT"'),
    ("cdc", CDC.replace(b'"entity:created"', b'"entity:made"'), "unknown event_type", "$.event_type", b'"entity:made"'),
    ("cdc", CDC.replace(b"1970-01-01T00:00:00.000Z", b"yesterday"), "'yesterday' is no time", "$.timestamp", None),
    ("cdc", CDC.replace(b"1970-01-01T00:00:00.000Z", b"1969-01-01T00:00:00Z"), "is no time", "$.timestamp", None),
    (
        "cdc",
        CDC.replace(b'"sequence_number":0', b'"sequence_number":9223372036854775808'),
        "no 64-bit",
        "$.sequence_number",
        None,
    ),
    ("cdc", CDC.replace(b'"after":{"id":1}', b'"after":5'), "expected an object, got '5'", "$.operation.after", b"5}"),
    ("debezium", DEBEZIUM.replace(b'"c"', b'"m"'), "unknown operation 'm'", "$.op", b'"m"'),
    ("debezium", DEBEZIUM.replace(b'"table":"t"', b'"table":[]'), "got 'array'", "$.source.table", b"[]"),
    ("debezium", b"{}", "there is no operation", "$.op", 0),
    ("opencdc", OPENCDC.replace(b'"create"', b'"make"'), "unknown operation 'make'", "$.operation", b'"make"'),
    ("opencdc", OPENCDC.replace(b'"YQ=="', b'"@"'), "expected a string of base64", "$.position", 12),
    ("opencdc", OPENCDC.replace(b'"key":null', b'"key":5'), "an object or a string of base64, got '5'", "$.key", b"5,"),
    ("opencdc", OPENCDC.replace(b"{},", b'{"a":1},'), "expected an object of strings", "$.metadata", b'{"a":1}'),
    ("opencdc", b"\x10\x09", "unknown operation 9", "operation", None),
    ("opencdc", b"\x10\x01\x22\x05\x12\x10", "field 4 is longer than the bytes left", None, 4),
    ("opencdc", b"\x10\x81\x00", "not written the way a protobuf serialiser writes it", None, None),
    ("avro", AVRO[:-1], "truncated", "before_is_key_only", len(AVRO) - 1),
    ("avro", AVRO + b"\x00", "1 bytes follow the event", None, len(AVRO)),
    ("avro", b"\xc3\x01" + b"x" * 20, "unknown schema, fingerprint 7878787878787878", None, 2),
    ("avro", b"\xc3\x02" + AVRO[2:], "number beyond 64 bits|branch", "before", 0),
    ("avro", AVRO.replace(b"\x02t\x00", b"\x02\xff\x00"), "invalid UTF-8", "table", None),
    ("avro", AVRO.replace(b'\x10{"id":1}', b'\x7f{"id":1}'), "length -64", "after", 11 + 1),
    ("avro", AVRO[:10] + b"\x00\x00\x0c" + AVRO[21:], "unknown operation 6", "op", 12),
    ("protobuf", PROTOBUF[:-1], "longer than the bytes left", "op", None),
    ("protobuf", b"\x3a\x02\xff\xff", "invalid UTF-8", "table", 2),
    ("protobuf", b"\x22\x03\x0a\x01\xff", "invalid UTF-8", "source", 4),
]


@pytest.mark.parametrize(
    ("name", "data", "reason", "path", "offset"), CASES, ids=[f"{c[0]}-{c[2][:30]}" for c in CASES]
)
def test_bad_input_is_refused_with_path_and_offset(
    name: str, data: bytes, reason: str, path: str | None, offset: int | bytes | None
) -> None:
    with pytest.raises(DecodeError, match=reason) as refusal:
        FORMATS[name].decode(data)
    assert refusal.value.code == "DECODE_ERROR"
    assert refusal.value.path == path
    if offset is not None:
        assert refusal.value.offset == (data.index(offset) if isinstance(offset, bytes) else offset)


def test_a_refusal_shows_hostile_text_escaped_and_bounded() -> None:
    data = JSON.replace(b'"insert"', b'"\\u001b[31m' + b"x" * 5000 + b'"')
    with pytest.raises(DecodeError) as refusal:
        FORMATS["json"].decode(data)
    assert "\x1b" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("name", FORMATS)
def test_a_batch_has_the_failure_of_its_row_only(name: str) -> None:
    good = {"json": JSON, "cdc": CDC, "debezium": DEBEZIUM, "opencdc": OPENCDC, "avro": AVRO, "protobuf": PROTOBUF}[
        name
    ]
    events, failures = FORMATS[name].decode_batch(pa.array([good, b"\xff", None, good], pa.large_binary()))
    assert [(failure.row, failure.code) for failure in failures] == [(1, "DECODE_ERROR")]
    assert failures[0].message.startswith("[DECODE_ERROR] not a valid ")
    assert [row is None for row in events.to_pylist()] == [False, True, True, False]
    assert events.type == pa.binary()


def test_a_batch_of_strings_is_taken_too() -> None:
    events, failures = FORMATS["json"].decode_batch(pa.array([JSON.decode()], pa.string()))
    assert failures == []
    assert Event.FromString(events[0].as_py()).table == "t"


@pytest.mark.parametrize("name", ["json", "cdc", "debezium", "opencdc"])
@pytest.mark.parametrize("image", [b'1,"op":"delete"', b'{"a":1}}', b"", b"NaN", b'"\xff"', b"{" * 3])
def test_an_image_that_is_not_one_json_value_is_not_spliced_in(name: str, image: bytes) -> None:
    with pytest.raises(EncodeError, match="not one JSON value"):
        FORMATS[name].encode(Event(op=Operation.INSERT, table="t", after=image))


@pytest.mark.parametrize(
    ("name", "op"),
    [(name, Operation.OPERATION_UNSPECIFIED) for name in ("json", "cdc", "debezium", "opencdc", "avro")]
    + [(name, Operation.TRUNCATE) for name in ("cdc", "opencdc")]
    + [(name, Operation.SCHEMA_CHANGE) for name in ("cdc", "opencdc")],
)
def test_an_operation_without_a_name_is_not_written(name: str, op: Operation) -> None:
    with pytest.raises(EncodeError, match="operation"):
        FORMATS[name].encode(Event(op=op, table="t"))


@pytest.mark.parametrize(
    "layout", [b"", b"{", b"\x01nope\x03", b"\x01table\x03}", b"\x00" * 50, b"\x01op\x02x\x02{\x03"]
)
def test_a_damaged_layout_is_refused_not_written(layout: bytes) -> None:
    event = FORMATS["json"].decode(JSON)
    event.attributes["json.layout"] = layout
    with pytest.raises(EncodeError, match="layout"):
        FORMATS["json"].encode(event)


def test_removing_the_layout_gives_the_standard_form() -> None:
    pretty = json.dumps(json.loads(DEBEZIUM), indent=2).encode()
    event = FORMATS["debezium"].decode(pretty)
    del event.attributes["debezium.layout"]
    event.attributes["debezium.source"] = json.dumps(json.loads(DEBEZIUM)["source"], separators=(",", ":")).encode()
    event.after = b'{"id":1}'
    assert json.loads(FORMATS["debezium"].encode(event)) == json.loads(DEBEZIUM) | {"transaction": None}


def test_a_datum_that_is_an_event_in_two_framings_is_refused_until_the_framing_is_named() -> None:
    inside = Event(op=Operation.INSERT, before=b"x" * 20)
    inside.source.SetInParent()
    datum = AvroFormat("plain").encode(inside)
    # Read as a plain datum: no images, INSERT, and a source name of 26 bytes that swallows most of the other reading.
    data = b"\x00" + b"\x00\x00\x34\x00" + datum
    with pytest.raises(DecodeError, match="both as a plain datum and in Confluent's framing"):
        FORMATS["avro"].decode(data)
    assert len(get("avro", framing="plain").decode(data).source.source_name) == 26
    assert get("avro", framing="confluent").decode(data).before == b"x" * 20


def test_confluent_framing_needs_a_schema_id() -> None:
    event = Event(op=Operation.INSERT, table="t")
    with pytest.raises(EncodeError, match="needs a schema id"):
        AvroFormat("confluent").encode(event)
    assert AvroFormat("confluent", schema_id=77).encode(event)[:5] == b"\x00\x00\x00\x00\x4d"


def test_unknown_format_and_unknown_option_are_named() -> None:
    with pytest.raises(UnknownFormatError, match=r"no format 'xml'.*allowed are protobuf, avro, json"):
        get("xml")
    with pytest.raises(UnknownFormatError, match="format avro"):
        get("avro", colour="red")


def test_a_wire_that_was_asked_for_is_the_only_one_read() -> None:
    with pytest.raises(DecodeError):
        OpenCdcFormat("protobuf").decode(OPENCDC)
    with pytest.raises(DecodeError):
        OpenCdcFormat("json").decode(OpenCdcFormat("protobuf").encode(OpenCdcFormat().decode(OPENCDC)))
