"""`wasm-host new`: a project that builds and passes its test at once."""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from wasm_host.cli.misuse import refuse
from wasm_host.cli.project import LANGUAGES, PROJECT_FILE, Language

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
# A package's data has no files without an ending, and none that begin with a dot.
_RENAMED = {"Makefile.txt": "Makefile", "gitignore.txt": ".gitignore"}
_ROOT_FILES = ("package.json",)


@click.command("new", epilog="Example: wasm-host new only_users --lang zig && cd only_users && make.")
@click.argument("name")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), required=True, help="What to write it in.")
def command(name: str, lang: str) -> None:
    """Make the project NAME: source, SDK, cases, configuration, Makefile."""
    if not _NAME.fullmatch(Path(name).name):
        refuse(f"{name!r} is no name for a module", "use small letters, digits, - and _, beginning with a letter")
    folder = Path(name)
    if folder.exists():
        refuse(f"{folder} exists", "choose another name, or remove it")
    language = LANGUAGES[lang]
    try:
        create_project(folder, language)
    except OSError as error:
        refuse(f"cannot write {folder}: {error.strerror}", "choose another place")
    click.echo(
        f"made {folder}: the transform is in {language.source}; go there and run wasm-host build, wasm-host test"
    )


def create_project(folder: Path, language: Language) -> None:
    """Write all files of a project.

    Raises:
        OSError: the folder exists or cannot be written.
    """
    folder.mkdir(parents=True)
    templates = resources.files("wasm_host").joinpath("templates")
    words = {
        "@NAME@": folder.name,
        "@LANGUAGE@": language.title,
        "@SOURCE@": language.source,
        "@WASI@": " --wasi" if language.needs_wasi else "",
    }
    _copy(templates.joinpath("project"), folder, words)
    for item in templates.joinpath(language.name).iterdir():
        _copy(item, folder / item.name if item.name in _ROOT_FILES else folder / "src" / item.name, words)
    # By name: the sandbox itself does not know the examples.
    _copy(resources.files("guest_examples").joinpath("sdk", language.sdk), folder / "sdk", {})
    (folder / PROJECT_FILE).write_text(f'name = "{folder.name}"\nlanguage = "{language.name}"\n', encoding="utf-8")


def _copy(source: Traversable, target: Path, words: dict[str, str]) -> None:
    if source.is_dir():
        target.mkdir(exist_ok=True)
        for item in source.iterdir():
            if item.name != "__pycache__":
                _copy(item, target / _RENAMED.get(item.name, item.name), words)
        return
    text = source.read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(word, value)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
