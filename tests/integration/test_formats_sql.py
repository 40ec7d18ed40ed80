"""`format=` of every entry that takes events, on real Spark, for each of the six formats."""

import json
from pathlib import Path

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import guest_examples
from abi import Event, Operation, TransformError, formats
from spark_udf import (
    TenantTransforms,
    WasmTransform,
    deduplicate,
    from_columns,
    in_order,
    register,
    split_failures,
    to_columns,
    to_opencdc_letters,
)
from tests.integration.guests import DROP, PASS, TWICE, guest
from tests.property.format_documents import Generator

pytestmark = pytest.mark.spark

TEXT_FORMATS = [name for name, kind in formats.FORMATS.items() if kind.is_text]
REDACT = {"rules": [{"path": "email", "action": "redact"}]}


def change(number: int, email: str = "a@b.c") -> Event:
    event = Event(op=Operation.INSERT, table="users", ts=1_768_145_700_000 + number, envelope_version=1)
    event.after = json.dumps({"id": number, "email": email}, separators=(",", ":")).encode()
    event.primary_key.append("id")
    event.source.source_name, event.source.offset, event.source.timestamp = "pg", str(number), 1_768_145_700_000
    return event


def documents(name: str, count: int) -> list[tuple[int, bytes]]:
    return [(number, formats.get(name).encode(change(number))) for number in range(count)]


def frame_of(spark: SparkSession, rows: list[tuple[int, bytes]], *, as_text: bool = False) -> DataFrame:
    given = [(number, data.decode() if as_text else data) for number, data in rows]
    return spark.createDataFrame(given, f"id bigint, event {'string' if as_text else 'binary'}").repartition(2)


@pytest.mark.parametrize("name", formats.FORMATS)
def test_sql_function_gives_back_every_document_word_for_word(spark: SparkSession, name: str) -> None:
    generator = Generator(21)
    rows = [(number, getattr(generator, name)()) for number in range(60)]
    frame_of(spark, rows).createOrReplaceTempView("documents_of_test")
    register(spark, "same_document", WasmTransform(PASS, on_error="dead_letter"), format=name)
    found = spark.sql("SELECT id, same_document(event) AS r FROM documents_of_test").collect()
    assert {row.id: bytes(row.r.event) for row in found} == dict(rows)
    assert [row.r.failure for row in found if row.r.failure is not None] == []


@pytest.mark.parametrize("name", formats.FORMATS)
def test_sql_function_masks_a_document_of_each_format(spark: SparkSession, name: str) -> None:
    rows = documents(name, 20)
    is_text = name in TEXT_FORMATS
    broken = [*rows, (99, b"{")]
    frame_of(spark, broken, as_text=is_text).createOrReplaceTempView("documents_of_test")
    mask = WasmTransform(guest_examples.path("mask_pii"), config=REDACT, on_error="dead_letter")
    register(spark, "mask_document", mask, format=name, as_text=is_text)
    register(spark, "mask_to_canonical", mask, format=name, output_format="protobuf")
    found = spark.sql(
        "SELECT id, mask_document(event) AS r, mask_to_canonical(event) AS c FROM documents_of_test"
    ).collect()
    assert len(found) == 21
    for row in found:
        if row.id == 99:
            assert (row.r.event, row.c.event) == (None, None)
            assert row.r.failure.code == row.c.failure.code
            assert bytes(row.r.failure.event) == b"{"
            continue
        assert isinstance(row.r.event, str) == is_text
        data = row.r.event.encode() if is_text else bytes(row.r.event)
        images = [formats.get(name).decode(data).after, Event.FromString(bytes(row.c.event)).after]
        assert [json.loads(image) for image in images] == [{"id": row.id, "email": "***"}] * 2
    # Canonical events go to the guest as they are, and it is the guest that refuses.
    expected = "GUEST_FAILURE" if name == "protobuf" else "DECODE_ERROR"
    assert [row.c.failure.code for row in found if row.id == 99] == [expected]


def test_sql_function_of_tenants_takes_the_formats_of_the_file(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "pass.wasm").write_bytes(PASS)
    (tmp_path / "drop.wasm").write_bytes(DROP)
    file = tmp_path / "tenants.toml"
    file.write_text(
        'tenant = "who"\nformat = "debezium"\noutput_format = "cdc"\n'
        '[tenants.a]\nmodule = "pass.wasm"\n[tenants.b]\nmodule = "drop.wasm"\n'
    )
    tenants = TenantTransforms.from_file(file)
    rows = [(number, data.decode(), "ab"[number % 2]) for number, data in documents("debezium", 10)]
    frame = spark.createDataFrame(rows, "id bigint, event string, who string")
    frame.createOrReplaceTempView("documents_of_test")
    register(spark, "by_tenant_documents", tenants, as_text=True)
    found = spark.sql("SELECT id, by_tenant_documents(event, who) AS e FROM documents_of_test").collect()
    assert [formats.detect(row.e.encode()) for row in found if row.id % 2 == 0] == ["cdc"] * 5
    assert [row.e for row in found if row.id % 2] == [None] * 5
    assert sorted(row.id for row in tenants.apply(frame).collect()) == [0, 2, 4, 6, 8]
    # A format that the call names is the call's in both directions.
    again = tenants.apply(frame, format="debezium").where("id = 4").collect()
    assert [row.event for row in again] == [rows[4][1]]


