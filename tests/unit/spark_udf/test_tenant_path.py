import pyarrow as pa
import pytest

from abi import Event, SourceMetadata
from spark_udf.tenant_path import TenantPath
from wasm_host.errors import ConfigError

EVENT = Event(
    schema="acme",
    table="users",
    after=b'{"tenant_id":"t1","n":7,"big":123456789012345678901,"flag":true,"deep":{"id":"t2"},"none":null}',
    before=b'{"tenant_id":"old"}',
    source=SourceMetadata(source_name="pg"),
    attributes={"cdc.entity.tenant_id": b"t3", "raw": b"\xff"},
)
DELETED = Event(before=b'{"tenant_id":"old"}')


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("schema", "acme"),
        ("table", "users"),
        ("source.source_name", "pg"),
        ("after.tenant_id", "t1"),
        ("before.tenant_id", "old"),
        ("row.tenant_id", "t1"),
        ("after.deep.id", "t2"),
        ("after.n", "7"),
        ("attributes.cdc.entity.tenant_id", "t3"),
        ("attributes.raw", None),
        ("attributes.missing", None),
        ("after.flag", None),
        ("after.none", None),
        ("after.deep", None),
        ("after.tenant_id.deeper", None),
        ("after.missing", None),
    ],
)
def test_tenant_is_found_or_nobody(path: str, expected: str | None) -> None:
    events = pa.array([EVENT.SerializeToString()], pa.binary())
    assert TenantPath.parse(path).extract(events).to_pylist() == [expected]


def test_deletes_have_only_the_row_before() -> None:
    events = pa.array([DELETED.SerializeToString()], pa.binary())
    assert TenantPath.parse("row.tenant_id").extract(events).to_pylist() == ["old"]
    assert TenantPath.parse("after.tenant_id").extract(events).to_pylist() == [None]


def test_what_cannot_be_read_belongs_to_nobody() -> None:
    broken = Event(after=b'{"tenant_id":"t1"').SerializeToString()
    events = pa.array([None, b"\xff\xff", broken, b""], pa.binary())
    assert TenantPath.parse("after.tenant_id").extract(events).to_pylist() == [None] * 4
    assert TenantPath.parse("schema").extract(events).to_pylist() == [None] * 4


@pytest.mark.parametrize("text", ["after", "after.", "nowhere.x", "", "after..x", "source.offset"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="neither a column nor a path"):
        TenantPath.parse(text)
