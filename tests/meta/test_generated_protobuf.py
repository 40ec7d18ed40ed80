"""The committed protobuf code is what the compiler makes of the committed `.proto` files."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.source_tree import ROOT

PROTO_FILES = sorted(path.relative_to(ROOT) for path in (ROOT / "abi").rglob("*.proto"))


def test_each_generated_module_has_its_source() -> None:
    generated = {path.relative_to(ROOT) for path in (ROOT / "abi").rglob("*_pb2.py")}
    assert generated == {path.with_name(f"{path.stem}_pb2.py") for path in PROTO_FILES}


@pytest.mark.parametrize("proto", PROTO_FILES, ids=str)
def test_generated_code_is_fresh(proto: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    subprocess.run([*command, str(proto)], cwd=ROOT, check=True, timeout=60)
    for suffix in (".py", ".pyi"):
        name = proto.with_name(f"{proto.stem}_pb2{suffix}")
        assert (ROOT / name).read_text() == (tmp_path / name).read_text(), "run `make proto`"
