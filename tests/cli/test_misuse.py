"""Bad usage: one line on the standard error that says what to do, exit status 2, no traceback."""

import contextlib
import os
import pty
import subprocess
from pathlib import Path

import click
import pytest

import guest_examples
from tests.cli.command import console_script, wasm_host
from wasm_host.cli import main

GOOD = str(guest_examples.path("pass_through"))
FILES = {
    "empty.wasm": b"",
    "component.wasm": b"\0asm\x0d\0\x01\0" + bytes(20),
    "text.wasm": b"(module)",
    "prose.wasm": b"this is not a module",
    "bad.toml": b"table = = 1",
    "bad.json": b"{",
    "list.json": b"[1]",
    "config.yaml": b"a: 1",
    "limits.toml": b"fuel = 1",
    "low.toml": b"fuel_per_event = 1",
    "events.ndjson": b'{"op":"insert","table":"t","source":{"source_name":"s","offset":"1","timestamp":1},"ts":1}\n',
    "what.xyz": b"",
    "cut.pb": b"\x0a\x01",
    "huge.pb": b"\xff\xff\xff\xff\x07" + bytes(100),
    "varint.pb": b"\xff" * 12,
    "raising_twin.py": b"raise RuntimeError('at import')",
    "torn_twin.py": b"def build(",
    "failing_twin.py": b"def build(config):\n    raise RuntimeError('no such key')",
    "not.parquet": b"PAR0",
    "not.avro": b"Obj0",
}
USES: dict[str, tuple[list[str], str]] = {
    "missing_file": (["test", "no.wasm"], "no file"),
    "directory": (["test", "."], "is a directory"),
    "empty": (["test", "empty.wasm"], "is empty"),
    "component": (["test", "component.wasm"], "is a component"),
    "text": (["test", "text.wasm"], "assemble it first"),
    "prose": (["inspect", "prose.wasm"], "not WebAssembly"),
    "missing_config": (["test", GOOD, "--config", "no.toml"], "cannot read no.toml"),
    "bad_toml": (["test", GOOD, "--config", "bad.toml"], "is no TOML"),
    "bad_json": (["run", GOOD, "--config", "bad.json", "-i", "events.ndjson", "-o", "o.ndjson"], "is no JSON"),
    "config_not_a_map": (["test", GOOD, "--config", "list.json"], "must be a map"),
    "config_of_unknown_kind": (["test", GOOD, "--config", "config.yaml"], "cannot tell its kind"),
    "unknown_limit": (["test", GOOD, "--limits", "limits.toml"], "unknown limit 'fuel'"),
    "limit_out_of_range": (["test", GOOD, "--limits", "low.toml"], "allowed is a whole number"),
    "missing_cases": (["test", GOOD, "--cases", "nowhere"], "no folder or file"),
    "unknown_twin": (["test", GOOD, "--against", "no.such:thing", "--examples", "10"], "cannot import the twin"),
    "twin_with_an_error": (["test", GOOD, "--against", "raising_twin:build"], "RuntimeError: at import"),
    "twin_that_cannot_be_parsed": (["bench", GOOD, "--against", "torn_twin:build"], "SyntaxError"),
    "twin_that_fails_to_build": (["bench", GOOD, "--against", "failing_twin"], "RuntimeError: no such key"),
    "unknown_option": (["test", GOOD, "--wat"], "No such option"),
    "unknown_command": (["tset", GOOD], "No such command"),
    "html_nowhere": (["test", GOOD, "--html", "no/where.html", "--no-save", "--examples", "10"], "cannot write"),
    "no_project": (["build"], "no wasm-host.toml"),
    "test_without_module": (["test"], "wasm-host new"),
    "new_bad_name": (["new", "Bad Name", "--lang", "zig"], "no name for a module"),
    "new_existing": (["new", "taken", "--lang", "zig"], "exists"),
    "unknown_format": (["run", GOOD, "-i", "events.ndjson", "-o", "o.ndjson", "--format", "xml"], "no format 'xml'"),
    "missing_input": (["run", GOOD, "-i", "no.pb", "-o", "o.pb"], "cannot read no.pb"),
    "unknown_container": (["run", GOOD, "-i", "what.xyz", "-o", "o.pb"], "--container"),
    "format_does_not_fit": (
        ["run", GOOD, "-i", "events.ndjson", "-o", "o.pb", "--output-format", "cdc"], "do not go into"),
    "same_file": (["run", GOOD, "-i", "cut.pb", "-o", "cut.pb"], "different files"),
    "output_folder_missing": (["run", GOOD, "-i", "events.ndjson", "-o", "no/o.ndjson"], "cannot write"),
    "cut_stream": (["run", GOOD, "-i", "cut.pb", "-o", "o.pb"], "ends in the middle"),
    "huge_frame": (["run", GOOD, "-i", "huge.pb", "-o", "o.pb"], "max_memory_bytes"),
    "no_frames": (["run", GOOD, "-i", "varint.pb", "-o", "o.pb"], "length-delimited"),
    "not_parquet": (["run", GOOD, "-i", "not.parquet", "-o", "o.pb"], "no Parquet file"),
    "not_avro": (["run", GOOD, "-i", "not.avro", "-o", "o.pb"], "no Avro file"),
    "config_without_init": (["run", GOOD, "--config", "ok.toml", "-i", "events.ndjson", "-o", "o.ndjson"], "no init"),
    "bench_unknown_format": (["bench", GOOD, "--input", "events.ndjson", "--format", "xml"], "no format 'xml'"),
    "bench_format_does_not_fit": (["bench", GOOD, "--input", "events.ndjson", "--format", "avro"], "do not go into"),
    "bench_format_without_input": (["bench", GOOD, "--format", "cdc"], "--input FILE"),
    "bench_missing_input": (["bench", GOOD, "--input", "no.pb"], "cannot read no.pb"),
    "bench_bad_container": (["bench", GOOD, "--input", "what.xyz"], "--container"),
    "spark_no_input": (["spark", "--output", "b", "--tenants", "ok.toml"], "Missing option '--input'"),
    "spark_missing_tenants": (["spark", "--input", ".", "--output", "b", "--tenants", "no.toml"], "no file no.toml"),
    "spark_missing_path": (["spark", "--input", "no", "--output", "b", "--tenants", "ok.toml"], "no folder or file"),
    "spark_existing_path": (["spark", "--input", ".", "--output", "taken", "--tenants", "ok.toml"], "--mode"),
    "spark_same_places": (
        ["spark", "--input", "table:a.b", "--output", "table:a.b", "--mode", "append", "--tenants", "ok.toml"],
        "must be different places"),
    "spark_mode_of_a_stream": (
        ["spark", "--input", ".", "--output", "b", "--tenants", "ok.toml", "--stream", "--checkpoint", "c", "--mode",
         "append"], "--mode is for a batch"),
    "plot_as_png": (["bench", GOOD, "--plot", "x.png"], "SVG"),
    "stream_without_checkpoint": (
        ["spark", "--input", "a", "--output", "b", "--tenants", "ok.toml", "--stream"], "--checkpoint"),
    "bad_spark_setting": (
        ["spark", "--input", "a", "--output", "b", "--tenants", "ok.toml", "--conf", "x"], "spark.NAME=VALUE"),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_bad_usage_is_one_line_and_status_2(use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in {**FILES, "ok.toml": b"a = 1"}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "taken").mkdir()
    arguments, says = USES[use]
    result = wasm_host(*arguments)
    assert result.status == 2
    assert result.err.count("\n") == 1, result.err
    assert "Traceback" not in result.err
    assert says in result.err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "o."))] == []


