"""`wasm-host verify`: would a platform with these keys and digests take this module?"""

import hashlib
from pathlib import Path

import click

from wasm_host.cli.inputs import read_limits, read_wasm
from wasm_host.cli.misuse import EXIT_FAILED, refuse
from wasm_host.cli.sign import read_file
from wasm_host.errors import UntrustedModuleError
from wasm_host.trust import TrustPolicy, read_public_key, signature_beside

_FILE = click.Path(path_type=Path)


@click.command(
    "verify",
    epilog="Example: wasm-host verify mask_pii.wasm --public-key platform.pub. "
    "Exit status: 0 trusted, 1 not trusted, 2 bad usage.",
)
@click.argument("module", type=_FILE)
@click.option("--public-key", "keys", type=_FILE, multiple=True, metavar="FILE", help="A known key, PEM (repeatable).")
@click.option("--pinned", multiple=True, metavar="SHA256", help="A digest that is trusted as it is (repeatable).")
@click.option("--signature", type=_FILE, metavar="FILE", help="The signature file; by default MODULE.sig.")
@click.pass_context
def command(
    context: click.Context, module: Path, keys: tuple[Path, ...], pinned: tuple[str, ...], signature: Path | None
) -> None:
    """Check that MODULE is pinned, or signed by a known key."""
    if not keys and not pinned:
        refuse("neither --public-key nor --pinned", "say what is trusted")
    wasm = read_wasm(module, read_limits(None))
    policy = TrustPolicy(
        pinned=frozenset(digest.lower() for digest in pinned),
        public_keys=tuple(read_public_key(read_file(key, "the public key")) for key in keys),
    )
    content = signature_beside(module) if signature is None else read_file(signature, "the signature")
    try:
        policy.check(wasm, content)
    except UntrustedModuleError as error:
        click.echo(f"not trusted: {error}", err=True)
        context.exit(EXIT_FAILED)
    digest = hashlib.sha256(wasm).hexdigest()
    why = "it is pinned" if digest in policy.pinned else "it is signed by a known key"
    click.echo(f"trusted: {why} (sha256 {digest})")
