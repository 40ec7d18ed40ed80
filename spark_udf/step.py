"""One module with its configuration and limits, as the job's author wrote it; a transform is one step or a chain.

Holds references only: module bytes and secrets are read when the transform is admitted on the driver.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from spark_udf.errors import ModuleNotFoundOnDriverError
from wasm_host import ISOLATIONS, Isolation, Limits, TrustPolicy
from wasm_host.errors import ConfigError
from wasm_host.trust import signature_beside

OnError = Literal["fail", "drop", "dead_letter"]
Unknown = Literal["fail", "drop", "dead_letter"]
Via = Literal["arrow", "pandas"]
Engine = Literal["wasm", "native", "shadow"]
NativeFactory = Callable[[Mapping[str, Any]], Callable[[Any], Any]]

ON_ERROR: tuple[str, ...] = get_args(OnError)
UNKNOWN: tuple[str, ...] = get_args(Unknown)
VIA: tuple[str, ...] = get_args(Via)
ENGINES: tuple[str, ...] = get_args(Engine)


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the words allowed.

    Raises:
        ConfigError: it is not.
    """
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ConfigError(f"{name} is {value!r}; allowed are {words}", hint=f"set {name} to one of them", field=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One module of a transform.

    Attributes:
        module: Path of the `.wasm` on the driver, or its bytes.
        config: The transform's configuration; values may be references to secrets.
        limits: What the guest may use.
        isolation: How long an instance lives; see `wasm_host.load`.
        wasi: Whether the module may import the deterministic part of WASI.
        native: The twin in plain Python: a factory, or "package.module:factory". Trusted code.
        sha256: The digest that the module must have, or None.
        trust: What makes a module trusted; None takes all.
        signature: Content of the module's signature file; for a path, `<path>.sig` is read if this is None.
        origin: Where this was written, for messages, such as "tenants.toml:7 (tenant 'acme')".
    """

    module: Path | bytes
    config: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = "worker"
    wasi: bool = False
    native: str | NativeFactory | None = None
    sha256: str | None = None
    trust: TrustPolicy | None = None
    signature: bytes | None = None
    origin: str | None = None

    def __post_init__(self) -> None:
        check_choice("isolation", self.isolation, ISOLATIONS)

    def __repr__(self) -> str:
        # A configuration may be long and private; its keys are enough to recognise it.
        return f"Step({self.label}, config keys={sorted(map(str, self.config))})"

    @property
    def label(self) -> str:
        """The module, for people."""
        if isinstance(self.module, bytes):
            return f"module {hashlib.sha256(self.module).hexdigest()[:12]}"
        return str(self.module)

    @property
    def where(self) -> str:
        """The module and the place it was written, for messages."""
        return f"{self.origin}, module {self.label}" if self.origin else self.label

    def read_signature(self) -> bytes | None:
        """The module's signature file, where a policy asks for one.

        Raises:
            ModuleNotFoundOnDriverError: it is there and cannot be read.
        """
        if self.trust is None or self.signature is not None or isinstance(self.module, bytes):
            return self.signature
        try:
            return signature_beside(self.module)
        except OSError as error:
            raise ModuleNotFoundOnDriverError(
                f"{self.where}: the signature file beside it cannot be read ({error.strerror})",
                hint="let the user of the driver read it",
            ) from error

    def read_module(self) -> bytes:
        """Read the module's bytes on the driver and check the digest that was asked for.

        Raises:
            ModuleNotFoundOnDriverError: no such file, or other bytes than asked for.
        """
        if isinstance(self.module, bytes):
            code = self.module
        else:
            try:
                code = self.module.read_bytes()
            except OSError as error:
                raise ModuleNotFoundOnDriverError(
                    f"{self.where}: the file cannot be read ({error.strerror})",
                    hint="the path is taken on the driver, relative to the tenants file or the working directory",
                ) from error
        digest = hashlib.sha256(code).hexdigest()
        if self.sha256 is not None and digest != self.sha256.lower():
            raise ModuleNotFoundOnDriverError(
                f"{self.where}: the module's SHA-256 is {digest}, asked for is {self.sha256.lower()}",
                hint="the file was changed or is another one; correct the digest if the new module is wanted",
            )
        return code
