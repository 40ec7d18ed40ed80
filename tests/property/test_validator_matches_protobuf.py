"""The in-wasm output validator gives the verdict of the protobuf package, on every input we can think of.

`WASM_HOST_VALIDATOR_INPUTS` sets how many random inputs are tried (60,000 by default, millions when the validator or
the protobuf package changes).
"""

import itertools
import os
from collections.abc import Iterable

import pytest
from google.protobuf.message import DecodeError

from abi import Event
from tests.property.validator_module import ValidatorModule
from tests.property.wire_bytes import (
    BYTES,
    DELIMITED,
    END_GROUP,
    MESSAGES,
    NUMBERS,
    START_GROUP,
    STRINGS,
    UTF8_EDGES,
    VARINT,
    WireBytes,
    delimited,
    tag,
    varint,
)

RANDOM_INPUTS = int(os.environ.get("WASM_HOST_VALIDATOR_INPUTS", "60000"))
BATCH_INPUTS = 20_000


@pytest.fixture(scope="module")
def validator() -> ValidatorModule:
    return ValidatorModule()


def protobuf_accepts(data: bytes) -> bool:
    try:
        Event.FromString(data)
    except DecodeError:
        return False
    return True


def assert_same_verdicts(validator: ValidatorModule, inputs: Iterable[bytes]) -> tuple[int, int]:
    """Compare both verdicts on each input; the numbers of accepted and refused ones."""
    accepted = refused = 0
    stream = iter(inputs)
    while batch := list(itertools.islice(stream, BATCH_INPUTS)):
        ours = validator.verdicts(batch)
        theirs = [protobuf_accepts(data) for data in batch]
        wrong = [
            (data.hex(), mine, other) for data, mine, other in zip(batch, ours, theirs, strict=True) if mine != other
        ]
        assert wrong == []
        accepted += sum(theirs)
        refused += len(batch) - sum(theirs)
    return accepted, refused


def test_schema_is_the_one_the_validator_knows() -> None:
    """Whoever adds a field to event.proto is sent to the word of kinds in validator.wat."""
    by_name = {"event": Event.DESCRIPTOR} | {
        name: Event.DESCRIPTOR.fields_by_number[number].message_type for number, name in MESSAGES.items()
    }
    for name, descriptor in by_name.items():
        kinds = {field.number: field.type for field in descriptor.fields}
        assert {n for n, kind in kinds.items() if kind == descriptor.fields[0].TYPE_STRING} == set(STRINGS[name])
        assert {n for n, kind in kinds.items() if kind == descriptor.fields[0].TYPE_BYTES} == set(BYTES[name])
        messages = {n for n, kind in kinds.items() if kind == descriptor.fields[0].TYPE_MESSAGE}
        assert messages == (set(MESSAGES) if name == "event" else set())
        assert set(kinds) == messages | set(STRINGS[name]) | set(BYTES[name]) | set(NUMBERS[name])


