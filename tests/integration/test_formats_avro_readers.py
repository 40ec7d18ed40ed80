"""Our Avro bytes under independent readers: Apache Avro for Java, which Spark carries, and Spark's own Avro functions.

Spark's functions are in a jar that PySpark does not bring. Where it is not among PySpark's jars, name it with
`SPARK_AVRO_JAR`: the path of the jar `spark-avro_2.13` of the same version as PySpark.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from abi import Event, Operation
from abi.formats import AvroFormat
from tests.property.format_documents import Generator

pytestmark = pytest.mark.spark

SCHEMA = (Path(__file__).parents[1] / "unit" / "abi" / "formats" / "seed_examples" / "event.avsc").read_text()
ROOT = Path(__file__).parents[2]


def _spark_avro_jar() -> Path | None:
    named = os.environ.get("SPARK_AVRO_JAR")
    if named:
        return Path(named)
    found = sorted((Path(pyspark.__file__).parent / "jars").glob("spark-avro_*.jar"))
    return found[0] if found else None


def _events(count: int) -> list[Event]:
    generator = Generator(31)
    return [generator.event() for _ in range(count)]


def _bytes(buffer: Any) -> bytes | None:
    return None if buffer is None else bytes(buffer.array())


def _check_read(record: Any, event: Event) -> None:
    for image in ("before", "after"):
        assert _bytes(record.get(image)) == (getattr(event, image) if event.HasField(image) else None)
    assert record.get("op").toString() == Operation.Name(event.op)
    assert record.get("ts") % 2**64 == event.ts
    assert record.get("table").toString() == event.table
    assert [str(name) for name in record.get("primary_key")] == list(event.primary_key)
    source = record.get("source")
    assert [str(source.get("source_name")), str(source.get("offset"))] == [
        event.source.source_name,
        event.source.offset,
    ]
    assert (record.get("transaction") is not None) == event.HasField("transaction")
    assert (record.get("snapshot") is not None) == event.HasField("snapshot")


def test_plain_datum_is_read_by_apache_avro_with_the_described_schema(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm  # the only door to the Java classes that Spark carries
    schema = jvm.org.apache.avro.Schema.Parser().parse(SCHEMA)
    reader = jvm.org.apache.avro.generic.GenericDatumReader(schema)
    for event in _events(100):
        decoder = jvm.org.apache.avro.io.DecoderFactory.get().binaryDecoder(AvroFormat("plain").encode(event), None)
        _check_read(reader.read(None, decoder), event)
        assert decoder.isEnd()


def test_single_object_is_read_by_apache_avro_with_the_described_schema(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm  # see above
    schema = jvm.org.apache.avro.Schema.Parser().parse(SCHEMA)
    # It finds the schema by the fingerprint in the bytes, so a wrong one would be refused.
    decoder = jvm.org.apache.avro.message.BinaryMessageDecoder(jvm.org.apache.avro.generic.GenericData.get(), schema)
    for event in _events(50):
        _check_read(decoder.decode(AvroFormat("single-object").encode(event), None), event)


def test_bytes_of_apache_avro_are_read_by_us(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm  # see above
    schema = jvm.org.apache.avro.Schema.Parser().parse(SCHEMA)
    reader = jvm.org.apache.avro.generic.GenericDatumReader(schema)
    writer = jvm.org.apache.avro.generic.GenericDatumWriter(schema)
    for event in _events(50):
        given = AvroFormat("plain").encode(event)
        decoder = jvm.org.apache.avro.io.DecoderFactory.get().binaryDecoder(given, None)
        stream = jvm.java.io.ByteArrayOutputStream()
        encoder = jvm.org.apache.avro.io.EncoderFactory.get().binaryEncoder(stream, None)
        writer.write(reader.read(None, decoder), encoder)
        encoder.flush()
        written = bytes(stream.toByteArray())
        assert AvroFormat("plain").decode(written) == AvroFormat("plain").decode(given)
        assert AvroFormat("plain").encode(AvroFormat("plain").decode(written)) == written


_SPARK_AVRO_PROGRAM = """
import sys
from pyspark.sql.avro.functions import from_avro
from spark_udf.session import make_session
from tests.integration.test_formats_avro_readers import SCHEMA, _events
from abi import Operation
from abi.formats import AvroFormat

spark = make_session("spark-avro", master="local[1]", conf={"spark.jars": sys.argv[1]})
events = _events(200)
rows = [(number, AvroFormat("plain").encode(event)) for number, event in enumerate(events)]
frame = spark.createDataFrame(rows, "n int, event binary")
for row in frame.select("n", from_avro("event", SCHEMA, {"mode": "FAILFAST"}).alias("e")).collect():
    event, read = events[row.n], row.e
    for image in ("before", "after"):
        found = None if read[image] is None else bytes(read[image])
        assert found == (getattr(event, image) if event.HasField(image) else None), (row.n, image)
    assert read.op == Operation.Name(event.op)
    assert read.ts % 2**64 == event.ts
    assert read.table == event.table
    assert list(read.primary_key) == list(event.primary_key)
    assert (read.transaction is not None) == event.HasField("transaction")
    assert read.source.offset == event.source.offset
spark.stop()
print("READ", len(rows))
"""


def test_plain_datum_is_read_by_sparks_own_avro() -> None:
    jar = _spark_avro_jar()
    if jar is None:
        pytest.skip(
            f"no spark-avro jar: set SPARK_AVRO_JAR to the path of spark-avro_2.13-{pyspark.__version__}.jar "
            "(org.apache.spark:spark-avro_2.13), or put it into PySpark's jars folder"
        )
    assert jar.is_file(), f"SPARK_AVRO_JAR names {jar}, which is no file"
    command = [sys.executable, "-c", _SPARK_AVRO_PROGRAM, str(jar)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)
    assert "READ 200" in done.stdout, done.stderr[-2000:]
