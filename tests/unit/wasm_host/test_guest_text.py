"""Guest bytes as one printable line, whatever they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wasm_host.guest_text import clean_text


@given(raw=st.binary(max_size=200), limit=st.integers(0, 250), encoding=st.sampled_from(["utf-8", "utf-16-le"]))
def test_any_bytes_become_one_printable_bounded_line(raw: bytes, limit: int, encoding: str) -> None:
    text = clean_text(raw, max_bytes=limit, encoding=encoding)
    assert text.isprintable()
    # A byte is shown as \xff at the longest, a cut as one character.
    assert len(text) <= 4 * min(len(raw), limit) + 1
    assert text.endswith("…") or len(raw) <= limit


@given(text=st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=50))
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert clean_text(text.encode(), max_bytes=1_000) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"plain", "plain"),
        (b"a\tb\r\n", "a\\tb\\r\\n"),
        (b"\xe2\x82", "\\xe2\\x82"),
        ("\u202e\u2028\ufeff".encode(), "\\u202e\\u2028\\ufeff"),
        (b"{}%s$(x)`y`", "{}%s$(x)`y`"),
        (b"", ""),
    ],
)
def test_what_could_mislead_is_escaped(raw: bytes, shown: str) -> None:
    assert clean_text(raw, max_bytes=100) == shown


def test_cut_shows() -> None:
    assert clean_text(b"abcdef", max_bytes=3) == "abc…"
    assert clean_text(b"abc", max_bytes=3) == "abc"
    assert clean_text(b"abc", max_bytes=0) == "…"
