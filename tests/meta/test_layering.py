"""The direction of imports: spark_udf → wasm_host → abi, and guest_examples → abi.

Held twice: by reading the imports of every file, and by importing in a fresh process and looking at what came along.
"""

import subprocess
import sys

import pytest

from tests.meta.source_tree import PACKAGES, ROOT, Import, imports_in, module_files, module_name

MAY_USE = {
    "abi": {"abi"},
    "guest_examples": {"guest_examples", "abi"},
    "wasm_host": {"wasm_host", "abi"},
    # Native transforms are the twins of the example guests.
    "spark_udf": {"spark_udf", "wasm_host", "abi", "guest_examples"},
}
# Who may import a heavy or dangerous library; everybody may import what is not listed.
OWNERS = {
    "wasmtime": {"wasm_host"},
    "pyspark": {"spark_udf"},
    "py4j": {"spark_udf"},
    "pandas": {"spark_udf"},
    "pyarrow": {"wasm_host", "spark_udf"},
    "numpy": {"wasm_host", "spark_udf"},
}
# The assembler for WebAssembly text is wasmtime's, and building examples is no part of running them.
EXCEPTIONS = {("guest_examples/toolchains/wat.py", "wasmtime")}
# A plugin of pytest is loaded by pytest.
PYTEST_PLUGIN = "wasm_host/pytest_plugin.py"
NEVER = {"tests", "benchmarks", "pickle", "cloudpickle", "pytest"}


def all_imports(package: str) -> list[Import]:
    return [found for path in module_files(package) for found in imports_in(path)]


def is_the_command_line(found: Import) -> bool:
    """`wasm-host` is one command for everything, so its sub-commands may reach up, when they are called."""
    return found.file.startswith("wasm_host/cli") and found.is_lazy


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_what_lies_below_it(package: str) -> None:
    wrong = [
        str(found)
        for found in all_imports(package)
        if found.top in PACKAGES and found.top not in MAY_USE[package] and not is_the_command_line(found)
    ]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_heavy_libraries_stay_with_their_owner(package: str) -> None:
    """An import inside a function, or for types only, costs nothing and counts only for wasmtime and pyspark."""
    wrong = [
        str(found)
        for found in all_imports(package)
        if found.top in OWNERS
        and package not in OWNERS[found.top]
        and (found.file, found.top) not in EXCEPTIONS
        and not (found.top not in {"wasmtime", "pyspark"} and (found.is_lazy or found.is_for_types))
    ]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_imports_tests_or_unpickles(package: str) -> None:
    wrong = [found for found in all_imports(package) if found.top in NEVER]
    assert [str(found) for found in wrong if (found.file, found.top) != (PYTEST_PLUGIN, "pytest")] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_are_absolute(package: str) -> None:
    assert [str(found) for found in all_imports(package) if found.module.startswith(".")] == []


def loaded_by(statement: str) -> set[str]:
    """Top-level names of all modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("package", "absent"),
    [
        ("abi", {"wasmtime", "pyspark", "pyarrow", "numpy", "pandas", "wasm_host", "spark_udf", "guest_examples"}),
        ("guest_examples", {"wasmtime", "pyspark", "pyarrow", "wasm_host", "spark_udf"}),
        ("wasm_host", {"pyspark", "pandas", "spark_udf", "click", "rich", "hypothesis"}),
    ],
)
def test_a_fresh_import_brings_nothing_from_above(package: str, absent: set[str]) -> None:
    assert loaded_by(f"import {package}") & absent == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_imports_alone(package: str) -> None:
    """In whatever order a worker first needs them: no module leans on another having been imported before."""
    modules = [module_name(path) for path in module_files(package)]
    # One process for all, each module with a clean table of its package: a process for each would take a minute.
    code = (
        "import importlib, sys\n"
        f"for name in {modules!r}:\n"
        f"    for old in [m for m in sys.modules if m.partition('.')[0] == {package!r} and '_pb2' not in m]:\n"
        "        del sys.modules[old]\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
