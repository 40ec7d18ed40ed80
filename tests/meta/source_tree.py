"""What the meta tests know of the source tree: packages, modules, and which imports stand in them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("abi", "wasm_host", "spark_udf", "guest_examples")


@dataclass(frozen=True)
class Import:
    """One imported module, with where it stands."""

    file: str
    line: int
    module: str
    is_lazy: bool
    is_for_types: bool

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def module_files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_in(path: Path) -> Iterator[Import]:
    """Every import of a file; lazy ones stand inside a function, those for types under `if TYPE_CHECKING`."""
    yield from _walk(ast.parse(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT)), False, False)


def _walk(node: ast.AST, file: str, is_lazy: bool, is_for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        lazy = is_lazy or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for_types = is_for_types or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(file, child.lineno, alias.name, lazy, for_types)
        elif isinstance(child, ast.ImportFrom):
            yield Import(file, child.lineno, "." * child.level + (child.module or ""), lazy, for_types)
        elif isinstance(child, ast.Call) and (name := _named_module(child)):
            yield Import(file, child.lineno, name, lazy, for_types)
        yield from _walk(child, file, lazy, for_types)


def _named_module(call: ast.Call) -> str | None:
    """The module of `importlib.import_module("name")` and `__import__("name")`: a string is no way around the rules."""
    if not ast.unparse(call.func).endswith(("import_module", "__import__")) or not call.args:
        return None
    return call.args[0].value if isinstance(call.args[0], ast.Constant) else None
