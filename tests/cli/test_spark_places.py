"""`wasm-host spark` with tables, with places of their own for dead letters, as a stream, and under spark-submit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import guest_examples
from abi import Event, Operation
from tests.cli.command import wasm_host
from tests.cli.test_spark_command import TENANTS

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[2]
UNIX_SOCKETS = "spark.python.unix.domain.socket.enabled=true"


def write_events(path: Path, first: int, tenants: list[str]) -> None:
    events = [
        Event(op=Operation.INSERT, table="users", after=b'{"id": %d, "email": "a"}' % number).SerializeToString()
        for number in range(first, first + len(tenants))
    ]
    path.parent.mkdir(exist_ok=True)
    ids = list(range(first, first + len(tenants)))
    pq.write_table(pa.table({"id": ids, "tenant_id": tenants, "event": pa.array(events, pa.binary())}), path)


def write_tenants(folder: Path, more: str = "") -> Path:
    path = folder / "tenants.toml"
    path.write_text(TENANTS.format(module=guest_examples.path("mask_pii")) + more)
    return path


def run_steps(folder: Path, steps: list[dict[str, Any]]) -> list[Any]:
    """Run the steps with a catalog in this folder."""
    settings = [
        "spark.sql.shuffle.partitions=1",
        "spark.sql.catalogImplementation=hive",
        f"spark.sql.warehouse.dir={folder}/warehouse",
        f"spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:derby:;databaseName={folder}/metastore;create=true",
    ]
    results = folder / "results.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.spark_steps", str(results), *settings],
        cwd=ROOT, input=json.dumps(steps), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[Any] = json.loads(results.read_text())
    return found


def job(folder: Path, *arguments: str) -> dict[str, Any]:
    return {"spark": [*arguments, "--tenants", str(folder / "tenants.toml")]}


def test_tables_are_read_and_written_once_appended_and_streamed(tmp_path: Path) -> None:
    write_tenants(tmp_path)
    write_events(tmp_path / "first" / "a.parquet", 0, ["acme"] * 8 + ["nobody"] * 2)
    write_events(tmp_path / "second" / "a.parquet", 10, ["acme"] * 4 + ["nobody"] * 1)
    batch = ["--input", "table:cdc.events", "--output", "table:cdc.out"]
    apart = ["--input", "table:cdc.events", "--output", "table:cdc.good", "--dead-letters", "table:cdc.dead"]
    stream = ["--input", "table:cdc.events", "--output", "table:cdc.live", "--stream"]
    stream += ["--checkpoint", str(tmp_path / "checkpoint")]
    apart_stream = ["--input", "table:cdc.events", "--output", "table:cdc.s_good", "--dead-letters", "table:cdc.s_dead"]
    apart_stream += ["--stream", "--checkpoint", str(tmp_path / "apart")]
    results = run_steps(tmp_path, [
        {"sql": [
            "CREATE DATABASE cdc",
            f"CREATE TABLE cdc.events USING parquet AS SELECT * FROM parquet.`{tmp_path}/first`",
        ]},
        job(tmp_path, *batch),
        job(tmp_path, *batch),
        job(tmp_path, *batch, "--mode", "append"),
        job(tmp_path, *apart),
        job(tmp_path, *apart, "--mode", "overwrite"),
        job(tmp_path, "--input", "table:cdc.nothing", "--output", "table:cdc.x"),
        job(tmp_path, "--input", "table:not a name", "--output", "table:cdc.x"),
        job(tmp_path, *stream),
        job(tmp_path, *apart_stream),
        {"sql": [f"INSERT INTO cdc.events SELECT * FROM parquet.`{tmp_path}/second`"]},
        job(tmp_path, *stream),
        job(tmp_path, *apart_stream),
        {"sql": [*(
            f"SELECT outcome, count(*), count(distinct id) FROM {table} GROUP BY outcome ORDER BY outcome"
            for table in ("cdc.out", "cdc.live")
        ), *(
            f"SELECT count(*), count(distinct id) FROM {table}"
            for table in ("cdc.good", "cdc.dead", "cdc.s_good", "cdc.s_dead")
        )]},
    ])  # fmt: skip
    created, refused, appended, apart_created, overwritten, missing, unreadable = results[1:8]
    for step in (created, appended, apart_created, overwritten):
        assert (step["status"], "10 events in" in step["out"]) == (0, True), step["err"]
    for step, says in (
        (refused, "[CONFIG_ERROR] the target table cdc.out exists; hint: "),
        (missing, "[CONFIG_ERROR] the input table cdc.nothing does not exist in the catalog; hint: "),
        (unreadable, "is no name of a table"),
    ):
        assert (step["status"], step["err"].count("\n"), says in step["err"]) == (2, 1, True), step["err"]
    first, first_apart, _, second, second_apart, counts = results[8:]
    for step in (first, first_apart):
        assert (step["status"], "10 events in" in step["out"]) == (0, True), step["err"]
    for step in (second, second_apart):  # only what is new, and the pass for dead letters is not counted again
        assert (step["status"], step["out"].splitlines()[-1].split(" events")[0]) == (0, "5"), step["err"]
    assert len(counts) == 6, counts
    out, live, good, dead, streamed_good, streamed_dead = counts
    assert out == [["dead", 4, 2], ["good", 16, 8]], "appended once"
    assert live == [["dead", 3, 3], ["good", 12, 12]]
    assert (good, dead) == ([[8, 8]], [[2, 2]])
    assert (streamed_good, streamed_dead) == ([[12, 12]], [[3, 3]])


def test_stream_picks_up_new_files_only_and_every_event_once(tmp_path: Path) -> None:
    write_tenants(tmp_path)
    write_events(tmp_path / "in" / "a.parquet", 0, ["acme"] * 8 + ["nobody"] * 2)
    write_events(tmp_path / "more" / "b.parquet", 10, ["acme"] * 4 + ["nobody"])
    stream = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--stream", "--checkpoint"]
    run = job(tmp_path, *stream, str(tmp_path / "checkpoint"))
    add = {"move": [str(tmp_path / "more" / "b.parquet"), str(tmp_path / "in" / "b.parquet")]}
    first, _, second, nothing_new = run_steps(tmp_path, [run, add, run, run])
    assert [first["status"], second["status"], nothing_new["status"]] == [0, 0, 0], first["err"] + second["err"]
    summaries = [step["out"].splitlines()[-1] for step in (first, second, nothing_new)]
    assert [summary.split(" events")[0] for summary in summaries] == ["10", "5", "0"]
    ids = {
        outcome: sorted(pq.read_table(tmp_path / "out" / f"outcome={outcome}", partitioning=None)["id"].to_pylist())
        for outcome in ("good", "dead")
    }
    assert ids == {"good": [*range(8), 10, 11, 12, 13], "dead": [8, 9, 14]}


def test_same_options_work_under_spark_submit(tmp_path: Path) -> None:
    write_tenants(tmp_path)
    write_events(tmp_path / "in" / "a.parquet", 0, ["acme"] * 8 + ["nobody"] * 2)
    script = wasm_host("spark", "--script")
    assert script.status == 0
    submit = Path(sys.executable).with_name("spark-submit")
    done = subprocess.run(
        [str(submit), "--master", "local[1]", "--conf", UNIX_SOCKETS, "--conf", "spark.app.name=named-by-submit",
         script.out.strip(), "--input", "in", "--output", "good",
         "--dead-letters", "dead", "--tenants", "tenants.toml", "--conf", "spark.sql.shuffle.partitions=1"],
        # As in a virtual environment that is active: spark-submit looks for `python3` there.
        env={**os.environ, "PATH": f"{submit.parent}{os.pathsep}{os.environ['PATH']}"},
        cwd=tmp_path, capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "10 events in" in done.stdout
    assert sorted(pq.read_table(tmp_path / "good")["id"].to_pylist()) == [*range(8)]
    assert sorted(pq.read_table(tmp_path / "dead")["id"].to_pylist()) == [8, 9]


def test_job_that_fails_is_one_coded_line_and_status_1(tmp_path: Path) -> None:
    tenants = write_tenants(tmp_path)
    tenants.write_text(tenants.read_text().replace('unknown = "dead_letter"', 'unknown = "fail"'))
    write_events(tmp_path / "in" / "a.parquet", 0, ["nobody"])
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "x.parquet").write_text("no parquet")
    failed, refused, column = run_steps(tmp_path, [
        job(tmp_path, "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")),
        job(tmp_path, "--input", str(tmp_path / "text"), "--output", str(tmp_path / "out2")),
        job(tmp_path, "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out2"), "--column", "nothing"),
    ])  # fmt: skip
    assert (failed["status"], failed["err"].count("\n")) == (1, 1), failed["err"]
    assert "[JOB_FAILED] the job failed: [UNKNOWN_TENANT] " in failed["err"]
    assert (refused["status"], refused["err"].count("\n")) == (1, 1), refused["err"]
    assert "is not a Parquet file" in refused["err"]
    assert (column["status"], column["err"].count("\n")) == (2, 1), column["err"]
    assert "the event column 'nothing' does not exist" in column["err"]
