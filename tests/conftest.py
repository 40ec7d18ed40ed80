"""Shared fixtures: one Spark session for all tests that need one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """A local session with two cores; starting one takes seconds, so all tests share it."""
    from spark_udf.session import make_session

    session = make_session(
        "tests",
        master="local[2]",
        conf={
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.local.dir": str(tmp_path_factory.mktemp("spark-local")),
        },
    )
    yield session
    session.stop()