@pytest.mark.parametrize("command", ["test", "inspect", "run", "bench", "sign"])
@pytest.mark.parametrize(
    ("file", "says"),
    [("no.wasm", "no file"), (".", "is a directory"), ("empty.wasm", "is empty"), ("component.wasm", "is a component"),
     ("text.wasm", "assemble it first"), ("prose.wasm", "not WebAssembly")],
)  # fmt: skip
def test_what_is_no_module_is_refused_by_every_command(
    command: str, file: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    more = {"run": ["-i", "events.ndjson", "-o", "o.ndjson"], "sign": ["--key", "k.pem"]}.get(command, [])
    result = wasm_host(command, file, *more)
    assert (result.status, result.err.count("\n"), says in result.err) == (2, 1, True), result.err


def test_help_of_every_command_shows_an_example() -> None:
    commands = main.list_commands(click.Context(main))
    assert {"test", "inspect", "run", "bench", "new", "build", "spark", "demo", "completion"} <= set(commands)
    for name in commands:
        assert "Example" in wasm_host(name, "--help").out, name


def on_a_terminal(*arguments: str, **settings: str) -> bytes:
    """What a command prints on a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update({"TERM": "xterm-256color", **settings})
        os.execv(console_script()[0], [*console_script(), *arguments])
    printed = b""
    with contextlib.suppress(OSError), open(terminal, "rb", buffering=0) as stream:  # the terminal ends with an error
        while piece := stream.read(4096):
            printed += piece
    os.waitpid(child, 0)
    return printed


@pytest.mark.parametrize("command", [["inspect", GOOD], ["bench", GOOD, "--events", "100"]], ids=["inspect", "bench"])
def test_terminal_has_colours_unless_no_color_is_set(command: list[str]) -> None:
    assert b"\x1b[" in on_a_terminal(*command)
    plain = on_a_terminal(*command, NO_COLOR="1")
    assert b"pass_through" in plain
    assert b"\x1b" not in plain


def test_shell_completion_knows_commands_and_options() -> None:
    for words, wanted in (("wasm-host be", "plain,bench"), ("wasm-host run --dead-letter-f", "--dead-letter-format")):
        done = subprocess.run(
            console_script(),
            env={**os.environ, "_WASM_HOST_COMPLETE": "bash_complete", "COMP_WORDS": words,
                 "COMP_CWORD": str(len(words.split()) - 1)},
            capture_output=True, text=True,
        )  # fmt: skip
        assert wanted in done.stdout, done.stderr


def test_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert wasm_host("--version").out == f"wasm-host, version {version('wasm-host')}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_the_command(shell: str) -> None:
    result = wasm_host("completion", shell)
    assert result.status == 0
    assert "_WASM_HOST_COMPLETE" in result.out
