"""Fixtures for authors' own tests: `wasm_module`, `wasm_guest` and `event_strategy`. Registered by its entry point.

    @pytest.mark.wasm("only_users.wasm", config={"table": "users"})
    def test_keeps_users(wasm_guest):
        assert len(wasm_guest.transform([event]).events) == 1

Imports nothing but pytest by itself; the rest is imported by the fixtures that need it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from wasm_host.guest import Guest
    from wasm_host.module import CompiledModule

_MARKER = "wasm(module, *, config=None, limits=None, isolation='worker', wasi=False): the module that the fixtures load"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the module once for all tests."""
    help_text = "module (.wasm) that the fixtures wasm_module and wasm_guest load"
    parser.getgroup("wasm-host").addoption("--wasm-module", metavar="FILE", help=help_text)
    parser.addini("wasm_module", help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


def _request_of(request: pytest.FixtureRequest) -> tuple[Path, dict[str, Any]]:
    """The module's path and the options for loading it: the marker, the command line, the ini file, in this order."""
    marker = request.node.get_closest_marker("wasm")
    options = dict(marker.kwargs) if marker else {}
    root = request.config.rootpath
    if marker and marker.args:
        # Beside the test first: that is where a small module for one test lies.
        beside = request.path.parent / marker.args[0]
        return (beside if beside.exists() else root / marker.args[0]), options
    named = request.config.getoption("--wasm-module") or request.config.getini("wasm_module")
    if not named:
        raise pytest.UsageError(
            "no module to load: use @pytest.mark.wasm('my.wasm'), --wasm-module FILE or wasm_module in the ini file"
        )
    return root / named, options


@pytest.fixture
def wasm_module(request: pytest.FixtureRequest) -> "CompiledModule":
    """The module after admission: digest, exports, imports. A module that the host refuses fails the test."""
    from wasm_host.admission import admit, read_module
    from wasm_host.limits import Limits

    path, options = _request_of(request)
    limits = options.get("limits") or Limits()
    return admit(read_module(path, limits), limits, allows_wasi=options.get("wasi", False))


@pytest.fixture
def wasm_guest(request: pytest.FixtureRequest) -> Iterator["Guest"]:
    """The module, loaded and ready for `transform`; closed after the test."""
    from wasm_host.guest import load

    path, options = _request_of(request)
    with load(path, **options) as guest:
        yield guest


@pytest.fixture(scope="session")
def event_strategy() -> "SearchStrategy[bytes]":
    """A hypothesis strategy of canonical events in protobuf form."""
    from wasm_host.strategies import events

    return events()
