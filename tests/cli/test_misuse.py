"""Bad usage: one line on the standard error that says what to do, exit status 2, no traceback."""

from pathlib import Path

import pytest

import guest_examples
from tests.cli.command import wasm_host

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


def test_help_of_every_command_shows_an_example() -> None:
    commands = [
        line.split()[0] for line in wasm_host("--help").out.partition("Commands:")[2].splitlines() if line[:2] == "  "
    ]
    named = [name for name in commands if wasm_host(name, "--help").status == 0]
    assert {"test", "inspect", "run", "bench", "new", "build", "spark", "demo", "completion"} <= set(named)
    for name in ("test", "inspect", "run", "bench", "new", "build", "spark", "demo", "completion"):
        assert "Example" in wasm_host(name, "--help").out, name


def test_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert wasm_host("--version").out == f"wasm-host, version {version('wasm-host')}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_the_command(shell: str) -> None:
    result = wasm_host("completion", shell)
    assert result.status == 0
    assert "_WASM_HOST_COMPLETE" in result.out
