"""A report as lines of text."""

from rich.console import Console
from rich.text import Text

from wasm_host.cli.console import mark
from wasm_host.harness.difference import show_event
from wasm_host.harness.report import Check, Cost, Finding, Report, Section
from wasm_host.report.figures import short_bytes, short_count, short_seconds

_MAX_EVENT_CHARACTERS = 1_500


def print_report(report: Report, console: Console, *, is_verbose: bool = False) -> None:
    """Print what was found: one line for each section, everything about what failed."""
    module = report.module
    console.print(
        Text.assemble(
            (module.name, "bold"), f"  {module.digest[:12]}  {module.size_bytes:,} bytes  {module.dialect or ''}"
        )
    )
    for section in report.sections:
        _print_section(section, report.cost, console, is_verbose=is_verbose)
    failed = [section.name for section in report.sections if section.status == "fail"]
    made = sum(section.count for section in report.sections)
    if failed:
        line = Text.assemble(("FAIL", "bold red"), f"  in {', '.join(failed)}")
    else:
        line = Text.assemble(("PASS", "bold green"), f"  {made} checks")
    line.append(f"  ({report.seconds:.1f} s, seed {report.seed}, {report.examples} generated events)")
    console.print(line)


def _print_section(section: Section, cost: Cost | None, console: Console, *, is_verbose: bool) -> None:
    line = Text.assemble(mark(console, section.status), " ", (f"{section.name:<11}", "bold"))
    if section.status == "skip":
        line.append(f"not run: {section.checks[0].detail if section.checks else 'nothing to do'}", style="dim")
        console.print(line)
        return
    line.append(f"{section.count:>3} checks  {short_seconds(section.seconds):>8}")
    if section.name == "cost" and cost is not None:
        line.append(f"  {cost_line(cost)}")
    console.print(line)
    for check in section.checks:
        if check.status == "fail" or is_verbose:
            _print_check(check, console)


def cost_line(cost: Cost) -> str:
    """The cost in one line."""
    share = 100 * cost.fuel.largest / cost.fuel_limit
    return (
        f"{short_count(cost.events_per_second)} events/s; fuel an event: median {short_count(cost.fuel.median)}, "
        f"p99 {short_count(cost.fuel.p99)}, max {short_count(cost.fuel.largest)} ({share:.2g} % of the limit); "
        f"memory {short_bytes(cost.memory_bytes)}; output {cost.growth.median:.2f}x the input; "
        f"compile {short_seconds(cost.compile_seconds)}, instance {short_seconds(cost.instance_seconds)}"
    )


def _print_check(check: Check, console: Console) -> None:
    line = Text.assemble("    ", mark(console, check.status), " ", check.name)
    if check.count is not None:
        line.append(f" ({check.count:,})")
    line.append(f": {check.detail}" if check.detail else "")
    if check.spec:
        line.append(f"  [{check.spec}]", style="dim")
    console.print(line)
    if check.finding is not None:
        _print_finding(check.finding, console)


def _print_finding(finding: Finding, console: Console) -> None:
    for text in finding.explanation:
        console.print(Text(f"        {text}"))
    shown = show_event(finding.event)
    if len(shown) > _MAX_EVENT_CHARACTERS:
        shown = f"{shown[:_MAX_EVENT_CHARACTERS]}…"
    console.print(Text(f"        event ({len(finding.event):,} bytes): {shown}"))
    for difference in finding.differences:
        console.print(Text(f"        {difference.path}"))
        console.print(Text(f"          expected  {_or_absent(difference.expected)}", style="green"))
        console.print(Text(f"          seen      {_or_absent(difference.seen)}", style="red"))
    if finding.saved_as:
        console.print(Text(f"        saved as {finding.saved_as}; show it again with --cases {finding.saved_as}"))


def _or_absent(value: str | None) -> str:
    return "(not there)" if value is None else value
