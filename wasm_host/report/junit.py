"""A report as JUnit XML, which every CI system reads: a suite for each section, a case for each check."""

import re
from xml.etree import ElementTree

from wasm_host.harness.difference import show_event
from wasm_host.harness.report import Check, Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(report: Report) -> str:
    """The whole report."""
    suites = ElementTree.Element(
        "testsuites", name=f"wasm-host test {report.module.name}", time=f"{report.seconds:.3f}"
    )
    for section in report.sections:
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=section.name,
            tests=str(len(section.checks)),
            failures=str(sum(check.status == "fail" for check in section.checks)),
            skipped=str(sum(check.status == "skip" for check in section.checks)),
            time=f"{section.seconds:.3f}",
        )
        for check in section.checks:
            _add_case(suite, f"{report.module.name}.{section.name}", check)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _add_case(suite: ElementTree.Element, class_name: str, check: Check) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=_clean(class_name), name=_clean(check.name))
    if check.status == "skip":
        ElementTree.SubElement(case, "skipped", message=_clean(check.detail))
    elif check.status == "fail":
        failure = ElementTree.SubElement(case, "failure", message=_clean(check.detail))
        failure.text = _clean("\n".join(_lines(check)))


def _lines(check: Check) -> list[str]:
    lines = [check.spec] if check.spec else []
    if check.finding is not None:
        lines += [*check.finding.explanation, f"event: {show_event(check.finding.event)}"]
        lines += [f"{item.path}: expected {item.expected}, seen {item.seen}" for item in check.finding.differences]
        lines += [f"saved as {check.finding.saved_as}"] if check.finding.saved_as else []
    return lines


def _clean(text: str) -> str:
    """XML has no way to write most control characters."""
    return _NOT_XML.sub("�", text)
