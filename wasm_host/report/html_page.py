"""A report as one self-contained page: no scripts, no fonts, nothing to fetch; readable on a phone and on paper.

Everything in it that a module or an event said is escaped; the page has a policy that forbids scripts altogether.
"""

from html import escape
from importlib import resources

from wasm_host.harness.difference import show_event
from wasm_host.harness.report import Check, Cost, Finding, Report, Section
from wasm_host.report.charts import histogram
from wasm_host.report.figures import short_bytes, short_count, short_seconds

_SIGNS = {"pass": "✓", "fail": "✗", "skip": "–"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_MAX_EVENT_CHARACTERS = 20_000


def to_html(report: Report) -> str:
    """The whole page."""
    title = f"wasm-host test: {report.module.name}"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{escape(title)}</title><style>{_style()}</style></head><body>",
        _verdict(report),
        *_failures(report),
        "<h2>Sections</h2>",
        *(_section(section) for section in report.sections),
        _cost(report.cost) if report.cost else "",
        _facts(report),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _style() -> str:
    return resources.files("wasm_host.report").joinpath("page.css").read_text(encoding="utf-8")


def _verdict(report: Report) -> str:
    status = "pass" if report.is_passed else "fail"
    failed = [section.name for section in report.sections if section.status == "fail"]
    made = sum(section.count for section in report.sections)
    words = f"failed in {', '.join(failed)}" if failed else f"{made} checks in {len(report.sections)} sections"
    module = report.module
    return (
        f'<main><div class="verdict {status}" id="verdict"><h1>{escape(module.name)}</h1>'
        f"<strong>{status.upper()}</strong> <span>{escape(words)}</span>"
        f'<div class="soft">sha256 <code>{module.digest}</code><br>{module.size_bytes:,} bytes · '
        f"{report.seconds:.1f} s · seed {report.seed} · {report.examples:,} generated events</div></div></main>"
    )


def _failures(report: Report) -> list[str]:
    if report.is_passed:
        return []
    parts = ["<h2>What failed</h2>"]
    for section, check in report.failures:
        spec = f' <span class="soft">[{escape(check.spec)}]</span>' if check.spec else ""
        parts.append(
            f'<div class="finding"><b>{escape(section.name)}: {escape(check.name)}</b>{spec}'
            f"<p>{escape(check.detail)}</p>{_finding(check.finding) if check.finding else ''}</div>"
        )
    return parts


def _finding(finding: Finding) -> str:
    shown = show_event(finding.event)[:_MAX_EVENT_CHARACTERS]
    parts = [f"<p>{escape(line)}</p>" for line in finding.explanation]
    parts.append(
        f'<div class="soft">the event, {len(finding.event):,} bytes</div><pre class="event">{escape(shown)}</pre>'
    )
    if finding.differences:
        rows = "".join(
            f"<tr><td><code>{escape(item.path)}</code></td>"
            f'<td class="expected"><code>{_or_absent(item.expected)}</code></td>'
            f'<td class="seen"><code>{_or_absent(item.seen)}</code></td></tr>'
            for item in finding.differences
        )
        head = "<tr><th>field</th><th>expected</th><th>seen</th></tr>"
        parts.append(f'<div class="scroll"><table class="difference">{head}{rows}</table></div>')
    if finding.saved_as:
        parts.append(f'<div class="soft">saved as <code>{escape(finding.saved_as)}</code></div>')
    return "".join(parts)


def _or_absent(value: str | None) -> str:
    return "(not there)" if value is None else escape(value)


def _section(section: Section) -> str:
    checks = "".join(_check(check) for check in section.checks)
    if section.status == "skip":
        words = f"not run: {section.checks[0].detail if section.checks else 'nothing to do'}"
        body = ""
    else:
        words = f"{section.count} checks · {short_seconds(section.seconds)}"
        is_open = " open" if section.status == "fail" else ""
        body = f'<details{is_open}><summary>every check</summary><ul class="checks">{checks}</ul></details>'
    return (
        f'<section class="part {section.status}" id="{section.name}"><header><span class="sign">'
        f'{_SIGNS[section.status]}</span><b>{section.name}</b><span class="soft">{escape(words)}</span></header>'
        f"{body}</section>"
    )


def _check(check: Check) -> str:
    count = f" ({check.count:,})" if check.count is not None else ""
    detail = f": {check.detail}" if check.detail else ""
    return (
        f'<li class="{check.status}"><span class="sign">{_SIGNS[check.status]}</span> '
        f"{escape(check.name)}{count}{escape(detail)}</li>"
    )


def _cost(cost: Cost) -> str:
    facts = [
        (
            "rate",
            f"{short_count(cost.events_per_second)} events/s, {cost.bytes_per_second / 1e6:,.1f} MB/s on one core",
        ),
        ("fuel an event", f"median {cost.fuel.median:,.0f}, p99 {cost.fuel.p99:,.0f}, max {cost.fuel.largest:,.0f}"),
        (
            "fuel limit",
            f"{cost.fuel_limit:,}; the largest event used {100 * cost.fuel.largest / cost.fuel_limit:.2g} %",
        ),
        ("memory", f"{short_bytes(cost.memory_bytes)} of {short_bytes(cost.memory_limit)}"),
        (
            "cold start",
            f"compile {short_seconds(cost.compile_seconds)}, instance {short_seconds(cost.instance_seconds)}",
        ),
    ]
    fuel = histogram(
        cost.fuel.values, title="Fuel an event", unit="events by fuel", show=short_count, limit=cost.fuel_limit
    )
    growth = histogram(
        cost.growth.values,
        title="Output growth",
        unit="output bytes over input bytes",
        show=lambda value: f"{value:.2f}",
    )
    return f'<h2>Cost</h2>{_list(facts)}<div class="charts">{fuel}{growth}</div>'


def _facts(report: Report) -> str:
    module = report.module
    facts = [
        ("language", module.language or "it does not say"),
        ("contract", module.dialect or "none that this host knows"),
        ("memory", module.memory),
        ("proposals", ", ".join(module.proposals) or "none beyond the first version"),
        ("imports", ", ".join(module.imports) or "none"),
        ("exports", ", ".join(module.exports) or "none"),
        ("made by", ", ".join(f"{name} {number}" for name, number in report.versions.items())),
        ("command", report.command or "as a library"),
    ]
    return f"<h2>Module</h2>{_list(facts)}"


def _list(facts: list[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(value)}</dd>' for name, value in facts)}</dl>"
