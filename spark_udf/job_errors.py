"""Spark's exceptions as one coded line: what was refused, or what a failing task said, without Java's stack."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import AnalysisException, PySparkException

from spark_udf.errors import JobFailedError
from wasm_host.errors import ConfigError

_MAX_CHARACTERS = 400
# What one of our own workers said is somewhere in the middle of a Java stack.
_CODED = re.compile(r"\[[A-Z][A-Z_]+\] [^\n]*(?:; hint: [^\n]*)?")


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Translate what Spark raises.

    Raises:
        ConfigError: Spark refused the job before it ran: an unknown column, a file that is no Parquet, ...
        JobFailedError: it ran and failed.
    """
    try:
        yield
    except AnalysisException as error:
        raise ConfigError(
            f"Spark refuses the job: {first_line(error)}", hint="correct the input, the output or an option"
        ) from error
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        ours = [found[0] for found in _CODED.finditer(text) if "; hint: " in found[0]]
        raise JobFailedError(
            f"the job failed: {ours[0][:_MAX_CHARACTERS] if ours else _root_cause(text) or first_line(error)}"
        ) from error


def _root_cause(text: str) -> str | None:
    """The last cause of a Java stack: the one that was there first."""
    causes = [line.removeprefix("Caused by: ") for line in text.splitlines() if line.startswith("Caused by: ")]
    return causes[-1][:_MAX_CHARACTERS] if causes else None


def first_line(error: Exception) -> str:
    """What Spark says, without its plan and its stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:_MAX_CHARACTERS] if lines else type(error).__name__