def test_sql_function_gives_several_texts(spark: SparkSession) -> None:
    frame_of(spark, documents("json", 4), as_text=True).createOrReplaceTempView("documents_of_test")
    register(spark, "twice_document", WasmTransform(TWICE), several=True, format="json", as_text=True)
    found = spark.sql("SELECT id, explode(twice_document(event)) AS e FROM documents_of_test").collect()
    assert sorted((row.id, row.e.encode()) for row in found) == sorted([*documents("json", 4)] * 2)


def test_formats_that_cannot_be_meant_are_refused_at_registration(spark: SparkSession) -> None:
    with pytest.raises(TransformError, match=r"UNKNOWN_FORMAT.*no format 'xml'"):
        register(spark, "refused", WasmTransform(PASS), format="xml")
    with pytest.raises(TransformError, match=r"UNKNOWN_FORMAT.*no format 'yaml'"):
        register(spark, "refused", WasmTransform(PASS), format="json", output_format="yaml")
    with pytest.raises(TransformError, match="events of the format 'avro' are no text"):
        register(spark, "refused", WasmTransform(PASS), format="json", output_format="avro", as_text=True)
    with pytest.raises(TransformError, match=r"CONFIG_ERROR.*format is a int"):
        register(spark, "refused", WasmTransform(PASS), format=7)  # type: ignore[arg-type]


def test_column_that_cannot_hold_the_format_fails_with_its_type(spark: SparkSession) -> None:
    register(spark, "pass_avro", WasmTransform(PASS), format="avro")
    with pytest.raises(PythonException, match=r"SCHEMA_MISMATCH.*the event has the type string; allowed is binary"):
        spark.sql("SELECT pass_avro('x')").collect()
    register(spark, "pass_json", WasmTransform(PASS), format="json")
    with pytest.raises(PythonException, match=r"SCHEMA_MISMATCH.*the event has the type int32; allowed are binary and"):
        spark.sql("SELECT pass_json(1)").collect()


def test_format_with_options_is_taken(spark: SparkSession) -> None:
    framed = formats.get("avro", framing="confluent", schema_id=7)
    rows = documents("json", 6)
    out = WasmTransform(PASS).apply(frame_of(spark, rows), format="json", output_format=framed)
    found = {row.id: bytes(row.event) for row in out.collect()}
    assert {data[:5] for data in found.values()} == {b"\x00\x00\x00\x00\x07"}
    assert {number: framed.decode(data).after for number, data in found.items()} == {
        number: change(number).after for number in range(6)
    }
    record = formats.get("opencdc", wire="protobuf")
    with pytest.raises(TransformError, match="allowed is binary"):
        WasmTransform(PASS).apply(frame_of(spark, rows, as_text=True), format=record)


def _appending(more: Event) -> bytes:
    """A guest that puts bytes behind every event, which in protobuf adds what they say."""
    tail = more.SerializeToString()
    literal = "".join(f"\\{byte:02x}" for byte in tail)
    return guest(f"""
      (data (i32.const 16) "{literal}")
      (func (export "transform") (param $at i32) (param $size i32) (result i64)
        (local $out i32)
        (local.set $out (call $alloc (i32.add (local.get $size) (i32.const {len(tail)}))))
        (memory.copy (local.get $out) (local.get $at) (local.get $size))
        (memory.copy (i32.add (local.get $out) (local.get $size)) (i32.const 16) (i32.const {len(tail)}))
        (call $answer (i64.const 0) (local.get $out) (i32.add (local.get $size) (i32.const {len(tail)}))))""")


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_guest_cannot_put_bytes_that_are_no_text_into_a_text_column(spark: SparkSession, name: str) -> None:
    more = Event(attributes={"opencdc.wire": b"protobuf", f"{name}.layout": b'{"a":"\xff\xff"}'})
    hostile = WasmTransform(_appending(more), on_error="dead_letter")
    frame = frame_of(spark, documents(name, 4), as_text=True)
    good, dead = split_failures(hostile.apply(frame, format=name))
    assert {row.failure.code for row in dead.collect()} == {"ENCODE_ERROR"}
    assert good.count() == 0
    wired = WasmTransform(_appending(Event(attributes={"opencdc.wire": b"protobuf"})))
    register(spark, "wired", wired, format=name, as_text=True)
    frame.createOrReplaceTempView("documents_of_test")
    found = spark.sql("SELECT wired(event) AS e FROM documents_of_test").collect()
    texts = [*(row.event for row in wired.apply(frame, format=name).collect()), *(row.e for row in found)]
    assert [formats.detect(text.encode()) for text in texts] == [name] * 8


