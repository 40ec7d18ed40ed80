"""Guests that tests compile themselves, in AssemblyScript and Go."""

from pathlib import Path

import pytest

from guest_examples.toolchains import find_toolchains
from guest_examples.toolchains.assemblyscript import FetchError


def compile_guest(language: str, source: Path, folder: Path) -> bytes:
    """Build one source, or skip the test where the compiler cannot be had."""
    toolchain = find_toolchains()[language]
    reason = toolchain.missing()
    if reason is not None:
        pytest.skip(reason)
    target = folder / f"{language}.wasm"
    try:
        toolchain.compile(source, target)
    except FetchError as error:
        pytest.skip(str(error))
    return target.read_bytes()