def test_verdicts_agree_on_generated_events(validator: ValidatorModule) -> None:
    source = WireBytes(seed=1)
    accepted, refused = assert_same_verdicts(validator, (source.event() for _ in range(RANDOM_INPUTS // 3)))
    assert accepted > refused, "the generator should write mostly valid events"
    assert refused > 0


def test_verdicts_agree_on_mutated_events(validator: ValidatorModule) -> None:
    source = WireBytes(seed=2)
    pool = [source.event() for _ in range(500)]
    choose = source.random.choice
    inputs = (source.mutated(choose(pool), choose(pool)) for _ in range(RANDOM_INPUTS // 2))
    accepted, refused = assert_same_verdicts(validator, inputs)
    assert min(accepted, refused) > RANDOM_INPUTS // 20, "mutants should be neither all good nor all bad"


def test_verdicts_agree_on_random_bytes(validator: ValidatorModule) -> None:
    source = WireBytes(seed=3)
    assert_same_verdicts(
        validator, (source.random.randbytes(source.random.randint(0, 40)) for _ in range(RANDOM_INPUTS // 6))
    )


def test_verdicts_agree_on_every_input_of_two_bytes(validator: ValidatorModule) -> None:
    pairs = map(bytes, itertools.product(range(256), repeat=2))
    assert_same_verdicts(validator, itertools.chain([b""], (bytes([byte]) for byte in range(256)), pairs))


def test_verdicts_agree_on_every_truncation_of_an_event(validator: ValidatorModule) -> None:
    source = WireBytes(seed=4)
    events = [source.event() for _ in range(60)]
    assert_same_verdicts(validator, (event[:length] for event in events for length in range(len(event))))


def test_verdicts_agree_on_text_at_every_boundary_of_utf8(validator: ValidatorModule) -> None:
    texts = (bytes(text) for length in (1, 2, 3) for text in itertools.product(UTF8_EDGES, repeat=length))
    four_bytes = (
        bytes([lead, *rest])
        for lead in (0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xF8, 0xFF)
        for rest in itertools.product(UTF8_EDGES[2:14], repeat=3)
    )
    assert_same_verdicts(validator, (delimited(7, text) for text in itertools.chain(texts, four_bytes)))


@pytest.mark.parametrize("character", ["é".encode(), "€".encode(), "𝄞".encode(), b"\xff", b"\xed\xa0\x80", b"\xe2\x82"])
def test_verdicts_agree_on_text_of_every_length_with_one_odd_character(
    validator: ValidatorModule, character: bytes
) -> None:
    texts = (b"a" * before + character + b"a" * after for before in range(36) for after in range(36))
    inputs = [
        prefix + delimited(7, text) + suffix
        for text in texts
        for prefix in (b"", b"\x0a\x10" + b"\xff" * 16)
        for suffix in (b"", b"\x28\x01")
    ]
    assert_same_verdicts(validator, inputs)


def test_verdicts_agree_on_bad_text_in_every_field(validator: ValidatorModule) -> None:
    """A text that is not UTF-8 is refused in strings only, whatever message the field lies in."""
    bad = (delimited(number, b"\xff") for number in (*range(1, 33), 1000))
    nested = [delimited(outer, field) for outer in (*range(1, 17), 1000, 1001) for field in bad_fields()]
    assert_same_verdicts(validator, [*bad, *nested])


def bad_fields() -> list[bytes]:
    return [delimited(number, b"\xff") for number in (1, 2, 3, 4, 6, 7, 8, 1000)]


def test_verdicts_agree_on_varints_of_every_length(validator: ValidatorModule) -> None:
    inputs = []
    for padding in range(12):
        for value in (0, 1, 0x7F):
            inputs += [b"\x18" + varint(value, padding), b"\x78" + varint(value, padding)]
            inputs += [b"\x12" + varint(value, padding) + b"a" * value, b"\x7a" + varint(value, padding) + b"a" * value]
            inputs += [b"\x22" + varint(2, padding) + b"\x18\x01", b"\x7b\x08" + varint(value, padding) + b"\x7c"]
        inputs += [
            varint(0x18, padding) + b"\x01",
            varint(0x3A, padding) + b"\x01\xff",
            varint(8002, padding) + b"\x00",
        ]
    inputs += [b"\x28" + b"\x80" * length + bytes([last]) for length in range(12) for last in range(0x80)]
    inputs += [b"\xf8\xff\xff\xff" + bytes([last, 1]) for last in range(256)]
    # A varint that its nested message cuts short, with and without bytes of the event behind it.
    inputs += [
        b"\x22" + varint(1 + cut) + b"\x18" + varint(1 << 40) + tail
        for cut in range(7)
        for tail in (b"", b"\x28\x01" * 6)
    ]
    assert_same_verdicts(validator, inputs)


def test_verdicts_agree_on_lengths_that_lie(validator: ValidatorModule) -> None:
    sizes = [*range(20), 127, 128, 255, 2**14, 2**28, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**35, 2**63, 2**64 - 1]
    numbers = (1, 4, 7, 8, 9, 10, 15, 100, 1000)
    bodies = (b"", b"\x18\x01", b"a" * 9, b"\x0a\x05aaaaa", b"\x7b\x7c\x28\x01")
    flat = [tag(n, DELIMITED) + varint(size) + body for n in numbers for size in sizes for body in bodies]
    assert_same_verdicts(
        validator, [*flat, *(delimited(4, data) for data in flat), *(b"\x7b" + data + b"\x7c" for data in flat)]
    )


@pytest.mark.parametrize("inner", [b"", b"\x00\x01", b"\x18\x01", b"\x3a\x01\xff", b"\x1e", b"\x0c", b"\x03\x04"])
@pytest.mark.parametrize("around", ["event", "source", "attribute", "unknown"])
def test_verdicts_agree_on_nesting_around_the_limit(validator: ValidatorModule, inner: bytes, around: str) -> None:
    inputs = []
    for levels in (1, 2, 50, *range(96, 104), 1000, 20_000):
        for number in (4, 15, 1000):
            data = tag(number, START_GROUP) * levels + inner + tag(number, END_GROUP) * levels
            outer = {"event": 0, "source": 4, "attribute": 1000, "unknown": 15}[around]
            inputs.append(delimited(outer, data) if outer else data)
    assert_same_verdicts(validator, inputs)


def test_verdicts_agree_on_groups_that_do_not_balance(validator: ValidatorModule) -> None:
    pieces = (b"\x23", b"\x24", b"\x7b", b"\x7c", b"\x18\x01", b"\xfb\x00", b"\x03", b"\x04")
    inputs = [b"".join(chosen) for length in range(1, 6) for chosen in itertools.product(pieces, repeat=length)]
    assert_same_verdicts(validator, inputs)


def test_verdicts_agree_on_any_number_with_any_wire_type(validator: ValidatorModule) -> None:
    values = (b"", b"\x00", b"\x01\x00", b"\x01\xff", b"\x00" * 4, b"\xff" * 4, b"\x00" * 8, b"\x80" * 9 + b"\x01")
    fields = [
        tag(number, wire_type) + value
        for number in (*range(20), 31, 32, 36, 39, 999, 1000, 1001, 2**29 - 1)
        for wire_type in range(8)
        for value in values
    ]
    nested = [delimited(outer, field) for outer in (4, 9, 10, 1000) for field in fields]
    assert_same_verdicts(validator, [*fields, *nested])


def test_verdicts_agree_on_fields_twice_and_in_reverse(validator: ValidatorModule) -> None:
    source = WireBytes(seed=5)
    fields = [[source.field("event") for _ in range(6)] for _ in range(1000)]
    assert_same_verdicts(validator, [b"".join([*some, *reversed(some)]) for some in fields])


def test_cost_of_a_verdict_grows_with_the_input_and_no_faster(validator: ValidatorModule) -> None:
    """Fuel is exact, so linear time can be asserted: twice the input, about twice the fuel."""
    shapes = {
        "strings": lambda n: delimited(7, b"abc") * n,
        "long text": lambda n: delimited(7, "é".encode() * n),
        "groups": lambda n: (b"\x7b" * 90 + b"\x7c" * 90) * n,
        "varints": lambda n: tag(5, VARINT) + varint(1 << 62) + (b"\x28" + varint(1 << 62)) * n,
        "attributes": lambda n: delimited(1000, delimited(1, b"key")) * n,
    }
    for name, shape in shapes.items():
        small, large = validator.fuel(shape(200)), validator.fuel(shape(400))
        assert large < 2.1 * small, name
        assert small < 120 * len(shape(200)), name
