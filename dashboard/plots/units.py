"""How sizes, times and percentages are written.

One rule everywhere: a space between a number and its unit, the percent sign among them, and a comma after
each three digits of a whole number (``1,448 B``, ``12.5 %``). `dashboard.commands.text` keeps it on the command line.
"""

from __future__ import annotations

import math

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def format_bytes(size: float) -> str:
    """Write a size in bytes with its binary unit: ``1 B``, ``4 KiB``, ``1.5 MiB``.

    A size that no unit shows exactly with two decimals stays in bytes, since measured sizes such
    as 1,448 B (one Ethernet payload) are known by their number; from 1 MiB on it is rounded.
    """
    if not math.isfinite(size):
        return "any size" if size > 0 else "0 B"
    value, unit = float(size), 0
    while abs(value) >= 1024 and unit < len(_BINARY) - 1:
        value /= 1024
        unit += 1
    if unit == 1 and not (value * 4).is_integer():
        return f"{size:,g} B" if size < 100_000 else f"{value:.2f} KiB"
    return f"{value:,.2f}".rstrip("0").rstrip(".") + f" {_BINARY[unit]}"


def format_time(seconds: float) -> str:
    """Write a time in seconds with four digits and its unit: ``104.2 µs``, ``1.630 ms``."""
    if not math.isfinite(seconds):
        return "not measured"
    if seconds == 0:
        return "0 s"
    factor, unit = next((pair for pair in _TIMES if abs(seconds) >= pair[0]), _TIMES[-1])
    value = seconds / factor
    digits = 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1
    return f"{value:,.{digits}f} {unit}"


def format_percent(value: float) -> str:
    """Write a percentage: ``0 %``, ``4.31 %``, ``176.8 %``; a missing one is ``not measured``."""
    if not math.isfinite(value):
        return "not measured"
    if value == 0:
        return "0 %"
    return f"{value:,.2f} %" if abs(value) < 100 else f"{value:,.1f} %"


def format_share(share: float) -> str:
    """Write a share of one as a percentage: ``50 %``, ``8.3 %``; a missing one is ``not measured``."""
    return f"{100 * share:,.1f}".removesuffix(".0") + " %" if math.isfinite(share) else "not measured"


def format_count(value: int, one: str, many: str | None = None) -> str:
    """Write a number of things: ``1 process``, ``8,192 processes``."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"
