"""The report in its other forms: JSON, JUnit, and the page, looked at in a real browser."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import guest_examples
from tests.cli.browser import CHROMIUM, look
from tests.cli.command import wasm_host
from tests.hostile.wat_guest import HAND_BACK, build
from wasm_host.harness.report import Distribution, Report, Section
from wasm_host.report.charts import bars, histogram

NASTY = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of a module that fails, with a name that wants to be markup."""
    folder = tmp_path_factory.mktemp("failing")
    module = folder / "bad & <b>.wasm"
    module.write_bytes(
        build(extra='(global $n (mut i32) (i32.const 0)) (func (export "<script>alert(1)</script>"))',
              transform="(global.set $n (i32.add (global.get $n) (i32.const 1))) "
              f"(if (i32.gt_u (global.get $n) (i32.const 3)) (then (return (i64.const 0)))) {HAND_BACK}")
    )  # fmt: skip
    result = wasm_host(
        "test", module, "--no-save", "--html", folder / "r.html", "--junit", folder / "r.xml", "--examples", "60"
    )
    assert result.status == 1
    return folder


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("passing")
    options = ["--no-save", "--html", folder / "r.html", "--junit", folder / "r.xml", "--examples", "60"]
    assert wasm_host("test", guest_examples.path("mask_pii"), *options).status == 0
    return folder


def test_junit_has_a_suite_for_each_section_and_the_failure(failing: Path) -> None:
    root = ElementTree.parse(failing / "r.xml").getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["contract", "lifecycle", "cases", "properties", "reference", "masking", "cost"]
    assert suites["properties"].get("failures") == "1"
    (failure,) = [case.find("failure") for case in suites["properties"] if case.find("failure") is not None]
    assert failure is not None
    assert "fresh instance" in str(failure.get("message"))
    assert "event:" in str(failure.text)


def test_junit_takes_control_characters_that_xml_cannot_write(passing: Path) -> None:
    from wasm_host.harness.facts import ModuleFacts
    from wasm_host.report import to_junit

    section = Section("cases")
    section.failed("a\x00b", "text \x1b[31m ]]> & <tag>")
    text = to_junit(Report(ModuleFacts("m", "0" * 64, 1, True), [section]))
    assert ElementTree.fromstring(text)[0][0].get("name") == "a�b"
    assert ElementTree.parse(passing / "r.xml").getroot().find(".//failure") is None


def test_page_is_one_file_without_scripts_or_addresses(failing: Path, passing: Path) -> None:
    for folder in (failing, passing):
        page = (folder / "r.html").read_text(encoding="utf-8")
        assert "<script" not in page
        assert "http://" not in page
        assert "https://" not in page
        assert "src=" not in page
        assert "default-src 'none'" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in (failing / "r.html").read_text(encoding="utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path (apt-get install chromium)")
@pytest.mark.parametrize("width", [400, 1400])
def test_page_in_a_browser_shows_a_failure_to_people(failing: Path, tmp_path: Path, width: int) -> None:
    seen, console = look(failing / "r.html", width, tmp_path)
    page = json.loads(seen)
    assert console == ""
    assert "FAIL" in page["verdict"]
    assert "bad & <b>.wasm" in page["verdict"]
    assert "What failed" in page["body"]
    assert "fresh instance" in page["body"]
    # Nothing sticks out sideways, and nothing is too small to read.
    assert page["width"] == width
    assert page["scrolled"] <= width
    assert page["overflowing"] == 0
    assert page["smallest"] >= 12


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path (apt-get install chromium)")
@pytest.mark.parametrize("width", [400, 1400])
def test_page_in_a_browser_draws_both_charts(passing: Path, tmp_path: Path, width: int) -> None:
    seen, console = look(passing / "r.html", width, tmp_path)
    page = json.loads(seen)
    assert console == ""
    assert "PASS" in page["verdict"]
    assert len(page["charts"]) == 2
    assert all(chart_width > min(300, width - 60) and height > 80 for chart_width, height in page["charts"])
    assert page["bars"] > 6
    assert page["ticks"] >= 12
    assert page["scrolled"] <= width


def test_histogram_counts_every_value_and_survives_a_constant_sample() -> None:
    values = [float(number) for number in range(1, 1001)]
    svg = histogram(values, title="t & <u>", unit="x", show=str)
    counts = [int(part.split(" between")[0]) for part in svg.split("<title>")[2:]]
    assert sum(counts) == 1000
    assert "t &amp; &lt;u&gt;" in svg
    assert histogram([5.0] * 3, title="t", unit="x", show=str).count('class="bar"') == 1
    assert "no values" in histogram([], title="t", unit="x", show=str)


def test_distribution_figures() -> None:
    sample = Distribution(tuple(float(number) for number in range(100)))
    assert (sample.median, sample.p99, sample.largest) == (50.0, 99.0, 99.0)
    assert Distribution(()).median == 0.0


def test_bench_prints_a_table_and_writes_a_plot(tmp_path: Path) -> None:
    config = tmp_path / "c.json"
    config.write_text('{"rules": [{"path": "email", "action": "redact"}]}')
    plot = tmp_path / "p.svg"
    options = ["--config", config, "--events", "500", "--against", "guest_examples.mask_pii.twin:build", "--plot", plot]
    result = wasm_host("bench", guest_examples.path("mask_pii"), *options)
    assert result.status == 0, result.err
    rows = [line.split() for line in result.out.splitlines() if line.startswith(("wasm", "native"))]
    assert [row[0] for row in rows] == ["wasm", "native"]
    assert float(rows[0][1].replace(",", "")) > 3 * float(rows[1][2].replace(",", ""))
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    assert bars([("a", 1.0, "x")], title="t").count("<rect") == 1
