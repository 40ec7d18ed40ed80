"""What a package says is public is what is public."""

import importlib
import types

import pytest

from tests.meta.source_tree import PACKAGES, ROOT, module_name

WITH_INIT = sorted(
    module_name(path)
    for package in PACKAGES
    for path in (ROOT / package).rglob("__init__.py")
    if "__all__" in path.read_text(encoding="utf-8")
)


def public_names(module: types.ModuleType) -> set[str]:
    """Names without an underscore that are bound in a module, except the modules among them."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }


@pytest.mark.parametrize("name", sorted({*PACKAGES, *WITH_INIT}))
def test_all_equals_what_is_public(name: str) -> None:
    """Its order is the linter's matter."""
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    modules = {item for item in module.__all__ if isinstance(getattr(module, item), types.ModuleType)}
    assert set(module.__all__) - modules == public_names(module)


@pytest.mark.parametrize("package", PACKAGES)
def test_package_says_what_it_is_and_is_typed(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__doc__
    assert len(module.__doc__.strip().splitlines()) > 2
    assert (ROOT / package / "py.typed").exists()


@pytest.mark.parametrize("package", PACKAGES)
def test_init_holds_no_logic(package: str) -> None:
    assert len((ROOT / package / "__init__.py").read_text(encoding="utf-8").splitlines()) <= 100
