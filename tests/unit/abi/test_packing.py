import pytest
from hypothesis import given
from hypothesis import strategies as st

from abi import ResultKind, pack_result, unpack_result
from abi.packing import MAX_LENGTH, MAX_POINTER


@given(st.sampled_from(ResultKind), st.integers(0, MAX_POINTER), st.integers(0, MAX_LENGTH))
def test_unpack_gives_back_what_was_packed(kind: ResultKind, pointer: int, length: int) -> None:
    assert unpack_result(pack_result(kind, pointer, length)) == (kind, pointer, length)


@given(st.integers(0, 2**64 - 1))
def test_unpack_is_total_and_loses_nothing(packed: int) -> None:
    assert pack_result(*unpack_result(packed)) == packed


@given(st.integers(-(2**63), 2**63 - 1))
def test_unpack_takes_signed_integers_as_wasmtime_gives_them(signed: int) -> None:
    assert unpack_result(signed) == unpack_result(signed % 2**64)


@pytest.mark.parametrize(
    ("pointer", "length", "word"),
    [(MAX_POINTER + 1, 0, "pointer"), (-1, 0, "pointer"), (0, MAX_LENGTH + 1, "length"), (0, -1, "length")],
)
def test_pack_refuses_what_does_not_fit(pointer: int, length: int, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        pack_result(ResultKind.EVENT, pointer, length)
