"""Pinned and signed modules."""

import hashlib
import pickle
from pathlib import Path

import pytest

import guest_examples
import wasm_host
from wasm_host import ConfigError, TrustPolicy, UntrustedModuleError
from wasm_host.trust import generate_key, parse_signature, read_public_key, sign

WASM = guest_examples.load_wasm("pass_through")
DIGEST = hashlib.sha256(WASM).hexdigest()
PRIVATE, PUBLIC = generate_key()
POLICY = TrustPolicy(public_keys=(read_public_key(PUBLIC),))


def test_pinned_module_is_taken_without_a_signature() -> None:
    TrustPolicy(pinned=frozenset({DIGEST})).check(WASM)
    with wasm_host.load(WASM, trust=TrustPolicy(pinned=frozenset({DIGEST}))) as guest:
        assert guest.module.digest == DIGEST


def test_signed_module_is_taken() -> None:
    with wasm_host.load(WASM, trust=POLICY, signature=sign(WASM, PRIVATE)) as guest:
        assert guest.module.digest == DIGEST


def test_signature_file_beside_the_module_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.wasm"
    path.write_bytes(WASM)
    with pytest.raises(UntrustedModuleError, match="there is no signature for it"):
        wasm_host.load(path, trust=POLICY)
    (tmp_path / "m.wasm.sig").write_bytes(sign(WASM, PRIVATE))
    with wasm_host.load(path, trust=POLICY) as guest:
        assert guest.module.digest == DIGEST


def test_empty_policy_trusts_nothing() -> None:
    with pytest.raises(UntrustedModuleError) as caught:
        wasm_host.load(WASM, trust=TrustPolicy(), signature=sign(WASM, PRIVATE))
    assert str(caught.value).startswith(
        f"[UNTRUSTED_MODULE] module {DIGEST[:12]} is not pinned, and its signature is by"
    )


@pytest.mark.parametrize("position", [0, len(WASM) // 2, len(WASM) - 1])
def test_signature_of_other_bytes_is_refused(position: int) -> None:
    changed = bytearray(WASM)
    changed[position] ^= 1
    with pytest.raises(UntrustedModuleError, match="by none of the known keys"):
        POLICY.check(bytes(changed), sign(WASM, PRIVATE))


def test_signature_by_an_unknown_key_is_refused() -> None:
    stranger, _ = generate_key()
    with pytest.raises(UntrustedModuleError, match="by none of the known keys"):
        POLICY.check(WASM, sign(WASM, stranger))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x" * 5000,
        b"wasm-host-signature-1",
        b"wasm-host-signature-1\n!!!\n",
        b"wasm-host-signature-1\nAAAA\n",
        b"other\n" + sign(WASM, PRIVATE).split(b"\n")[1],
    ],
)
def test_damaged_signature_file_is_refused_with_its_form(content: bytes) -> None:
    assert parse_signature(content) is None
    with pytest.raises(UntrustedModuleError, match="signature file is damaged"):
        POLICY.check(WASM, content)


def test_policy_refuses_what_is_no_digest_and_no_key() -> None:
    with pytest.raises(ConfigError, match="64 lower-case"):
        TrustPolicy(pinned=frozenset({"abc"}))
    with pytest.raises(ConfigError, match="a public key has 3 bytes"):
        TrustPolicy(public_keys=(b"abc",))
    with pytest.raises(ConfigError, match="not an Ed25519 public key"):
        read_public_key(b"nonsense")
    with pytest.raises(ConfigError, match="not an Ed25519 private key"):
        sign(WASM, PUBLIC)


def test_policy_is_hashable_and_pickles() -> None:
    assert pickle.loads(pickle.dumps(POLICY)) == POLICY
    assert hash(POLICY) == hash(TrustPolicy(public_keys=POLICY.public_keys))
