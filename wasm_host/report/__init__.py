"""Renderers of a harness report: text for a terminal, JSON, JUnit XML for CI, and one self-contained HTML page.

from wasm_host.report import to_html
Path("report.html").write_text(to_html(report))
"""

from wasm_host.report.html_page import to_html
from wasm_host.report.json_text import to_json
from wasm_host.report.junit import to_junit
from wasm_host.report.terminal import print_report

__all__ = ["print_report", "to_html", "to_json", "to_junit"]
