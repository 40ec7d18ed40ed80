"""Golden cases: what a mismatch shows, how expectations are rewritten, and how a found event is shown again."""

import base64
import json
from pathlib import Path

import pytest

import guest_examples
from abi import Event, Operation, formats
from tests.cli.command import wasm_host
from tests.hostile.wat_guest import build, on_poison
from wasm_host.harness.corpus import sized_event
from wasm_host.harness.difference import differences, show_event
from wasm_host.harness.event_rules import lost_key, lost_unknown_fields
from wasm_host.harness.shrink import shrink_event

MASK = guest_examples.path("mask_pii")
CASE = {
    "description": "masks",
    "config": {"rules": [{"path": "email", "action": "redact"}]},
    "events": [
        {
            "input": {"op": "INSERT", "table": "users", "after": '{"id": 1, "email": "a@b.c"}'},
            "expect": {"events": [{"op": "INSERT", "table": "users", "after": '{"id": 2, "email": "***"}'}]},
        },
        {"input": {"op": "INSERT", "table": "users", "after": "{"}, "expect": {"dropped": True}},
    ],
}


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps(CASE))
    return folder


def test_mismatch_shows_the_field_and_both_values(cases: Path) -> None:
    result = wasm_host("test", MASK, "--cases", cases, "--no-save", "--examples", "10")
    assert result.status == 1
    assert "✗ cases" in result.out
    assert "events[0] gave 1 event; expected 1 event" in result.out
    lines = [line.strip() for line in result.out.splitlines()]
    at = lines.index("after.id")
    assert lines[at + 1 : at + 3] == ["expected  2", "seen      1"]
    assert 'events[1] gave failure GUEST_FAILURE: "after is not valid JSON at byte 1"; expected dropped' in result.out


def test_update_rewrites_what_does_not_hold_and_then_it_holds(cases: Path) -> None:
    assert wasm_host("test", MASK, "--cases", cases, "--update", "--no-save", "--examples", "10").status == 0
    document = json.loads((cases / "one.json").read_text())
    assert document["events"][0]["expect"]["events"][0]["after"] == '{"id": 1, "email": "***"}'
    assert document["events"][1]["expect"] == {"failure": "after is not valid JSON at byte 1"}
    assert document["config"] == CASE["config"]
    result = wasm_host("test", MASK, "--cases", cases, "--no-save", "--examples", "10", "--json")
    assert next(part for part in json.loads(result.out)["sections"] if part["name"] == "cases")["status"] == "pass"


def test_cases_beside_the_module_are_found_by_themselves(tmp_path: Path, cases: Path) -> None:
    module = tmp_path / "mask.wasm"
    module.write_bytes(MASK.read_bytes())
    assert "✗ cases" in wasm_host("test", module, "--no-save", "--examples", "10").out


def test_input_in_another_format_is_converted(tmp_path: Path) -> None:
    event = Event(op=Operation.INSERT, table="users", after=b'{"id": 1, "email": "a@b.c"}', source={"source_name": "x"})
    text = formats.get("json").encode(event).decode()
    case = {
        "description": "rustcdc JSON",
        "config": {"rules": [{"path": "email", "action": "redact"}]},
        "events": [{"input": {"format": "json", "text": text}, "expect": {"answered": True}}],
    }
    (tmp_path / "one.json").write_text(json.dumps(case))
    result = wasm_host("test", MASK, "--cases", tmp_path, "--no-save", "--examples", "10", "--json")
    section = next(part for part in json.loads(result.out)["sections"] if part["name"] == "cases")
    assert (section["status"], section["checks"][0]["count"]) == ("pass", 1)


def test_found_event_is_kept_and_fails_again_as_a_case(tmp_path: Path) -> None:
    module = tmp_path / "m.wasm"
    module.write_bytes(build(transform=on_poison("(unreachable)")))
    report = json.loads(wasm_host("test", module, "--json").out)
    finding = next(check["finding"] for part in report["sections"] for check in part["checks"] if "finding" in check)
    assert len(base64.b64decode(finding["event_base64"])) == 777
    assert Path(finding["saved_as"]).parent == tmp_path / "found-cases"
    again = wasm_host("test", module, "--no-save", "--json", "--cases", finding["saved_as"], "--examples", "10")
    cases = next(part for part in json.loads(again.out)["sections"] if part["name"] == "cases")
    assert cases["status"] == "fail"
    assert "gave failure TRAP_UNREACHABLE" in cases["checks"][0]["detail"]


def test_shrinking_keeps_only_what_the_failure_needs() -> None:
    event = Event(op=Operation.UPDATE, table="users", schema="public", ts=5, primary_key=["id"], attributes={"k": b"v"})
    event.before = b'{"id": 1, "x": [1, 2, 3]}'
    event.after = b'{"id": 1, "note": "a rather long text with a needle in it", "tags": ["a", "b"]}'
    smallest = shrink_event(event.SerializeToString(), lambda data: b"needle" in data)
    assert Event.FromString(smallest).after in (b'{"note":"needle"}', b'"needle"', b"needle")
    assert len(smallest) < 22


def test_differences_name_nested_members_missing_and_added_fields() -> None:
    one = Event(table="t", after=b'{"a": {"b": 1}, "c": 1.50}', primary_key=["id"]).SerializeToString()
    other = Event(table="u", after=b'{"a": {"b": 2}, "c": 1.50, "d": null}').SerializeToString()
    found = [(item.path, item.expected, item.seen) for item in differences(one, other)]
    assert found == [
        ("after.a.b", "1", "2"), ("after.d", None, "null"), ("table", '"t"', '"u"'), ("primary_key", '["id"]', None),
    ]  # fmt: skip
    assert show_event(b"\xff").startswith("not an event")


def test_rules_between_event_and_output() -> None:
    event = Event(op=Operation.INSERT, table="t", primary_key=["id"], after=b'{"id":1}')
    without_key = Event(op=Operation.INSERT, table="t", primary_key=["id"], after=b'{"x":1}').SerializeToString()
    data = event.SerializeToString()
    assert lost_key(data, without_key) == "column 'id' of the primary key is no longer in the row"
    assert lost_key(data, data) is None
    assert (
        lost_unknown_fields(data + b"\x80\x7d\x05", data)
        == "unknown field 2000 of the event is not in the output as it was"
    )
    assert lost_unknown_fields(data + b"\x80\x7d\x05", data + b"\x80\x7d\x05") is None


@pytest.mark.parametrize("size", [40, 127, 128, 129, 777, 1599])
def test_sized_events_have_exactly_that_size(size: int) -> None:
    assert len(sized_event(size)) == size
