"""Build the example guests: `python -m guest_examples.build [names...] [--lang zig]`.

Builds what the toolchains here allow and says what it skipped and why. A build that fails ends with status 1.
"""

import argparse
import sys
from pathlib import Path

from guest_examples import NAMES, path
from guest_examples.toolchains import BuildError, Toolchain, find_toolchains


def build_one(toolchain: Toolchain, name: str, target: Path | None = None) -> Path:
    """Build one example in one language.

    Args:
        toolchain: the language.
        name: the example.
        target: where the module goes; beside its source by default.

    Raises:
        BuildError: the compiler refused it, or the module is larger than its language may be.
    """
    target = target or path(name, toolchain.language)
    toolchain.compile(toolchain.source_of(name), target)
    size = target.stat().st_size
    if size > toolchain.max_module_bytes:
        raise BuildError(f"{target.name} has {size} bytes, more than the {toolchain.max_module_bytes} allowed")
    return target


def main(arguments: list[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    toolchains = find_toolchains()
    parser = argparse.ArgumentParser(prog="guest_examples.build", description="Build the example guests.")
    parser.add_argument("names", nargs="*", metavar="name", help="examples to build (default: all)")
    parser.add_argument("--lang", action="append", choices=sorted(toolchains), help="only this language (repeatable)")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no example called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    failed = False
    for language in options.lang or toolchains:
        failed |= not _build_language(toolchains[language], options.names or list(NAMES))
    return 1 if failed else 0


def _build_language(toolchain: Toolchain, names: list[str]) -> bool:
    names = [name for name in names if toolchain.has(name)]
    reason = toolchain.missing()
    if reason is not None:
        _say(f"skipped {toolchain.language:<5} {reason}; not built: {', '.join(names) or 'nothing'}")
        return True
    succeeded = True
    for name in names:
        try:
            target = build_one(toolchain, name)
        except BuildError as exc:
            _say(f"FAILED  {toolchain.language:<5} {name}\n{exc}")
            succeeded = False
        else:
            _say(f"built   {toolchain.language:<5} {target.name} ({target.stat().st_size:,} bytes)")
    return succeeded


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
