"""The masking proof catches a guest that masks nearly everything, and finds a value in whatever form it hides."""

import base64
import json
from pathlib import Path

import pytest

from tests.cli.broken.make import FAULTS
from tests.cli.command import wasm_host
from wasm_host.harness.leaks import find_leak
from wasm_host.harness.planting import Planter

BROKEN = Path(__file__).resolve().parent / "broken"
CONFIG = {"rules": [{"path": path, "action": "redact"} for path in ("email", "contact.phone", "emails.*")]}
PATHS = ("--must-mask", "email", "--must-mask", "contact.phone", "--must-mask", "emails.*")
FOUND_IN = {
    "image_forgotten": "`before` of an output",
    "operation_forgotten": "`before` of an output",
    "nested_path_missed": "of an output",
    "leaked_in_error": "the text of a failure",
    "logged": "a log line",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_masking_guest_is_caught(fault: str, tmp_path: Path) -> None:
    config = tmp_path / "mask.json"
    config.write_text(json.dumps(CONFIG))
    found = tmp_path / "found"
    result = wasm_host(
        "test", BROKEN / f"{fault}.wasm", "--config", config, *PATHS, "--json", "--examples", "30", "--save", found
    )
    report = json.loads(result.out)
    assert result.status == 1
    checks = [check for section in report["sections"] if section["name"] == "masking" for check in section["checks"]]
    assert [check["status"] for check in checks] == ["fail"]
    check = checks[0]
    assert FOUND_IN[fault] in check["detail"]
    # Small enough to read at a glance, and kept as a case.
    assert len(base64.b64decode(check["finding"]["event_base64"])) < 120
    assert check["finding"]["saved_as"] in [str(path) for path in found.glob("found-masked-*.json")]


@pytest.mark.parametrize(
    ("hay", "form"),
    [
        ('x secr\u00e9t"value 1 y', "as it is"),
        (r"x secr\u00e9t\"value 1 y", "escaped"),
        (r"\u0073\u0065\u0063\u0072\u00E9\u0074\u0022\u0076\u0061\u006c\u0075\u0065\u0020\u0031", "escaped"),
        (base64.b64encode('ab secr\u00e9t"value 1 and more'.encode()).decode(), "base64"),
        (base64.urlsafe_b64encode('a secr\u00e9t"value 1?'.encode()).decode(), "base64"),
        ('secr\u00e9t"value 1'.encode().hex().upper(), "hexadecimal"),
        ("secr%C3%A9t%22value%201", "percent"),
        ("secr%c3%a9t%22value+1", "percent"),
        ('secr\u00e9t"value 1'[::-1], "reversed"),
    ],
)
def test_secret_is_found_in_every_accidental_form(hay: str, form: str) -> None:
    found = find_leak(['secr\u00e9t"value 1'], [("an output", hay.encode())])
    assert found is not None
    assert form in found


def test_hash_or_part_of_a_secret_is_no_leak() -> None:
    assert find_leak(["4929123456789012"], [("an output", b"************9012"), ("a log", b"dead" * 16)]) is None
    assert find_leak(["4929123456789012"], [("an output", b"4.929123456789012e15")]) is not None


def test_planted_events_cover_every_operation_and_both_images() -> None:
    planted = Planter([("email",), ("contact", None, "phone")], 0).make(300)
    from abi import Event, Operation

    events = [Event.FromString(item.event) for item in planted]
    assert {event.op for event in events} == set(Operation.values())
    assert {(event.HasField("before"), event.HasField("after")) for event in events} == {
        (True, False), (False, True), (True, True),
    }  # fmt: skip
    assert all(item.secrets for item in planted)
    assert any(event.attributes for event in events)


def test_must_mask_asks_which_configuration_is_meant(tmp_path: Path) -> None:
    cases = Path(__file__).resolve().parents[2] / "guest_examples" / "mask_pii" / "cases"
    result = wasm_host("test", BROKEN / "logged.wasm", "--cases", cases, "--must-mask", "email", "--no-save")
    assert result.status == 2
    assert result.err.count("\n") == 1
    assert "--config" in result.err
