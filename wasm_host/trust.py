"""Which modules a platform takes: pinned by digest, or signed by somebody it knows.

A signature is detached (`module.wasm.sig`), Ed25519 over the module's SHA-256 behind a text that names the purpose, so
that it cannot be taken for a signature of anything else. A policy is checked on the driver before a job starts, and
again in each worker that loads the module.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from wasm_host.errors import ConfigError, UntrustedModuleError

SIGNATURE_SUFFIX = ".sig"
_HEADER = "wasm-host-signature-1"
_PURPOSE = b"wasm-host module signature, version 1\0"
_SIGNATURE_BYTES = 64
_DIGEST_CHARACTERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustPolicy:
    """What makes a module trusted: one of these digests, or a signature by one of these keys. Hashable, picklable.

    Attributes:
        pinned: SHA-256 digests in lower-case hexadecimal.
        public_keys: Raw Ed25519 public keys of 32 bytes.
    """

    pinned: frozenset[str] = frozenset()
    public_keys: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        for digest in self.pinned:
            if len(digest) != _DIGEST_CHARACTERS or set(digest) - set("0123456789abcdef"):
                raise ConfigError(
                    f"pinned digest {digest[:80]!r} is not a SHA-256 in 64 lower-case hexadecimal digits",
                    hint="`wasm-host inspect MODULE` prints it",
                    field="pinned",
                )
        for key in self.public_keys:
            _public_key(key)

    def check(self, wasm: bytes, signature: bytes | None = None) -> None:
        """Return if the module is trusted.

        Args:
            wasm: The module.
            signature: Content of its signature file, if there is one.

        Raises:
            UntrustedModuleError: it is neither pinned nor signed by a known key.
        """
        digest = hashlib.sha256(wasm).hexdigest()
        if digest in self.pinned:
            return
        why = "there is no signature for it"
        if signature is not None:
            why = self._why_signature_fails(wasm, signature)
            if not why:
                return
        raise UntrustedModuleError(
            f"module {digest[:12]} is not pinned, and {why}; {len(self.pinned)} digests are pinned and "
            f"{len(self.public_keys)} keys are known",
            hint="pin its sha256, or sign it with `wasm-host sign` and a key that this platform knows",
            digest=digest,
        )

    def _why_signature_fails(self, wasm: bytes, signature: bytes) -> str:
        raw = parse_signature(signature)
        if raw is None:
            return f"its signature file is damaged (allowed is a line {_HEADER!r} and one of base64)"
        for key in self.public_keys:
            try:
                _public_key(key).verify(raw, _signed_bytes(wasm))
            except InvalidSignature:
                continue
            return ""
        return "its signature is by none of the known keys"


def sign(wasm: bytes, private_key_pem: bytes) -> bytes:
    """Make the content of a signature file.

    Raises:
        ConfigError: the key is not an unencrypted Ed25519 private key in PEM.
    """
    raw = _private_key(private_key_pem).sign(_signed_bytes(wasm))
    return f"{_HEADER}\n{base64.b64encode(raw).decode()}\n".encode()


def parse_signature(content: bytes) -> bytes | None:
    """The raw signature in a signature file, or None if that is not what it is."""
    lines = content.split(b"\n")
    if len(content) > 1024 or len(lines) < 2 or lines[0].strip() != _HEADER.encode():
        return None
    try:
        raw = base64.b64decode(lines[1].strip(), validate=True)
    except binascii.Error:
        return None
    return raw if len(raw) == _SIGNATURE_BYTES else None


def generate_key() -> tuple[bytes, bytes]:
    """A new key pair, private and public, both in PEM."""
    private = Ed25519PrivateKey.generate()
    return (
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
    )


def read_public_key(pem: bytes) -> bytes:
    """The raw 32 bytes of an Ed25519 public key in PEM, as a policy takes them.

    Raises:
        ConfigError: it is something else.
    """
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _not_a_key("public") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _not_a_key("public")
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def signature_beside(module_path: str | Path) -> bytes | None:
    """The content of `<module>.sig`, if there is such a file."""
    path = Path(f"{module_path}{SIGNATURE_SUFFIX}")
    return path.read_bytes() if path.is_file() else None


def _signed_bytes(wasm: bytes) -> bytes:
    return _PURPOSE + hashlib.sha256(wasm).digest()


def _private_key(pem: bytes) -> Ed25519PrivateKey:
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _not_a_key("private") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _not_a_key("private")
    return key


def _public_key(raw: bytes) -> Ed25519PublicKey:
    try:
        return Ed25519PublicKey.from_public_bytes(raw)
    except ValueError as error:
        raise ConfigError(
            f"a public key has {len(raw)} bytes; allowed is a raw Ed25519 key of 32",
            hint="read it with wasm_host.trust.read_public_key",
            field="public_keys",
        ) from error


def _not_a_key(kind: str) -> ConfigError:
    return ConfigError(
        f"this is not an Ed25519 {kind} key in PEM without a password",
        hint="make a pair with `wasm-host sign --generate-key NAME`",
        field=f"{kind}_key",
    )
