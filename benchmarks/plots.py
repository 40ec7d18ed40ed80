"""Draw the plots of docs/performance.md from figures that the benchmarks wrote; SVG by hand, no library needed.

    python -m benchmarks.plots --figures benchmarks/figures --out docs/plots

Bars are logarithmic where values span more than a factor of thirty. Each plot says which file it was drawn from.
"""

import argparse
import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LABEL, BAR, GAP, TOP = 760, 250, 18, 6, 56
LOGARITHMIC_FROM = 30
OURS_COLOUR, OTHER_COLOUR = "#1f6feb", "#9aa4b2"
Bars = Sequence[tuple[str, float, str]]
"""Label, value, and the text behind the bar."""


def bar_chart(title: str, unit: str, bars: Bars) -> str:
    """A chart of horizontal bars; those whose label says "ours" or "wasm_host" are coloured."""
    largest, smallest = max(value for _, value, _ in bars), min(value for _, value, _ in bars)
    is_logarithmic = smallest > 0 and largest / smallest > LOGARITHMIC_FROM
    room = WIDTH - LABEL - 110

    def length(value: float) -> float:
        if not is_logarithmic:
            return room * value / largest
        return room * (0.05 + 0.95 * math.log(value / smallest) / math.log(largest / smallest))

    height = TOP + len(bars) * (BAR + GAP) + 8
    scale = f"{unit}, logarithmic" if is_logarithmic else unit
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(title)}">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="8" y="20" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="8" y="40" fill="#555">{escape(scale)}</text>',
    ]
    for number, (label, value, text) in enumerate(bars):
        y = TOP + number * (BAR + GAP)
        colour = OURS_COLOUR if "ours" in label or "wasm_host" in label else OTHER_COLOUR
        parts += [
            f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{LABEL}" y="{y}" width="{length(value):.1f}" height="{BAR}" fill="{colour}"/>',
            f'<text x="{LABEL + length(value) + 6:.1f}" y="{y + 13}">{escape(text)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def plots_of(figures: Path) -> dict[str, str]:
    """All plots whose figures are there, by file name."""
    found: dict[str, str] = {}
    peers = _read(figures / "peers.json")
    if peers:
        for transform in ("pass-through", "redaction"):
            result = next(r for r in peers["results"] if r["transform"] == transform and r["size"] == 470)
            bars = [(name, 1e6 / micros, f"{micros:.2f} µs") for name, micros in result["micros"].items()]
            title = f"One core, {transform}, events of 470 bytes"
            found[f"host-{transform}.svg"] = bar_chart(title, "events in a second (µs for one)", bars)
    spark = _read(figures / "spark.json")
    for part, title in (
        ("masking", "Spark, local[2]: nothing, pass-through and redaction"),
        ("sinks", "Spark, local[2], Parquet to Parquet"),
        ("tenants", "Spark: redaction, tenants with modules of their own"),
        ("batches", "Spark: rows in an Arrow batch"),
    ):
        result = spark.get("parts", {}).get(part)
        if result:
            bars = [
                (name, result["events"] / s, f"{result['events'] / s:,.0f}") for name, s in result["seconds"].items()
            ]
            found[f"spark-{part}.svg"] = bar_chart(title, "events in a second", bars)
    cold = _read(figures / "cold_start.json")
    if cold:
        bars = []
        for language, values in cold["languages"].items():
            bars.append((f"{language}, empty cache", values["empty"], f"{values['empty']:.0f} ms"))
            bars.append((f"{language}, filled cache", values["filled"], f"{values['filled']:.0f} ms"))
        found["cold-start.svg"] = bar_chart("From a loaded interpreter to the first event out", "milliseconds", bars)
    return found


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def main() -> None:
    """Draw everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, default=Path("benchmarks/figures"))
    parser.add_argument("--out", type=Path, default=Path("docs/plots"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in plots_of(options.figures).items():
        (options.out / name).write_text(text, encoding="utf-8")
        print(options.out / name)


if __name__ == "__main__":
    main()
