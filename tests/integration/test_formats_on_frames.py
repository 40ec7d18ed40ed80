"""Events in other formats: guests see the canonical event, the column keeps its format."""

import json

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import guest_examples
from abi import TransformError, formats
from spark_udf import TenantTransforms, WasmTransform
from spark_udf.samples import sample_event
from tests.integration.guests import PASS

pytestmark = pytest.mark.spark

MASK = WasmTransform(
    guest_examples.path("mask_pii"), config={"rules": [{"path": "email", "action": "redact"}]}, on_error="dead_letter"
)


def documents(count: int) -> list[tuple[int, str, str]]:
    to_json = formats.get("debezium")
    rows = []
    for number in range(count):
        tenant, event = sample_event(number)
        text = to_json.encode(formats.get("protobuf").decode(event)).decode()
        rows.append((number, tenant, text if number % 10 else text[:40]))
    return rows


@pytest.mark.parametrize("via", ["arrow", "pandas"])
def test_text_column_of_debezium_is_masked_and_stays_debezium(spark: SparkSession, via: str) -> None:
    rows = documents(60)
    frame = spark.createDataFrame(rows, "id bigint, tenant_id string, event string").repartition(2)
    out = MASK.apply(frame, format="debezium", via=via)
    assert dict(out.dtypes)["event"] == "string"
    for row in out.collect():
        original = rows[row.id][2]
        if row.id % 10 == 0:
            assert row.event is None
            assert row.failure.code == "DECODE_ERROR"
            assert bytes(row.failure.event).decode() == original
            continue
        before, after = json.loads(original), json.loads(row.event)
        for image in ("before", "after"):
            if before[image] is not None:
                before[image]["email"] = "***"
        assert after == before


@pytest.mark.parametrize("via", ["arrow", "pandas"])
def test_output_format_and_tenant_from_inside_the_document(spark: SparkSession, via: str) -> None:
    rows = [row for row in documents(60) if row[0] % 10]
    frame = spark.createDataFrame(rows, "id bigint, tenant_id string, event string")
    tenants = TenantTransforms({"acme": WasmTransform(PASS)}, unknown="drop")
    out = tenants.apply(frame, tenant="schema", format="debezium", output_format="protobuf", via=via)
    assert dict(out.dtypes)["event"] == "binary"
    found = {row.id: bytes(row.event) for row in out.collect()}
    decode = formats.get("debezium").decode
    expected = {row[0] for row in rows if decode(row[2].encode()).schema == "acme"}
    assert expected
    assert set(found) == expected
    assert all(formats.get("protobuf").decode(event).table == "customers" for event in found.values())


def test_document_that_cannot_be_read_fails_the_job_by_default(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "{not json")], "id bigint, event string")
    with pytest.raises(PythonException, match="the format failed on row 0 of partition"):
        WasmTransform(PASS).apply(frame.coalesce(1), format="json").collect()


def test_unknown_format_and_text_in_a_binary_format_are_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "x")], "id bigint, event string")
    with pytest.raises(TransformError, match="UNKNOWN_FORMAT"):
        WasmTransform(PASS).apply(frame, format="xml")
    with pytest.raises(TransformError, match="binary formats need a binary column"):
        WasmTransform(PASS).apply(frame, format="avro")
