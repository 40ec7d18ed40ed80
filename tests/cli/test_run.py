"""`wasm-host run`: every container and format, failed events, atomic output, interruption, constant memory."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guest_examples
from abi import Event, Operation, formats
from tests.cli.command import console_script, wasm_host
from tests.hostile.wat_guest import POISON_BYTES, build, on_poison
from wasm_host.cli.streams.framing import Framing
from wasm_host.harness.corpus import sized_event

MASK = str(guest_examples.path("mask_pii"))
PASS = str(guest_examples.path("pass_through"))


def event(number: int, email: str = "ada@example.com") -> Event:
    row = json.dumps({"id": number, "email": email}).encode()
    return Event(
        op=Operation.INSERT, table="users", schema="public", primary_key=["id"], after=row, ts=number,
        envelope_version=1, source={"source_name": "pg", "offset": f"0/{number}", "timestamp": number},
    )  # fmt: skip


EVENTS = [event(number) for number in range(25)]


def delimited(messages: list[bytes]) -> bytes:
    return Framing().join(pa.array(messages, pa.binary()))


def read_delimited(path: Path) -> list[bytes]:
    arrays, used, _ = Framing().split(path.read_bytes())
    assert used == path.stat().st_size
    return [message for array in arrays for message in array.to_pylist()]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mask.toml"
    path.write_text('rules = [{path = "email", action = "redact"}]')
    return path


def masked(number: int) -> bytes:
    return b'{"id": %d, "email": "***"}' % number


def write_input(folder: Path, container: str, name: str) -> Path:
    documents = [formats.get(name).encode(item) for item in EVENTS]
    if container == "ndjson":
        path = folder / "in.ndjson"
        path.write_bytes(b"\n\n".join(documents) + b"\n")
    elif container == "parquet":
        path = folder / "in.parquet"
        pq.write_table(pa.table({"tenant": ["a"] * 25, "event": pa.array(documents, pa.binary())}), path)
    else:
        path = folder / "in.pb"
        path.write_bytes(delimited(documents))
    return path


@pytest.mark.parametrize(
    ("container", "name"),
    [
        ("delimited", "protobuf"),
        ("ndjson", "json"),
        ("ndjson", "debezium"),
        ("ndjson", "opencdc"),
        ("parquet", "protobuf"),
        ("parquet", "json"),
    ],
)
@pytest.mark.parametrize("target", ["out.pb", "out.ndjson", "out.avro", "out.parquet"])
def test_every_container_to_every_container(
    container: str, name: str, target: str, tmp_path: Path, config: Path
) -> None:
    source = write_input(tmp_path, container, name)
    result = wasm_host("run", MASK, "--config", config, "-i", source, "-o", tmp_path / target)
    assert result.status == 0, result.err
    assert "25 in, 25 out, 0 dropped, 0 failed" in result.err
    # And back through the reader: what was written can be read again.
    again = tmp_path / "again.pb"
    assert wasm_host("run", PASS, "-i", tmp_path / target, "-o", again, "--output-format", "protobuf").status == 0
    images = [Event.FromString(message).after for message in read_delimited(again)]
    assert [json.loads(image) for image in images] == [json.loads(masked(number)) for number in range(25)]


def test_parquet_keeps_other_columns_and_tombstones(tmp_path: Path, config: Path) -> None:
    rows: list[bytes | None] = [item.SerializeToString() for item in EVENTS[:3]]
    rows[1] = None
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pa.table(
        {"n": pa.array([1, None, 3], pa.int64()), "event": pa.array(rows, pa.binary()), "t": ["x", "y", "z"]}
    )
    pq.write_table(table, source)
    assert wasm_host("run", MASK, "--config", config, "-i", source, "-o", target).status == 0
    out = pq.read_table(target)
    assert out.column_names == ["n", "event", "t"]
    assert (out["n"].to_pylist(), out["t"].to_pylist()) == ([1, None, 3], ["x", "y", "z"])
    assert out["event"][1].as_py() is None
    assert Event.FromString(out["event"][2].as_py()).after == masked(2)


def test_pipes(tmp_path: Path, config: Path) -> None:
    data = delimited([item.SerializeToString() for item in EVENTS])
    command = [
        *console_script(),
        "run",
        MASK,
        "--config",
        str(config),
        "-i",
        "-",
        "-o",
        "-",
        "--format",
        "protobuf",
        "-q",
    ]
    done = subprocess.run(command, input=data, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    arrays, _, _ = Framing().split(done.stdout)
    assert [Event.FromString(message).after for message in arrays[0].to_pylist()] == [masked(n) for n in range(25)]


def poisoned(folder: Path) -> tuple[Path, Path]:
    """A module that traps at one event, and a stream with it in the middle."""
    module, source = folder / "m.wasm", folder / "in.pb"
    module.write_bytes(build(transform=on_poison("(unreachable)")))
    messages = [item.SerializeToString() for item in EVENTS]
    messages[10] = sized_event(POISON_BYTES)
    source.write_bytes(delimited(messages))
    return module, source


def test_failed_event_stops_the_run_and_nothing_is_written(tmp_path: Path) -> None:
    module, source = poisoned(tmp_path)
    result = wasm_host("run", module, "-i", source, "-o", tmp_path / "out.pb")
    assert result.status == 1
    assert result.err.count("\n") == 1
    assert result.err.startswith("wasm-host: [RUN_STOPPED] event 10 failed: [TRAP_UNREACHABLE]")
    assert result.err.count("\n") == 1
    assert "--dead-letters" in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.pb", "m.wasm"]


@pytest.mark.parametrize("letter_format", ["ndjson", "opencdc"])
def test_dead_letters_keep_the_failed_event(letter_format: str, tmp_path: Path) -> None:
    module, source = poisoned(tmp_path)
    letters = tmp_path / "dead.ndjson"
    result = wasm_host(
        "run", module, "-i", source, "-o", tmp_path / "out.pb", "--dead-letters", letters, "--dead-letter-format",
        letter_format,
    )  # fmt: skip
    assert result.status == 0
    assert "25 in, 24 out, 0 dropped, 1 failed" in result.err
    (line,) = letters.read_bytes().splitlines()
    record = json.loads(line)
    if letter_format == "ndjson":
        assert (record["row"], record["code"]) == (10, "TRAP_UNREACHABLE")
        assert len(base64.b64decode(record["document_base64"])) == 777
    else:
        assert "TRAP_UNREACHABLE" in record["metadata"]["conduit.dlq.nack.error"]
    assert len(read_delimited(tmp_path / "out.pb")) == 24


def test_documents_that_cannot_be_read_become_dead_letters(tmp_path: Path, config: Path) -> None:
    source = tmp_path / "in.ndjson"
    documents = [formats.get("json").encode(item) for item in EVENTS[:3]]
    source.write_bytes(b"\n".join([documents[0], b"{broken", documents[2]]) + b"\n")
    result = wasm_host(
        "run",
        MASK,
        "--config",
        config,
        "-i",
        source,
        "-o",
        tmp_path / "o.ndjson",
        "--dead-letters",
        tmp_path / "d.ndjson",
    )
    assert result.status == 0, result.err
    assert "3 in, 2 out, 0 dropped, 1 failed" in result.err
    record = json.loads((tmp_path / "d.ndjson").read_bytes())
    assert (record["row"], record["code"], base64.b64decode(record["document_base64"])) == (
        1,
        "DECODE_ERROR",
        b"{broken",
    )
    rows = [json.loads(line)["after"]["id"] for line in (tmp_path / "o.ndjson").read_bytes().splitlines()]
    assert rows == [0, 2]


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_no_output_and_keeps_the_old_one(number: signal.Signals, tmp_path: Path) -> None:
    fifo, target = tmp_path / "in.fifo", tmp_path / "out.pb"
    os.mkfifo(fifo)
    target.write_bytes(b"what was there before")
    command = [*console_script(), "run", PASS, "-i", str(fifo), "-o", str(target), "--container", "delimited"]
    # A test that runs in the background has inherited that Ctrl-C is ignored.
    process = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=_heed_interrupts)
    data = delimited([item.SerializeToString() for item in EVENTS]) * 4000
    with fifo.open("wb") as pipe:
        # Enough for several chunks; then the reader waits for more, in the middle of its run.
        pipe.write(data[: 6 << 20])
        pipe.flush()
        deadline = time.monotonic() + 30
        while not any(path.name.endswith(".partial") and path.stat().st_size for path in tmp_path.iterdir()):
            assert time.monotonic() < deadline, "the run never began to write"
            time.sleep(0.02)
        time.sleep(0.3)  # now it waits for more
        process.send_signal(number)
        try:
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.strip() == b"wasm-host: interrupted"
    assert target.read_bytes() == b"what was there before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.fifo", "out.pb"]


def peak_kilobytes(arguments: list[str]) -> int:
    code = (
        "import re, sys; from pathlib import Path; from wasm_host.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as e: assert not e.code, e.code\n"
        # Not ru_maxrss: that one begins with what the parent had.
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    block = delimited([item.SerializeToString() for item in EVENTS]) * 4000  # about 8 MB
    peaks = []
    for factor in (4, 16):
        source = tmp_path / f"{factor}.pb"
        source.write_bytes(block * factor)
        peaks.append(peak_kilobytes(["run", PASS, "-i", str(source), "-o", str(tmp_path / "out.pb"), "-q"]))
    assert (tmp_path / "out.pb").stat().st_size == (tmp_path / "16.pb").stat().st_size
    assert peaks[1] < peaks[0] + 30_000, peaks


@settings(deadline=None)
@given(messages=st.lists(st.binary(max_size=300), max_size=60), cut=st.integers(0, 1 << 16))
def test_framing_splits_what_it_joined_wherever_a_chunk_ends(messages: list[bytes], cut: int) -> None:
    framing = Framing()
    stream = delimited(messages)
    at = cut % (len(stream) + 1)
    first, used, needs = framing.split(stream[:at])
    second, rest, _ = framing.split(stream[used:])
    found = [message for array in (*first, *second) for message in array.to_pylist()]
    assert found == messages
    assert used + rest == len(stream)
    assert needs == 0 or needs > at - used


def test_framing_takes_more_messages_than_one_pass_holds() -> None:
    messages = [b""] * 300_000
    framing = Framing()
    arrays, used, _ = framing.split(bytes(300_000))
    assert sum(map(len, arrays)) == used == 300_000
    assert framing.join(pa.array(messages, pa.binary())) == bytes(300_000)
