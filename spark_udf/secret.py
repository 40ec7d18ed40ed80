"""Secrets in a transform's configuration: written as a reference, read on the driver, never shown.

What is guaranteed: the value of a secret is not in a plan, the UI, an event log, a `repr`, a log line or a failure.
It travels to the executors inside the pickled function, which Spark keeps as opaque bytes and never prints; it is not
part of the bundle of modules that is written to disk. Text that a guest produces is searched for the value before it
is kept. What is not: a guest is given its own secret, so it can still put it into its output, or disguise it.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from spark_udf.errors import SecretUnavailableError

REDACTED = "[secret]"

_SHORTEST_PART = 4
"""Characters of a value that are worth hiding where a text was cut off."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference to a secret: the name of an environment variable of the driver, or the path of a file there.

    >>> Secret("env", "ACME_KEY")
    Secret(kind='env', name='ACME_KEY')
    """

    kind: Literal["env", "file"]
    name: str

    @classmethod
    def env(cls, name: str) -> "Secret":
        """Refer to an environment variable of the driver."""
        return cls("env", name)

    @classmethod
    def file(cls, path: str | Path) -> "Secret":
        """Refer to a text file on the driver; one line end at its end is left out."""
        return cls("file", str(path))

    def read(self) -> str:
        """Read the value; called on the driver only.

        Raises:
            SecretUnavailableError: the variable is not set or empty, or the file cannot be read.
        """
        value = self._read_env() if self.kind == "env" else self._read_file()
        if not value:
            raise SecretUnavailableError(
                f"the secret {self.kind} {self.name!r} is empty", hint="give it a value on the driver"
            )
        return value

    def _read_env(self) -> str:
        value = os.environ.get(self.name)
        if value is None:
            raise SecretUnavailableError(
                f"the secret refers to the environment variable {self.name!r}, which is not set on the driver",
                hint=f"export {self.name}=... where the driver is started",
            )
        return value

    def _read_file(self) -> str:
        try:
            text = Path(self.name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            # The error of a decoder quotes the bytes it stumbled over, so it is neither quoted nor chained.
            raise SecretUnavailableError(
                f"the secret refers to the file {self.name!r}, which cannot be read on the driver "
                f"({type(error).__name__})",
                hint="check the path and that the driver's user may read it; its content has to be UTF-8 text",
            ) from None
        return text.removesuffix("\n").removesuffix("\r")


class SecretValues:
    """The values of the secrets of a job. Pickles, but does not show them."""

    def __init__(self, values: Mapping[Secret, str] | None = None) -> None:
        self._values = dict(values or {})

    def __repr__(self) -> str:
        return f"SecretValues({len(self._values)} values, not shown)"

    @classmethod
    def read_all(cls, secrets: Iterable[Secret]) -> "SecretValues":
        """Read each secret once, on the driver.

        Raises:
            SecretUnavailableError: one of them cannot be read.
        """
        return cls({secret: secret.read() for secret in dict.fromkeys(secrets)})

    @property
    def fingerprint(self) -> str:
        """Tells sets of values apart, without telling the values."""
        return hashlib.sha256(
            repr(sorted((str(key), value) for key, value in self._values.items())).encode()
        ).hexdigest()

    def fill(self, value: Any) -> Any:
        """Copy a configuration with every reference replaced by its value."""
        if isinstance(value, Secret):
            return self._values[value]
        if isinstance(value, Mapping):
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.fill(item) for item in value]
        return value

    def redact(self, text: str) -> str:
        """Replace each secret's value in a text that a guest had a part in."""
        for value in sorted(self._values.values(), key=len, reverse=True):
            for form in {value, value.encode("unicode_escape").decode("ascii")}:
                if form[:_SHORTEST_PART] in text:
                    text = _without_cut_form(text.replace(form, REDACTED), form)
        return text


def _without_cut_form(text: str, form: str) -> str:
    """Replace the beginning of a value where the text was cut off in the middle of it."""
    for length in range(len(form) - 1, _SHORTEST_PART - 1, -1):
        start = form[:length]
        text = text.replace(f"{start}…", f"{REDACTED}…")
        if text.endswith(start):
            text = text.removesuffix(start) + REDACTED
    return text


def find_secrets(value: Any) -> list[Secret]:
    """List the references inside a configuration."""
    if isinstance(value, Secret):
        return [value]
    if isinstance(value, Mapping):
        return [secret for item in value.values() for secret in find_secrets(item)]
    if isinstance(value, (list, tuple)):
        return [secret for item in value for secret in find_secrets(item)]
    return []
