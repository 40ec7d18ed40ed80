"""The command `wasm-host`: test, inspect, run, bench, new, build, spark, demo.

    from wasm_host.cli import main
    main(["test", "mask_pii.wasm"])

One file for each command; what they do is a library (`wasm_host.harness`, `wasm_host.report`), so that others can call
it. Commands import what they need when they are called: `wasm-host --help` must be quick.
"""

from wasm_host.cli.main import main

__all__ = ["main"]
