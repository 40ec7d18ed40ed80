"""`wasm-host spark` for spark-submit, which takes a file that ends in .py and not a command.

spark-submit --master URL "$(wasm-host spark --script)" --input events/ --output out/ --tenants tenants.toml
"""

import sys
from pathlib import Path


def main() -> None:
    """Run `wasm-host spark` with the arguments that stand behind this file."""
    # Python puts this file's folder in front of the path; its modules are this package's, not anybody's top level.
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [entry for entry in sys.path if entry != here]

    from wasm_host.cli import main as wasm_host

    wasm_host(["spark", *sys.argv[1:]])


if __name__ == "__main__":
    main()
