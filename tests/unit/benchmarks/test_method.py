"""The benchmarks' method: noise is said, wrong work is not measured, and the comparison with peers really runs."""

import time

import pytest

from benchmarks.method import Comparison, Variant, WrongCountError, compare, machine_lines
from benchmarks.plots import bar_chart


def test_wrong_count_ends_the_benchmark() -> None:
    variants = {"right": Variant(lambda: 10, 10), "wrong": Variant(lambda: 9, 10)}
    with pytest.raises(WrongCountError, match="wrong: 9 events came out, 10 is right"):
        compare(variants, events=10, control="right", rounds=1)


def test_control_that_differs_is_said_on_the_result() -> None:
    calm, loud = Comparison(1, (1.0, 1.04), {}), Comparison(1, (1.2, 1.0), {})
    assert calm.noise_line() == "A/A control: 4.0% apart"
    assert loud.noise_line().startswith("A/A control: 20.0% apart; MORE THAN 5 %")


def test_time_of_a_variant_with_fewer_events_is_scaled() -> None:
    def nap() -> int:
        time.sleep(0.01)
        return 1

    result = compare({"all": Variant(nap, 1), "tenth": Variant(nap, 1, share=0.1)}, events=10, control="all", rounds=2)
    # A nap is never shorter than asked for, whatever else the machine does.
    assert len(result.seconds["tenth"]) == 2
    assert min(result.seconds["tenth"]) >= 0.1


def test_machine_and_versions_are_named() -> None:
    text = "\n".join(machine_lines())
    assert "cores" in text
    assert "wasmtime 50." in text


def test_chart_escapes_labels_and_turns_logarithmic() -> None:
    chart = bar_chart("a < b", "events", [("ours", 1000, "1000"), ("<other>", 1, "1")])
    assert "a &lt; b" in chart
    assert "&lt;other&gt;" in chart
    assert "logarithmic" in chart


@pytest.mark.parametrize("transform", ["pass-through", "redaction", "hmac", "filter", "explode"])
def test_all_hosts_do_the_same_work(transform: str) -> None:
    pytest.importorskip("extism")
    from benchmarks.bench_peers import measure

    result = measure(transform, 470, rounds=1, batch_bytes=20_000)
    assert len(result.seconds) == 6
