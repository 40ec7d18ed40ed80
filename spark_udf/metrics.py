"""Metrics on the driver: what all tasks counted, by tenant and module, as records and as Prometheus text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spark_udf.counters import Counters
from spark_udf.ledger import Key


@dataclass(frozen=True, slots=True)
class ModuleMetrics:
    """What was counted for one module of one tenant.

    Attributes:
        tenant: The tenant, or None for a transform without tenants; "(unknown)" for rows of tenants nobody configured.
        module: The module's SHA-256, or None where no module was reached.
        counters: The sums.
    """

    tenant: str | None
    module: str | None
    counters: Counters


def report(totals: Mapping[Key, Counters]) -> list[ModuleMetrics]:
    """Turn a book's totals into records, sorted by tenant and module."""
    return [ModuleMetrics(tenant or None, module or None, totals[tenant, module]) for tenant, module in sorted(totals)]


_COUNTERS: tuple[tuple[str, str, Callable[[Counters], float]], ...] = (
    ("events_in", "Events given to the module.", lambda counters: counters.events_in),
    ("events_out", "Events the module answered with.", lambda counters: counters.events_out),
    ("events_dropped", "Events the module filtered out.", lambda counters: counters.events_dropped),
    ("fuel", "Fuel used.", lambda counters: counters.fuel),
    ("bytes_in", "Bytes of the events given.", lambda counters: counters.bytes_in),
    ("bytes_out", "Bytes of the events answered.", lambda counters: counters.bytes_out),
    ("guest_seconds", "Wall time inside the sandbox.", lambda counters: counters.guest_seconds),
    ("instances_made", "Instances brought up.", lambda counters: counters.instances_made),
    ("cache_hits", "Batches that found their guest ready.", lambda counters: counters.cache_hits),
    ("cache_misses", "Batches for which a guest was loaded.", lambda counters: counters.cache_misses),
    ("log_lines_lost", "Guest log lines that were left out.", lambda counters: counters.log_lines_lost),
    ("shadow_compared", "Events also run natively.", lambda counters: counters.shadow_compared),
    ("shadow_differences", "Events that came out differently.", lambda counters: counters.shadow_differences),
)


def to_prometheus(records: list[ModuleMetrics]) -> str:
    """Write the records in the text format that Prometheus scrapes."""
    lines: list[str] = []
    for name, help_text, value_of in _COUNTERS:
        samples = [(_labels(record), value_of(record.counters)) for record in records]
        lines += _family(f"wasm_host_{name}_total", help_text, samples)
    failed = [
        (_labels(record, code=code), count)
        for record in records
        for code, count in sorted(record.counters.failed_by_code.items())
    ]
    lines += _family("wasm_host_events_failed_total", "Events that failed, by code.", failed)
    recorded = [
        (_labels(record, name=name), value)
        for record in records
        for name, value in sorted(record.counters.guest_metrics.items())
    ]
    lines += _family("wasm_host_guest_metric", "What guests recorded, summed.", recorded, kind="gauge")
    return "\n".join(lines) + "\n"


def _family(name: str, help_text: str, samples: Sequence[tuple[str, float]], *, kind: str = "counter") -> list[str]:
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
    return lines + [f"{name}{{{labels}}} {value}" for labels, value in samples]


def _labels(record: ModuleMetrics, **more: str) -> str:
    labels = {"tenant": record.tenant or "", "module": (record.module or "")[:12], **more}
    return ",".join(f'{name}="{_escape(value)}"' for name, value in labels.items())


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
