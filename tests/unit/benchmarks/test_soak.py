"""The soak in its short form: resident memory stays flat; and the command that runs all benchmarks finds them."""

import pytest

from benchmarks import __main__ as all_benchmarks
from benchmarks import bench_host, soak


def test_resident_memory_stays_level_over_five_million_events() -> None:
    seen = soak.run(5_000_000)
    assert (seen.events, len(seen.resident_bytes)) == (4_980_000, 10)
    assert seen.failures >= 10 * 166
    assert seen.growth <= soak.MAX_GROWTH


def test_every_benchmark_file_is_found_and_can_be_run() -> None:
    names = all_benchmarks.benchmark_names()
    assert "bench_host" in names
    assert all_benchmarks.has_short_form("bench_host")
    for name in names:
        source = (all_benchmarks.FOLDER / f"{name}.py").read_text(encoding="utf-8")
        assert "def main(" in source, name
        assert '__name__ == "__main__"' in source, name


def test_unknown_benchmark_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        all_benchmarks.main(["bench_nothing"])
    assert "there are bench_" in capsys.readouterr().err


def test_benchmark_of_the_host_measures_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_host.main(["--quick"]) == 0
    printed = capsys.readouterr().out
    for words in ("A/A control", bench_host.IN_WASM, bench_host.IN_PYTHON, bench_host.POISONED, "100 guests"):
        assert words in printed


def test_events_of_the_benchmark_have_400_bytes_and_poison_is_told_apart() -> None:
    assert {len(bench_host.event(number)) for number in range(1000)} == {400}
    poison = bench_host.event(0, bench_host.POISON_MARK)
    assert (len(poison), poison[-1:], bench_host.event(1)[-1:]) == (400, b"n", b"s")
