"""A standalone cluster: a master and two workers in processes and folders of their own."""

import os
import shlex
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import guest_examples
import spark_udf
import wasm_host
from spark_udf.samples import sample_batch
from spark_udf.session import prepare_environment
from tests.integration.processes import SPARK_HOME, kill_group, start_program, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

PROJECT = Path(spark_udf.__file__).parents[1]


class Cluster:
    """The processes of a cluster, each in a group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._processes: list[subprocess.Popen[str]] = []
        self.start("master.Master", "--port", str(self.port))

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start_worker(self, number: int) -> "subprocess.Popen[str]":
        folder = self.folder / f"work{number}"
        return self.start("worker.Worker", self.url, "-c", "1", "-m", "2g", "-d", str(folder))

    def start(self, kind: str, *arguments: str) -> "subprocess.Popen[str]":
        command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1"]
        environment = {**_bare_environment(), "SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
        log = (self.folder / f"{kind}{len(self._processes)}.log").open("w")
        process = subprocess.Popen(
            [*command, "--webui-port", "0", *arguments],
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=environment,
        )
        log.close()
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in self._processes:
            kill_group(process)

    def executors(self, number: int) -> int:
        return len(list((self.folder / f"work{number}").glob("app-*/*")))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    prepare_environment()
    running = Cluster(tmp_path)
    try:
        yield running
    finally:
        running.close()


def _bare_environment() -> dict[str, str]:
    """What the processes inherit; the way to this project is not part of it."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def python_without_project(folder: Path) -> Path:
    """An interpreter that has every library of this environment, but not this project."""
    libraries = folder / "libraries"
    libraries.mkdir()
    installed = Path(pa.__file__).parents[1]
    for entry in installed.iterdir():
        if entry.suffix != ".pth" and not entry.name.startswith("wasm_host-"):
            (libraries / entry.name).symlink_to(entry)
    script = folder / "python"
    base = getattr(sys, "_base_executable", sys.executable)
    script.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec {shlex.quote(base)} -S "$@"\n')
    script.chmod(0o755)
    return script


def zip_of_project(folder: Path) -> Path:
    """The project as a wheel would hold it: packages and their metadata."""
    path = folder / "package.zip"
    metadata = next(Path(pa.__file__).parents[1].glob("wasm_host-*.dist-info"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name in ("abi", "wasm_host", "spark_udf"):
            for file in (PROJECT / name).rglob("*"):
                if file.is_file() and "__pycache__" not in file.parts:
                    package.write(file, file.relative_to(PROJECT))
        for file in (PROJECT / "guest_examples").glob("*.py"):
            package.write(file, file.relative_to(PROJECT))
        package.write(metadata / "METADATA", f"{metadata.name}/METADATA")
    return path


def test_worker_killed_mid_job_is_replaced_and_output_is_complete(cluster: Cluster, tmp_path: Path) -> None:
    rows = sample_batch(0, 3_000)
    pq.write_table(pa.Table.from_batches([rows]), tmp_path / "in.parquet")
    python = python_without_project(tmp_path)
    lacks = subprocess.run(
        [str(python), "-c", "import pyarrow, wasmtime, pyspark; import spark_udf"],
        capture_output=True,
        cwd="/",
        env=_bare_environment(),
    )
    assert b"No module named 'spark_udf'" in lacks.stderr
    first, _ = cluster.start_worker(1), cluster.start_worker(2)
    driver = start_program(
        "cluster_program.py",
        cluster.url,
        zip_of_project(tmp_path),
        tmp_path / "in.parquet",
        tmp_path / "out",
        env={"PYSPARK_PYTHON": str(python)},
    )
    try:
        wait_until(lambda: len(list((tmp_path / "out").rglob("part-*"))) >= 2, "the first output", 120)
        kill_group(first)
        cluster.start_worker(3)
        output, _ = driver.communicate(timeout=150)
    finally:
        kill_group(driver)
    assert driver.returncode == 0, output[-4000:]
    assert (tmp_path / "out" / "_SUCCESS").exists()
    assert [cluster.executors(number) for number in (1, 2, 3)] == [1, 1, 1], "the third took the first one's place"
    found = pq.read_table(tmp_path / "out").select(["id", "tenant_id", "event"]).to_pylist()
    key = lambda row: row["id"]  # noqa: E731
    assert sorted(found, key=key) == sorted(_expected(rows), key=key)
    # The killed worker's finished tasks were not run again, those it was running were.
    assert "COUNTED 3000" in output


def _expected(rows: pa.RecordBatch) -> list[dict[str, object]]:
    config = {"rules": [{"path": "email", "action": "redact"}]}
    with wasm_host.load(guest_examples.path("mask_pii"), config=config) as guest:
        masked = guest.transform(rows.column("event"))
    events = dict(zip(masked.rows.to_pylist(), masked.events.to_pylist(), strict=True))
    expected = []
    for position, row in enumerate(rows.to_pylist()):
        if row["tenant_id"] == "acme":
            expected += [{**row, "event": events[position]}] if position in events else []
        else:
            expected += [row] * (2 if row["tenant_id"] == "globex" else 1)
    return expected
