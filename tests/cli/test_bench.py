"""`wasm-host bench`: on generated events, and on those of a file in any format."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import guest_examples
from abi import formats
from tests.cli.command import wasm_host
from tests.cli.test_run import delimited
from wasm_host.cli import bench
from wasm_host.generate import generate_events

MODULE = guest_examples.path("pass_through")
FILES = {
    "protobuf": "e.pb",
    "json": "e.ndjson",
    "cdc": "e.ndjson",
    "opencdc": "e.pb",
    "debezium": "e.ndjson",
    "avro": "e.avro",
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_MIN_SECONDS", 0.001)


def test_every_format_has_its_file_here() -> None:
    assert set(FILES) == set(formats.FORMATS)


@pytest.mark.parametrize("name", formats.FORMATS)
def test_events_of_a_file_are_measured_in_every_format(name: str, tmp_path: Path) -> None:
    canonical = tmp_path / "canonical.pb"
    canonical.write_bytes(delimited(generate_events(1, 200)))
    source, parquet = tmp_path / FILES[name], tmp_path / "e.parquet"
    for target in (source, parquet):
        options = ["--output-format", name, "--dead-letters", tmp_path / "dead.ndjson"]
        assert wasm_host("run", MODULE, "-i", canonical, "-o", target, *options).status == 0
    for path in (source, parquet):
        result = wasm_host("bench", MODULE, "--input", path, "--format", name, "--events", "100", "--json")
        assert result.status == 0, (path, result.err)
        (measured,) = json.loads(result.out)
        assert measured["events_per_second"] > 0
        assert measured["megabytes_per_second"] > 0


def test_format_is_told_from_the_file_where_it_is_not_named(tmp_path: Path) -> None:
    source = tmp_path / "events.bin"
    source.write_bytes(delimited(generate_events(1, 100)))
    told = wasm_host("bench", MODULE, "--input", source, "--json")
    assert told.status == 0, told.err
    wrong = wasm_host("bench", MODULE, "--input", source, "--format", "avro", "--json")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)


def test_twin_is_in_table_and_plot(tmp_path: Path) -> None:
    plot = tmp_path / "bench.svg"
    result = wasm_host(
        "bench", MODULE, "--against", "guest_examples.pass_through.twin", "--events", "100", "--plot", plot
    )
    assert result.status == 0, result.err
    assert [line.split()[0] for line in result.out.splitlines()[2:4]] == ["wasm", "native"]
    texts = [element.text or "" for element in ElementTree.parse(plot).iter() if element.tag.endswith("text")]
    assert any("wasm" in text for text in texts)
    assert any("native twin" in text for text in texts)
