"""What the command line and the harness raise is in the tree of `abi.TransformError`, with a stable code."""

import importlib

from abi import TransformError
from tests.meta.source_tree import module_files, module_name

PACKAGES = ("wasm_host.cli", "wasm_host.harness", "wasm_host.report", "wasm_host.pytest_plugin")


def test_no_exception_stands_outside_the_tree() -> None:
    names = [module_name(path) for path in module_files("wasm_host")]
    classes = [
        value
        for name in names
        if name.startswith(PACKAGES)
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, type) and value.__module__ == name and issubclass(value, BaseException)
    ]
    assert {kind.__name__ for kind in classes} >= {"BuildFailed", "StoppedByFailure"}
    assert [kind for kind in classes if not issubclass(kind, TransformError)] == []
