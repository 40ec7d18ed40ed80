import pickle

import pytest

from abi.errors import AbiError, ConfigRefused, DecodeError, EncodeError, EventFailure, TransformError

CLASSES = [TransformError, AbiError, EncodeError, DecodeError, ConfigRefused, EventFailure]


@pytest.mark.parametrize("kind", CLASSES)
def test_error_survives_pickling_with_all_it_carries(kind: type[TransformError]) -> None:
    error = kind("what was seen", hint="what to change", path="a.b", offset=3)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.message, again.hint, again.details) == (error.message, error.hint, error.details)
    assert str(again) == str(error)


def test_text_is_one_line_of_code_message_and_hint() -> None:
    assert str(EncodeError("a is 1; allowed is 2", hint="set a")) == "[ENCODE_ERROR] a is 1; allowed is 2; hint: set a"
    assert str(EncodeError("a is 1; allowed is 2")) == "[ENCODE_ERROR] a is 1; allowed is 2"


def test_decode_error_says_where() -> None:
    error = DecodeError("no", path="after.id", offset=12)
    assert (error.path, error.offset) == ("after.id", 12)
    assert (DecodeError("no").path, DecodeError("no").offset) == (None, None)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_is_a_transform_error(kind: type[TransformError]) -> None:
    with pytest.raises(TransformError, match="no"):
        raise kind("no")
