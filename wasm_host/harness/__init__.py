"""The harness: everything a transform's author wants to know of a module before handing it in.

    from wasm_host.harness import Subject, Trial, run_harness
    report = run_harness(Subject(wasm, path), Trial())
    report.is_passed, report.failures

Seven sections, one file each. The command `wasm-host test` is a thin layer over it.
"""

from wasm_host.harness.contract import inspect
from wasm_host.harness.report import Report
from wasm_host.harness.runner import run_harness
from wasm_host.harness.subject import Subject, Trial

__all__ = ["Report", "Subject", "Trial", "inspect", "run_harness"]
