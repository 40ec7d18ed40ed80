"""Starts Spark where we are the ones who start it: demo, tests, benchmarks and the command line.

A job that is submitted to a cluster brings its own session; nothing else in this package needs this file.
"""

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from spark_udf.java import ensure_java

_DEFAULTS: dict[str, str] = {
    # On some kernels TCP loopback between the JVM and a Python worker stalls for ever once both directions are full.
    "spark.python.unix.domain.socket.enabled": "true",
    # Names and types of what a worker gives back are checked; by default they are matched by position only.
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
    # A job on one machine has few cores; 200 shuffle partitions would be 200 nearly empty tasks.
    "spark.sql.shuffle.partitions": "4",
    # Good rows and dead letters are written side by side, without sorting them apart first.
    "spark.sql.maxConcurrentOutputFileWriters": "8",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


def prepare_environment() -> str:
    """Set what has to be in the environment before Spark is imported by a JVM or a worker.

    Workers run the interpreter that runs this process: without this they take `python3` from the path, which is
    another one as soon as a virtual environment is used without being activated.

    Returns:
        Where the Java runtime comes from, for people.

    Raises:
        SessionError: there is no Java runtime.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return ensure_java()


def make_session(app_name: str, *, master: str = "local[2]", conf: Mapping[str, str] | None = None) -> SparkSession:
    """Start a local Spark session, or get the one that runs.

    Args:
        app_name: Shown in logs and the UI.
        master: A Spark master URL, such as "local[2]" or "spark://host:7077".
        conf: Settings that win over the defaults of this file.

    Raises:
        SessionError: there is no Java runtime.
    """
    prepare_environment()
    builder = SparkSession.builder.appName(app_name).master(master)
    for key, value in {**_DEFAULTS, **(conf or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
