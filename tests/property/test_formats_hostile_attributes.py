"""Attributes are whatever a guest left in them: an event is written, or refused with one coded error, never a crash.

A crash in the encoder would fail the whole batch, other events and other tenants with it.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abi import EncodeError, Event
from abi.formats import FORMATS, Format, get
from tests.property.format_documents import Generator

TARGETS: dict[str, Format] = {
    **FORMATS,
    "opencdc in json": get("opencdc", wire="json"),
    "opencdc in protobuf": get("opencdc", wire="protobuf"),
}
NASTY = [
    b"",
    b"null",
    b"{}",
    b"[]",
    b"1",
    b"-1",
    b"1e999",
    b'"x"',
    b"\xff",
    b"9" * 5000,
    b"[" * 2000,
    b'{"a":' * 300 + b"1" + b"}" * 300,
]
MARKS = [b"\xff", b"\xc0", b"\x80", b'"', b"\\", b"{", b"}", b"[", b",", b":", b"\x00", b"\x01", b"\x02", b"\x03", b"9"]


def _bent(rng: random.Random, text: bytes) -> bytes:
    data = bytearray(text)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            data[at : at + 1] = rng.choice(MARKS)
        elif kind == 1:
            data[at:at] = rng.choice(MARKS) * rng.choice([1, 1, 40, 300])
        else:
            del data[at : at + rng.choice([1, 5, 100])]
    return bytes(data)


def _spoil(rng: random.Random, event: Event) -> None:
    """Do to an event what a guest can do to it."""
    for _ in range(rng.randrange(1, 4)):
        if event.attributes and rng.random() < 0.8:
            key = rng.choice(sorted(event.attributes))
            is_bent = rng.random() < 0.8
            event.attributes[key] = _bent(rng, event.attributes[key]) if is_bent else rng.choice(NASTY)
        else:
            image = rng.choice(["before", "after"])
            is_bent = rng.random() < 0.7
            setattr(event, image, _bent(rng, getattr(event, image)) if is_bent else rng.choice(NASTY))
    if rng.random() < 0.2:
        event.op = rng.randrange(8)  # type: ignore[assignment]  # protobuf takes numbers that have no name yet
    if rng.random() < 0.2:
        event.ts = rng.choice([0, 10**18, 2**63, 2**64 - 1])
    if rng.random() < 0.2:
        event.source.timestamp = rng.choice([0, 10**18, 2**63, 2**64 - 1])
    if rng.random() < 0.1:
        event.attributes["opencdc.wire"] = b"protobuf"


@pytest.mark.parametrize("name", FORMATS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_spoilt_event_is_written_or_refused(name: str, seed: int) -> None:
    generator = Generator(seed)
    for _ in range(100):
        event = FORMATS[name].decode(getattr(generator, name)())
        _spoil(generator.rng, event)
        target = generator.rng.choice([name, *TARGETS])
        refusal = ""
        try:
            written = TARGETS[target].encode(event)
        except EncodeError as error:
            refusal = str(error)
        assert "\n" not in refusal
        assert len(refusal) < 600
        if not refusal and TARGETS[target].is_text and target != "opencdc":
            written.decode()  # a column of text takes it
