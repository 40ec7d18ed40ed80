"""The compilers that example guests are built with, one module for each language.

A language is added by a module in this folder that defines `TOOLCHAIN`; nothing else needs to know it.
"""

import importlib
import pkgutil

from guest_examples.toolchains.toolchain import EXAMPLES, BuildError, Toolchain

__all__ = ["EXAMPLES", "BuildError", "Toolchain", "find_toolchains"]


def find_toolchains() -> dict[str, Toolchain]:
    """Every toolchain by language, in a fixed order: WAT and Zig, the default builds, first."""
    found: dict[str, Toolchain] = {}
    for module in pkgutil.iter_modules(__path__):
        toolchain = getattr(importlib.import_module(f"{__name__}.{module.name}"), "TOOLCHAIN", None)
        if isinstance(toolchain, Toolchain):
            found[toolchain.language] = toolchain
    order = ("wat", "zig")
    return dict(sorted(found.items(), key=lambda item: (item[0] not in order, item[0])))
