import pytest

from abi import ABI_VERSION
from abi.names import GUEST_EXPORTS, HOST_IMPORTS, LOG_LEVELS, RUSTCDC_VERSION_EXPORT, VERSION_EXPORT, Signature, Symbol

VALUE_TYPES = {"i32", "i64"}


def test_names_are_unique() -> None:
    exports = [symbol.name for symbol in GUEST_EXPORTS]
    imports = [symbol.name for symbol in HOST_IMPORTS]
    assert len(set(exports)) == len(exports)
    assert len(set(imports)) == len(imports)


@pytest.mark.parametrize("symbol", [*GUEST_EXPORTS, *HOST_IMPORTS], ids=lambda symbol: symbol.name)
def test_signatures_use_integers_only(symbol: Symbol) -> None:
    assert set(symbol.signature.params) | set(symbol.signature.results) <= VALUE_TYPES


def test_the_version_export_is_the_first_and_required() -> None:
    """A dialect replaces the first symbol by its own version function."""
    assert GUEST_EXPORTS[0].name == VERSION_EXPORT != RUSTCDC_VERSION_EXPORT
    assert GUEST_EXPORTS[0].required
    assert ABI_VERSION == 1


def test_a_guest_needs_four_functions() -> None:
    assert [s.name for s in GUEST_EXPORTS if s.required] == [VERSION_EXPORT, "alloc", "dealloc", "transform"]


def test_signature_reads_like_the_spec() -> None:
    assert str(Signature(("i32", "i32"), ("i64",))) == "(i32, i32) -> i64"
    assert str(Signature()) == "() -> ()"


def test_log_levels_rise_from_trace_to_error() -> None:
    assert list(LOG_LEVELS.items()) == [(0, "trace"), (1, "debug"), (2, "info"), (3, "warn"), (4, "error")]
