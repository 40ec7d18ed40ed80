"""`wasm-host spark`: the job from the command line, in a process of its own, because it starts and stops Spark."""

import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import guest_examples
from abi import Event, Operation
from tests.cli.command import console_script, wasm_host

TENANTS = """
tenant = "tenant_id"
unknown = "dead_letter"
[defaults]
on_error = "dead_letter"
[tenants.acme]
module = "{module}"
config.rules = [{{ path = "email", action = "redact" }}]
"""


@pytest.mark.spark
def test_job_writes_good_rows_and_dead_letters_and_sums_up(tmp_path: Path) -> None:
    events = [
        Event(op=Operation.INSERT, table="users", after=b'{"id": %d, "email": "a"}' % number).SerializeToString()
        for number in range(50)
    ]
    tenants = ["acme"] * 40 + ["nobody"] * 10
    pq.write_table(pa.table({"tenant_id": tenants, "event": pa.array(events, pa.binary())}), tmp_path / "in.parquet")
    (tmp_path / "tenants.toml").write_text(TENANTS.format(module=guest_examples.path("mask_pii")))
    command = [*console_script(), "spark", "--input", "in.parquet", "--output", "out", "--tenants", "tenants.toml"]
    done = subprocess.run(
        [*command, "--master", "local[1]", "--conf", "spark.sql.shuffle.partitions=1"],
        cwd=tmp_path, capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "50 events in" in done.stdout
    (acme,) = [line.split() for line in done.stdout.splitlines() if line.startswith("acme")]
    assert acme[2:6] == ["40", "40", "0", "0"]
    good = pq.read_table(tmp_path / "out" / "outcome=good", partitioning=None)
    assert {Event.FromString(event).after[-15:] for event in good["event"].to_pylist()} == {b'"email": "***"}'}
    assert pq.read_table(tmp_path / "out" / "outcome=dead", partitioning=None).num_rows == 10
    again = wasm_host(
        "spark",
        "--input",
        tmp_path / "in.parquet",
        "--output",
        tmp_path / "out",
        "--tenants",
        tmp_path / "tenants.toml",
    )
    assert (again.status, "exists" in again.err) == (2, True)
