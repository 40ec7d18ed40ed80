"""A transform's own project: what `wasm-host new` writes and `wasm-host build` reads."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from wasm_host.cli.misuse import refuse

PROJECT_FILE = "wasm-host.toml"


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        name: As people write it on the command line.
        title: As people write it in a sentence.
        code: The toolchain's and SDK's name in `guest_examples`.
        sdk: Folder of the SDK in `guest_examples/sdk`.
        source: The file to compile, in the project.
        needs_wasi: Whether its modules need the WASI stub.
    """

    name: str
    title: str
    code: str
    sdk: str
    source: str
    needs_wasi: bool = False


LANGUAGES = {
    language.name: language
    for language in (
        Language("zig", "Zig", "zig", "zig", "src/transform.zig"),
        Language("c", "C", "c", "c", "src/transform.c"),
        Language("rust", "Rust", "rust", "rust", "src/transform.rs"),
        Language("assemblyscript", "AssemblyScript", "as", "assemblyscript", "src/transform.ts"),
        Language("go", "Go", "go", "go", "src/main.go", needs_wasi=True),
    )
}


@dataclass(frozen=True, slots=True)
class Project:
    """What the project file says, with its folder."""

    folder: Path
    name: str
    language: Language

    @property
    def module(self) -> Path:
        """Where the built module goes."""
        return self.folder / f"{self.name}.wasm"

    @property
    def source(self) -> Path:
        """What is compiled."""
        return self.folder / self.language.source


def read_project(folder: Path) -> Project:
    """Read the project of a folder.

    Raises:
        click.UsageError: there is none, or it is malformed.
    """
    file = folder / PROJECT_FILE
    if not file.is_file():
        refuse(f"no {PROJECT_FILE} in {folder.resolve()}", "make a project with wasm-host new NAME --lang zig")
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        refuse(f"{file} cannot be read: {str(error)[:200]}", "correct it")
    language = LANGUAGES.get(str(values.get("language")))
    if language is None:
        refuse(f"{file}: language is {values.get('language')!r}", f"allowed are {', '.join(LANGUAGES)}")
    name = values.get("name")
    if not isinstance(name, str) or not name:
        refuse(f"{file}: name is {name!r}", "write the module's name without .wasm")
    return Project(folder, name, language)
