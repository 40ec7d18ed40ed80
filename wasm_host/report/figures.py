"""Numbers for people."""


def short_count(value: float) -> str:
    """A count with three significant digits.

    >>> short_count(1_234_567), short_count(950)
    ('1.23 M', '950')
    """
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= limit:
            scaled = value / (1e3 if unit == " k" else limit)
            return f"{scaled:.3g}{unit}"
    return f"{value:,.0f}"


def short_seconds(value: float) -> str:
    """A time with its unit.

    >>> short_seconds(0.00012), short_seconds(2.5)
    ('120 µs', '2.50 s')
    """
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


def short_bytes(value: float) -> str:
    """A size with its unit.

    >>> short_bytes(131072), short_bytes(2_500_000)
    ('128 KiB', '2.4 MiB')
    """
    if value < 1024:
        return f"{value:,.0f} B"
    return f"{value / 1024:.0f} KiB" if value < 1 << 20 else f"{value / (1 << 20):.1f} MiB"
