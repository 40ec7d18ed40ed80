"""The C, Rust and Zig SDKs where no example leads: fields set, removed and inserted, and each of the four answers.

A probe guest in each language edits an event as its configuration says; a plain model of `sdk/SEMANTICS.md` section 1
says what must come out.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import wasm_host
from abi import Event
from guest_examples.toolchains import EXAMPLES, find_toolchains

pytestmark = pytest.mark.toolchain

SOURCES = Path(__file__).parent / "sdk_probe"
EXTENSIONS = {"c": "c", "rust": "rs", "zig": "zig"}
NUMBERS = (3, 5, 11, 12)
PRESENT_WHEN_EMPTY = (1, 2, 6)
KNOWN = {**dict.fromkeys((*range(1, 15), 1000), 2), **dict.fromkeys(NUMBERS, 0)}


def built(language: str, source: Path, target: Path) -> bytes:
    toolchain = find_toolchains()[language]
    reason = toolchain.missing()
    if reason is not None:
        pytest.skip(reason)
    toolchain.compile(source, target)
    return target.read_bytes()


@pytest.fixture(scope="module", params=sorted(EXTENSIONS))
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The built probe of one language."""
    language = request.param
    return built(language, SOURCES / f"probe.{EXTENSIONS[language]}", tmp_path_factory.mktemp("probe") / "probe.wasm")


@dataclass(frozen=True)
class Field:
    number: int
    wire: int
    encoded: bytes

    @property
    def is_known(self) -> bool:
        return KNOWN.get(self.number) == self.wire


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def bytes_field(number: int, body: bytes) -> Field:
    return Field(number, 2, varint(number << 3 | 2) + varint(len(body)) + body)


def number_field(number: int, value: int) -> Field:
    return Field(number, 0, varint(number << 3) + varint(value))


def replacement(edit: dict[str, Any]) -> bytes:
    number = edit["field"]
    if edit.get("bytes") is not None and (edit["bytes"] or number in PRESENT_WHEN_EMPTY):
        return bytes_field(number, edit["bytes"]).encoded
    return number_field(number, edit["number"]).encoded if edit.get("number") else b""


def changed(fields: list[Field], edits: list[dict[str, Any]]) -> bytes:
    """What the SDKs promise. Places are those of the event as it came, whatever the other edits do."""
    known = [place for place, field in enumerate(fields) if field.is_known]
    written = [field.encoded for field in fields]
    inserted = [b""] * (len(fields) + 1)
    for number in (1, 2):  # of an image that occurs more than once only the last occurrence goes on
        for place in [place for place in known if fields[place].number == number][:-1]:
            written[place] = b""
    for edit in sorted(edits, key=lambda edit: edit["field"]):
        places = [place for place in known if fields[place].number == edit["field"]]
        higher = [place for place in known if fields[place].number > edit["field"]]
        for place in places:
            written[place] = replacement(edit) if place == places[-1] else b""
        if not places:
            inserted[higher[0] if higher else known[-1] + 1 if known else 0] += replacement(edit)
    pairs = zip(inserted, [*written, b""], strict=True)
    return b"".join(new + old for new, old in pairs)


def random_fields(rng: random.Random) -> list[Field]:
    """Known fields, some of them twice, mostly in order, and unknown ones between them."""
    fields = []
    for number in rng.sample(range(1, 15), rng.randrange(8)):
        for _ in range(rng.choice((1, 1, 1, 2))):
            if KNOWN[number] == 0:
                fields.append(number_field(number, rng.choice((0, 1, 300))))
            elif number not in (4, 9, 10):
                fields.append(bytes_field(number, rng.choice((b"", b"a", b"x" * 200))))
    if rng.random() < 0.7:
        fields.sort(key=lambda field: field.number)
    fields += [bytes_field(1000, b"\x0a\x01k\x12\x01v")] * rng.randrange(2)
    unknown = (bytes_field(15, b"new"), number_field(1, 7), number_field(99, 1), bytes_field(3, b"no op"))
    for _ in range(rng.randrange(1, 4)):
        fields.insert(rng.randrange(len(fields) + 1), rng.choice(unknown))
    return fields


def random_edits(rng: random.Random) -> list[dict[str, Any]]:
    edits: list[dict[str, Any]] = []
    for number in rng.sample((1, 2, 3, 5, 6, 7, 11, 12), rng.randrange(1, 5)):
        edit: dict[str, Any] = {"field": number}
        if rng.random() < 0.8:
            if KNOWN[number] == 0:
                edit["number"] = rng.choice((0, 1, 2**32 - 1))
            else:
                edit["bytes"] = rng.choice((b"", b"new", b"y" * 300))
        edits.append(edit)
    return edits


