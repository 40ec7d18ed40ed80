"""`wasm-host sign`: put a detached Ed25519 signature beside a module, or make the key for it."""

import os
from pathlib import Path

import click

from wasm_host.cli.inputs import read_limits, read_wasm
from wasm_host.cli.misuse import refuse
from wasm_host.trust import SIGNATURE_SUFFIX, generate_key, sign

_FILE = click.Path(path_type=Path)
_PRIVATE_MODE = 0o600
_PUBLIC_MODE = 0o644


@click.command(
    "sign",
    epilog="Example: wasm-host sign --generate-key platform, then wasm-host sign mask_pii.wasm --key platform.key. "
    "Exit status: 0 written, 2 bad usage.",
)
@click.argument("module", type=_FILE, required=False)
@click.option("--key", type=_FILE, metavar="FILE", help="The private key, PEM.")
@click.option("--out", type=_FILE, metavar="FILE", help="The signature file; by default MODULE.sig.")
@click.option(
    "--generate-key",
    "key_name",
    type=_FILE,
    metavar="NAME",
    help="Make NAME.key (private) and NAME.pub; no signing.",
)
def command(module: Path | None, key: Path | None, out: Path | None, key_name: Path | None) -> None:
    """Sign MODULE, so that a platform which knows the public key takes it."""
    if key_name is not None:
        if module is not None or key is not None or out is not None:
            refuse("--generate-key together with a module, --key or --out", "make the key first, then sign")
        _make_key(key_name)
        return
    if module is None or key is None:
        refuse("a module and --key are needed", "or make a key with --generate-key NAME")
    wasm = read_wasm(module, read_limits(None))
    signature = sign(wasm, read_file(key, "the private key"))
    target = out or Path(f"{module}{SIGNATURE_SUFFIX}")
    try:
        target.write_bytes(signature)
    except OSError as error:
        refuse(f"cannot write {target}: {error.strerror}", "give a file in a folder that you may write to")
    click.echo(f"wrote {target}")


def read_file(path: Path, what: str) -> bytes:
    """Read a small file of the caller's.

    Raises:
        click.UsageError: it cannot be read, or is far too large.
    """
    try:
        if path.stat().st_size > 1 << 16:
            refuse(f"{what} {path} has {path.stat().st_size:,} bytes", "keys and signatures have less than a thousand")
        return path.read_bytes()
    except OSError as error:
        refuse(f"cannot read {what} {path}: {error.strerror}", "give a readable file")


def _make_key(name: Path) -> None:
    private, public = generate_key()
    for suffix, content, mode in ((".key", private, _PRIVATE_MODE), (".pub", public, _PUBLIC_MODE)):
        path = Path(f"{name}{suffix}")
        try:
            # Never over an existing key: what it has signed could not be signed again. The mode holds from the start.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            refuse(f"{path} is there already", "give another name, or move it away")
        except OSError as error:
            refuse(f"cannot write {path}: {error.strerror}", "give a name in a folder that you may write to")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    click.echo(f"wrote {name}.key (private: keep it to yourself) and {name}.pub")
