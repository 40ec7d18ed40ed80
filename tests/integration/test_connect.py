"""The same in Spark Connect, where there is neither a SparkContext nor a broadcast nor an accumulator."""

import json
from collections import Counter
from pathlib import Path

import pytest

from spark_udf.samples import sample_batch
from tests.integration.processes import run_program

pytestmark = pytest.mark.spark


def test_transforms_metrics_sql_and_streams_work_through_connect(tmp_path: Path) -> None:
    # With this set, Spark takes a free port for its server instead of always the same one.
    output = run_program("connect_program.py", tmp_path, env={"SPARK_TESTING": "1"})
    answer = json.loads(next(line for line in output.splitlines() if line.startswith("ANSWER "))[7:])
    expected = []
    rows = sample_batch(0, 600).to_pylist()
    for row in rows:
        text = row["event"].hex()
        if row["tenant_id"] == "acme":
            expected += [[row["id"], text, None]] * 2
        elif row["tenant_id"] == "globex" and len(row["event"]) % 2:
            expected.append([row["id"], None, "GUEST_FAILURE"])
        else:
            expected.append([row["id"], text, None])
    assert answer["arrow"] == expected
    assert answer["pandas"] == expected
    count = Counter(row["tenant_id"] for row in rows)
    failed = sum(code is not None for _, _, code in expected)
    # Two results of apply, one action on each.
    assert answer["metrics"] == {
        "acme": [2 * count["acme"], 4 * count["acme"]],
        "globex": [2 * count["globex"], 2 * (count["globex"] - failed)],
        "initech": [2 * count["initech"], 2 * count["initech"]],
    }
    assert answer["sql"] == 600
    assert answer["stream"] == [600, 600, 600]
