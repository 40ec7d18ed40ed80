"""The native twin of a module: the same transform in plain Python, for comparison. Trusted code."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import guest_examples
from spark_udf.errors import AdmissionError
from spark_udf.step import NativeFactory, Step

Twin = str | NativeFactory
"""What travels to the executors: "package.module:factory", or a factory that is pickled."""


def twin_of(step: Step) -> Twin:
    """Find the twin of a step: the one that was given, or the one beside a module of `guest_examples`.

    Raises:
        AdmissionError: there is none.
    """
    if step.native is not None:
        return step.native
    if isinstance(step.module, Path):
        examples = Path(guest_examples.__file__).resolve().parent
        folder = step.module.resolve().parent
        if folder.is_relative_to(examples) and (folder / "twin.py").exists():
            return ".".join(["guest_examples", *folder.relative_to(examples).parts, "twin"]) + ":build"
    raise AdmissionError(
        f"{step.where}: engine native or shadow, but the module has no native twin",
        hint='give native="package.module:factory", a function from a configuration to a transform of one event',
    )


def build_twin(twin: Twin, config: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Make the transform of one event.

    Raises:
        AdmissionError: the name leads nowhere.
        ConfigRefused: the twin does not accept the configuration.
    """
    if not isinstance(twin, str):
        return twin(config)
    module_name, _, attribute = twin.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), attribute or "build")
    except (ImportError, AttributeError) as error:
        raise AdmissionError(
            f"the native twin {twin!r} cannot be imported ({error})",
            hint='write "package.module:factory" and install that package on the driver and on the executors',
        ) from error
    transform = factory(config)
    if not callable(transform):
        raise AdmissionError(f"the native twin {twin!r} returned a {type(transform).__name__}, not a function")
    return transform  # type: ignore[no-any-return]  # callable() does not tell the checker the signature
