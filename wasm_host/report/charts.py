"""Charts as inline SVG: drawn here, so that a report is one file without scripts, fonts or anything to fetch."""

import math
from collections.abc import Callable, Sequence
from html import escape

# As wide as a phone shows it: what is scaled up stays readable, what is scaled down does not.
_WIDTH, _HEIGHT = 360, 150
_LEFT, _BOTTOM, _TOP = 36, 30, 8
_PLOT_WIDTH = 640
_BINS = 24


def histogram(
    values: Sequence[float], *, title: str, unit: str, show: Callable[[float], str], limit: float | None = None
) -> str:
    """The distribution of a sample, on a logarithmic axis where it spans more than a factor of 30."""
    if not values:
        return f'<p class="empty">{escape(title)}: no values</p>'
    low, high = min(values), max(values)
    is_log = low > 0 and high / low > 30
    edges = _edges(low, high, is_log=is_log)
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[_bin_of(value, edges)] += 1
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}" class="chart">',
        f"<title>{escape(title)}</title>",
    ]
    parts += _bars(counts, edges, show)
    parts += _axis(edges, show, max(counts))
    parts.append("</svg>")
    scale = ", logarithmic axis" if is_log else ""
    note = f"; the limit is {show(limit)}" if limit is not None else ""
    caption = f"{title} ({unit}{scale}{note})"
    return f"<figure>{''.join(parts)}<figcaption>{escape(caption)}</figcaption></figure>"


def bars(rows: Sequence[tuple[str, float, str]], *, title: str) -> str:
    """Horizontal bars: label, value, and the text at the bar's end."""
    largest = max((value for _, value, _ in rows), default=1) or 1
    height = 34 * len(rows) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_PLOT_WIDTH} {height}" font-family="sans-serif">',
        f'<title>{escape(title)}</title><text x="8" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for index, (label, value, text) in enumerate(rows):
        y = 34 + 34 * index
        width = max(2.0, (_PLOT_WIDTH - 330) * value / largest)
        parts.append(f'<text x="8" y="{y + 17}" font-size="13">{escape(label)}</text>')
        parts.append(f'<rect x="150" y="{y}" width="{width:.1f}" height="24" rx="3" fill="#3b6fb5"/>')
        parts.append(f'<text x="{158 + width:.1f}" y="{y + 17}" font-size="13">{escape(text)}</text>')
    return "".join([*parts, "</svg>"])


def _edges(low: float, high: float, *, is_log: bool) -> list[float]:
    if high <= low:
        half = abs(low) * 0.05 or 0.5
        return [low - half, low + half]
    if is_log:
        step = (math.log(high) - math.log(low)) / _BINS
        return [math.exp(math.log(low) + step * index) for index in range(_BINS)] + [high]
    return [low + (high - low) * index / _BINS for index in range(_BINS)] + [high]


def _bin_of(value: float, edges: Sequence[float]) -> int:
    for index in range(len(edges) - 1):
        if value < edges[index + 1]:
            return index
    return len(edges) - 2


def _bars(counts: Sequence[int], edges: Sequence[float], show: Callable[[float], str]) -> list[str]:
    room = _HEIGHT - _BOTTOM - _TOP
    step = (_WIDTH - _LEFT) / len(counts)
    largest = max(counts)
    drawn = []
    for index, count in enumerate(counts):
        if not count:
            continue
        height = max(2.0, room * count / largest)
        about = f"{count} between {show(edges[index])} and {show(edges[index + 1])}"
        drawn.append(
            f'<rect class="bar" x="{_LEFT + index * step + 1:.1f}" y="{_HEIGHT - _BOTTOM - height:.1f}" '
            f'width="{step - 2:.1f}" height="{height:.1f}"><title>{escape(about)}</title></rect>'
        )
    return drawn


def _axis(edges: Sequence[float], show: Callable[[float], str], largest: int) -> list[str]:
    y = _HEIGHT - _BOTTOM
    lines = [f'<line class="axis" x1="{_LEFT}" y1="{y}" x2="{_WIDTH}" y2="{y}"/>']
    lines.append(f'<text class="tick" x="{_LEFT - 6}" y="{_TOP + 10}" text-anchor="end">{largest}</text>')
    lines.append(f'<text class="tick" x="{_LEFT - 6}" y="{y}" text-anchor="end">0</text>')
    marks = {0: "start", len(edges) // 2: "middle", len(edges) - 1: "end"}
    for index, anchor in marks.items():
        x = _LEFT + (_WIDTH - _LEFT) * index / (len(edges) - 1)
        lines.append(
            f'<text class="tick" x="{x:.1f}" y="{y + 20}" text-anchor="{anchor}">{escape(show(edges[index]))}</text>'
        )
    return lines
