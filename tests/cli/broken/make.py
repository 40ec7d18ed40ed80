"""Break `mask_pii` in five ways: `python -m tests.cli.broken.make` writes the modules into this folder.

Each is the real guest with a few lines changed, as a tired author might. The built modules are committed, so that the
tests need no compiler.
"""

import shutil
import tempfile
from pathlib import Path

from guest_examples import path
from guest_examples.toolchains import find_toolchains

FOLDER = Path(__file__).resolve().parent

FAULTS: dict[str, tuple[str, str]] = {
    "image_forgotten": ("inline for (.{ .before, .after }) |image| {", "inline for (.{.after}) |image| {"),
    "operation_forgotten": (
        "    var masker = Masker{};\n",
        "    if (@intFromEnum(event.op()) == 3) return .keep;\n    var masker = Masker{};\n",
    ),
    "nested_path_missed": (
        "        const scanner = &self.scanner;\n        var action = inherited;\n",
        "        const scanner = &self.scanner;\n"
        "        if (level > 0 and bits & paths.ending[level] == 0) return scanner.skip();\n"
        "        var action = inherited;\n",
    ),
    "leaked_in_error": (
        "return context.failJson(kind, &self.scanner, name)",
        'return if (kind == error.NotJson) context.fail(&.{ name, " cannot be masked: ", text }) '
        "else context.failJson(kind, &self.scanner, name)",
    ),
    "logged": (
        "        if (!action.changes(value)) return;\n",
        "        if (!action.changes(value)) return;\n        sdk.host.log(.debug, value.text);\n",
    ),
}


def main() -> None:
    """Write all five."""
    source = path("mask_pii").parent
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(source, scratch, dirs_exist_ok=True)
        original = (source / "mask_pii.zig").read_text(encoding="utf-8")
        for name, (line, fault) in FAULTS.items():
            if original.count(line) != 1:
                raise SystemExit(f"{name}: the line to break is not there exactly once")
            broken = Path(scratch) / f"{name}.zig"
            broken.write_text(original.replace(line, fault), encoding="utf-8")
            find_toolchains()["zig"].compile(broken, FOLDER / f"{name}.wasm")


if __name__ == "__main__":
    main()
