"""The fixtures for transform authors, loaded by their entry point in a pytest of its own."""

import pytest

import guest_examples

pytest_plugins = ["pytester"]

TESTS = """
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from abi import Event

EVENT = Event(op=1, table="users", after=b'{"id": 1, "email": "a"}').SerializeToString()
CONFIG = {"rules": [{"path": "email", "action": "redact"}]}

@pytest.mark.wasm("mask.wasm", config=CONFIG)
def test_guest(wasm_guest, wasm_module):
    (output,) = wasm_guest.transform([EVENT]).events.to_pylist()
    assert Event.FromString(output).after == b'{"id": 1, "email": "***"}'
    assert wasm_module.digest == wasm_guest.module.digest

@pytest.mark.wasm(config={"rules": []})
def test_bad_configuration(wasm_guest):
    pass

@pytest.mark.wasm("mask.wasm", config=CONFIG)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_events(wasm_guest, event_strategy, data):
    event = data.draw(event_strategy)
    result = wasm_guest.transform([event])
    assert len(result.events) + len(result.failures) == 1
"""


def test_fixtures_load_what_marker_option_and_ini_name(pytester: pytest.Pytester) -> None:
    (pytester.path / "mask.wasm").write_bytes(guest_examples.load_wasm("mask_pii"))
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess(
        "--wasm-module", "mask.wasm", "-q", "--strict-markers", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*InitError*rules*"])


def test_missing_module_says_how_to_name_one(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(wasm_guest): pass")
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*@pytest.mark.wasm*--wasm-module FILE*"])


def test_plugin_by_itself_imports_nothing_heavy() -> None:
    import ast
    from pathlib import Path

    import wasm_host.pytest_plugin as plugin

    tree = ast.parse(Path(plugin.__file__).read_text())
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in top if isinstance(node, ast.ImportFrom)}
    assert names == {"collections.abc", "pathlib", "typing", "pytest"}


def test_plugin_costs_nothing_where_no_fixture_is_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys

        def test_nothing_is_imported():
            assert "wasm_host.pytest_plugin" in sys.modules
            assert {"pyarrow", "wasmtime", "google.protobuf", "wasm_host.guest"} & set(sys.modules) == set()
    """)
    # Not this repository's own plugins, nor hypothesis, which is one by itself.
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
