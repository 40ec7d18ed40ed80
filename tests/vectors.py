"""The vectors of `abi/vectors`, as test parameters with readable names."""

import json
from importlib import resources
from typing import Any

import pytest


def load_vectors(file: str) -> dict[str, list[dict[str, Any]]]:
    """The sections of `valid` or `invalid`."""
    text = resources.files("abi").joinpath("vectors", "v1", f"{file}.json").read_text(encoding="utf-8")
    sections = json.loads(text)
    del sections["about"]
    return sections


def vector_params(file: str, section: str) -> list[Any]:
    return [pytest.param(vector, id=vector["desc"]) for vector in load_vectors(file)[section]]
