"""The root of every error this project raises, and the errors of the contract itself.

    TransformError                 .code .message .hint .details
    └─ AbiError                    bytes or symbols break the contract
       ├─ EncodeError              a value cannot be written in the format asked for
       ├─ DecodeError              bytes cannot be read (.path, .offset)
       ├─ ConfigRefused            a native transform does not accept its configuration
       └─ EventFailure             a native transform fails one event, with a message for people

`wasm_host.errors` and `spark_udf.errors` continue the tree. Messages are one line and stand alone, because Spark turns
an exception into text and may drop its cause.
"""

from typing import Any, ClassVar


class TransformError(Exception):
    """Root of the tree. `code` is stable; `details` holds plain values only, so the error pickles."""

    code: ClassVar[str] = "TRANSFORM_ERROR"

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        text = f"[{self.code}] {self.message}"
        return f"{text}; hint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.hint, self.details)


def _rebuild(kind: type[TransformError], message: str, hint: str | None, details: dict[str, Any]) -> TransformError:
    return kind(message, hint=hint, **details)


class AbiError(TransformError):
    """Bytes or symbols break the contract."""

    code = "ABI_ERROR"


class EncodeError(AbiError):
    """A value cannot be written in the format asked for."""

    code = "ENCODE_ERROR"


class DecodeError(AbiError):
    """Bytes cannot be read as the format asked for; `path` and `offset` say where, as far as it is known."""

    code = "DECODE_ERROR"

    @property
    def path(self) -> str | None:
        """Dotted path of the value that could not be read."""
        path = self.details.get("path")
        return path if isinstance(path, str) else None

    @property
    def offset(self) -> int | None:
        """Byte offset in the input."""
        offset = self.details.get("offset")
        return offset if isinstance(offset, int) else None


class ConfigRefused(AbiError):
    """A native transform does not accept its configuration; the counterpart of a guest's non-zero `init`."""

    code = "CONFIG_REFUSED"


class EventFailure(AbiError):
    """A native transform fails one event with a message for people; the counterpart of an answer of kind 2."""

    code = "GUEST_FAILURE"