@pytest.mark.parametrize("name", formats.FORMATS)
def test_columns_are_made_from_and_to_each_format(spark: SparkSession, name: str) -> None:
    is_text = name in TEXT_FORMATS
    rows = documents(name, 12)
    frame = frame_of(spark, [*rows, (99, b"{")], as_text=is_text)
    good, dead = split_failures(to_columns(frame, format=name, on_error="dead_letter"))
    letters = dead.collect()
    assert [(row.id, row.failure.code, bytes(row.failure.event)) for row in letters] == [(99, "DECODE_ERROR", b"{")]
    assert {row.id: row.after.encode() for row in good.collect()} == {n: change(n).after for n in range(12)}
    made = from_columns(good, format=name, as_text=is_text)
    assert dict(made.dtypes)["event"] == ("string" if is_text else "binary")
    written = {row.id: row.event.encode() if is_text else bytes(row.event) for row in made.collect()}
    assert written == dict(rows)


def test_event_without_a_place_in_the_format_is_that_rows_failure(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "INSERT"), (2, "TRUNCATE")], "id int, op string")
    good, dead = split_failures(from_columns(frame, format="cdc", on_error="dead_letter"))
    assert [row.id for row in good.collect()] == [1]
    assert [(row.id, row.failure.code) for row in dead.collect()] == [(2, "ENCODE_ERROR")]
    with pytest.raises(TransformError, match="events of the format 'protobuf' are no text"):
        from_columns(frame, as_text=True)


@pytest.mark.parametrize("name", formats.FORMATS)
def test_each_format_is_deduplicated_and_put_in_order(spark: SparkSession, name: str) -> None:
    is_text = name in TEXT_FORMATS
    rows = documents(name, 15)
    frame = frame_of(spark, [*rows, *rows], as_text=is_text)
    assert deduplicate(frame, format=name).count() == 15
    sorted_frame = in_order(frame_of(spark, rows[::-1], as_text=is_text), within="table", partitions=1, format=name)
    assert [row.id for row in sorted_frame.collect()] == list(range(15))
    with pytest.raises(TransformError, match="UNKNOWN_FORMAT"):
        deduplicate(frame, format="xml")
    with pytest.raises(TransformError, match="UNKNOWN_FORMAT"):
        in_order(frame, format="xml")


@pytest.mark.parametrize("name", formats.FORMATS)
def test_dead_letters_of_each_format_are_opencdc_records(spark: SparkSession, name: str) -> None:
    rows = [(7, formats.get(name).encode(change(7))), (8, b"{")]
    by_length = WasmTransform(guest_examples.path("mask_pii"), config=REDACT, on_error="dead_letter")
    tenants = TenantTransforms({"acme": by_length}, unknown="dead_letter")
    frame = frame_of(spark, rows).selectExpr("id", "event", "if(id = 8, 'acme', 'nobody') AS who")
    _, dead = split_failures(tenants.apply(frame, tenant="who", format=name))
    for wire in ("json", "protobuf"):
        letters = to_opencdc_letters(dead, format=name, wire=wire, node_id="job")  # type: ignore[arg-type]
        assert dict(letters.dtypes)["record"] == ("string" if wire == "json" else "binary")
        found = {row.id: row for row in letters.collect()}
        assert set(found) == {7, 8}
        for row in found.values():
            record = row.record.encode() if wire == "json" else bytes(row.record)
            event = formats.get("opencdc", wire=wire).decode(record)
            metadata = json.loads(event.attributes["opencdc.metadata"])
            assert metadata["conduit.dlq.nack.error"].startswith(f"[{row.failure.code}] ")
            assert metadata["conduit.dlq.nack.node.id"].startswith("job/acme" if row.id == 8 else "job/nobody")
            if row.id == 7:
                assert json.loads(event.after) == {"id": 7, "email": "a@b.c"}


def test_letters_need_a_failure_column_and_a_free_name(spark: SparkSession) -> None:
    frame = frame_of(spark, documents("json", 1))
    with pytest.raises(TransformError, match="no column 'failure'"):
        to_opencdc_letters(frame)
    failed = WasmTransform(PASS, on_error="dead_letter").apply(frame, format="json")
    with pytest.raises(TransformError, match="has a column 'event' already"):
        to_opencdc_letters(failed, "event")
    with pytest.raises(TransformError, match="wire is 'xml'"):
        to_opencdc_letters(failed, wire="xml")  # type: ignore[arg-type]
    assert [row.record for row in to_opencdc_letters(failed, format="json").collect()] == [None]