def test_edits_keep_every_other_byte(probe: bytes) -> None:
    rng = random.Random(3)
    seen = 0
    for _ in range(60):
        edits = random_edits(rng)
        events = [random_fields(rng) for _ in range(20)]
        with wasm_host.load(probe, config={"answer": "both", "edits": edits}) as guest:
            result = guest.transform([b"".join(field.encoded for field in event) for event in events])
        assert result.failures == []
        outputs = result.events.to_pylist()
        for row, event in enumerate(events):
            assert outputs[2 * row] == b"".join(field.encoded for field in event)
            assert outputs[2 * row + 1] == changed(event, edits), (event, edits)
            seen += 1
    assert seen == 1200


def test_one_edited_event_is_handed_over_and_an_unedited_one_handed_back(probe: bytes) -> None:
    event = Event(op=1, table="users", after=b"{}").SerializeToString()
    edited = Event(op=2, table="users", after=b"{}").SerializeToString()
    with wasm_host.load(probe, config={"answer": "event", "edits": [{"field": 3, "number": 2}]}) as guest:
        assert guest.transform([event, event]).events.to_pylist() == [edited, edited]


def test_dropped_event_leaves_nothing_behind(probe: bytes) -> None:
    with wasm_host.load(probe, config={"answer": "drop", "edits": [{"field": 3}]}) as guest:
        result = guest.transform([Event(table="t").SerializeToString()] * 3)
    assert (result.stats.events_dropped, result.stats.events_out, result.failures) == (3, 0, [])


def test_failed_event_carries_the_guests_words(probe: bytes) -> None:
    with wasm_host.load(probe, config={"answer": "fail", "edits": [{"field": 3}]}) as guest:
        result = guest.transform([Event(table="t").SerializeToString()])
    assert [(failure.code, failure.guest_text) for failure in result.failures] == [("GUEST_FAILURE", "as asked")]


def test_log_and_metrics_reach_the_host(probe: bytes) -> None:
    with wasm_host.load(probe, config={"answer": "drop", "edits": [{"field": 3}]}) as guest:
        result = guest.transform([Event(table="t").SerializeToString()] * 5)
    assert [(line.level, line.text) for line in result.logs] == [("warn", "seen")] * 5
    # Two, and then what was recorded so far for this event, which is two again: events do not see each other.
    assert result.metrics == {"probe.events": 20}


def test_scalar_fields_are_read_as_protobuf_reads_them(probe: bytes) -> None:
    event = Event(op=6, ts=2**64 - 1, envelope_version=1, before_is_key_only=True, table="users")
    absent = event.SerializeToString()
    event.schema = ""
    event.attributes["k"] = b""
    empty = event.SerializeToString()
    event.schema = "public"
    event.attributes["k"] = b"v"
    given = event.SerializeToString()
    # Of several occurrences the last one counts; a known number with another wire type is not the field.
    twice = given + Event(op=3, schema="s", attributes={"k": b"w"}).SerializeToString() + b"\x1a\x01x\x28\x00"
    with wasm_host.load(probe, config={"answer": "fields", "edits": [{"field": 3}]}) as guest:
        texts = [failure.guest_text for failure in guest.transform([absent, empty, given, twice]).failures]
    assert texts == [
        "6 18446744073709551615 1 1 - users -",
        "6 18446744073709551615 1 1  users ",
        "6 18446744073709551615 1 1 public users v",
        "3 0 1 1 s users w",
    ]


@pytest.mark.parametrize("language", sorted(EXTENSIONS))
def test_example_of_the_readme_works(language: str, tmp_path: Path) -> None:
    text = (EXAMPLES / "sdk" / language / "README.md").read_text()
    source = tmp_path / f"guest.{EXTENSIONS[language]}"
    source.write_text(text.split(f"```{language}\n")[1].split("```")[0])
    module = built(language, source, tmp_path / "guest.wasm")
    events = [Event(table=table).SerializeToString() for table in ("users", "orders")]
    with wasm_host.load(module, config={"tables": ["users"]}) as guest:
        assert guest.transform(events).rows.to_pylist() == [0]
    with pytest.raises(wasm_host.InitError, match="configuration: unknown key table"):
        wasm_host.load(module, config={"table": "users"})
