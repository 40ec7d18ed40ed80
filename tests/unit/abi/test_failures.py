import json
import pickle

import pytest

from abi.failures import DRIVER_CODES, FailureCode


@pytest.mark.parametrize("code", FailureCode)
def test_code_is_its_own_text(code: FailureCode) -> None:
    assert code == code.name == code.value == str(code) == json.loads(json.dumps(code))
    assert pickle.loads(pickle.dumps(code)) is code


@pytest.mark.parametrize("code", FailureCode)
def test_meaning_is_one_line_of_prose(code: FailureCode) -> None:
    assert 10 < len(code.meaning) < 110
    assert "\n" not in code.meaning
    assert not code.meaning.endswith(".")


def test_meanings_are_all_different() -> None:
    assert len({code.meaning for code in FailureCode}) == len(FailureCode)


def test_driver_codes_are_numbered_without_gaps_from_1() -> None:
    assert list(DRIVER_CODES) == list(range(1, 12))
    assert len(set(DRIVER_CODES.values())) == len(DRIVER_CODES)


def test_driver_codes_keep_their_numbers() -> None:
    """The driver's WebAssembly text has these numbers in it, so they are written out once more here."""
    assert DRIVER_CODES[1] is FailureCode.GUEST_FAILURE
    assert DRIVER_CODES[7] is FailureCode.RESULT_EMPTY
    assert DRIVER_CODES[11] is FailureCode.STREAM_MALFORMED
