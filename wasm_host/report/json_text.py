"""A report as JSON; events in base64 and as readable text."""

import base64
import dataclasses
import json
from typing import Any

from wasm_host.harness.difference import show_event
from wasm_host.harness.found_case import encode_config_value
from wasm_host.harness.report import Check, Cost, Distribution, Report


def to_json(report: Report) -> str:
    """The whole report, indented."""
    return json.dumps(as_data(report), indent=2, ensure_ascii=False)


def as_data(report: Report) -> dict[str, Any]:
    """The whole report as plain values."""
    return {
        "passed": report.is_passed,
        "command": report.command,
        "seconds": round(report.seconds, 3),
        "seed": report.seed,
        "examples": report.examples,
        "versions": report.versions,
        "module": {**dataclasses.asdict(report.module), "is_taken": report.module.is_taken},
        "sections": [
            {
                "name": section.name,
                "status": section.status,
                "count": section.count,
                "seconds": round(section.seconds, 4),
                "checks": [_check(check) for check in section.checks],
            }
            for section in report.sections
        ],
        "cost": None if report.cost is None else _cost(report.cost),
    }


def _check(check: Check) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": check.name,
        "status": check.status,
        "detail": check.detail,
        "spec": check.spec,
        "count": check.count,
    }
    if check.finding is not None:
        finding = check.finding
        data["finding"] = {
            "event_base64": base64.b64encode(finding.event).decode(),
            "event": show_event(finding.event),
            "config": encode_config_value(finding.config),
            "explanation": list(finding.explanation),
            "differences": [dataclasses.asdict(difference) for difference in finding.differences],
            "saved_as": finding.saved_as,
        }
    return data


def _cost(cost: Cost) -> dict[str, Any]:
    values = {field.name: getattr(cost, field.name) for field in dataclasses.fields(cost)}
    return {name: _distribution(value) if isinstance(value, Distribution) else value for name, value in values.items()}


def _distribution(values: Distribution) -> dict[str, float]:
    return {"median": values.median, "p99": values.p99, "max": values.largest}
