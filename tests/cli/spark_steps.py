"""Runs steps that need Spark in one process of its own: SQL, and `wasm-host spark` as the console script would run it.

Reads a JSON list from the standard input; each step is {"sql": [STATEMENT, ...]}, {"spark": [ARGUMENT, ...]} or
{"move": [FROM, TO]}. Writes a list of what each gave to the file that is its first argument. Settings of
Spark are the other arguments.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException

from spark_udf.job import start_session
from tests.cli.command import wasm_host


def run_sql(statements: list[str], settings: list[str]) -> Any:
    spark = start_session(master="local[1]", conf=dict(text.split("=", 1) for text in settings))
    try:
        return [[list(row) for row in spark.sql(statement).collect()] for statement in statements]
    except PySparkException as error:
        return str(error)  # for the test to show, after what the commands before it said
    finally:
        spark.stop()


def run_command(arguments: list[str], settings: list[str]) -> Any:
    options = [part for text in settings for part in ("--conf", text)]
    result = wasm_host("spark", *arguments, "--master", "local[1]", *options)
    return {"status": result.status, "out": result.out, "err": result.err}


def run_step(step: dict[str, Any], settings: list[str]) -> Any:
    if "sql" in step:
        return run_sql(step["sql"], settings)
    if "spark" in step:
        return run_command(step["spark"], settings)
    origin, target = step["move"]
    return str(Path(origin).rename(target))


def main() -> None:
    target, settings = Path(sys.argv[1]), sys.argv[2:]
    results = [run_step(step, settings) for step in json.load(sys.stdin)]
    target.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
