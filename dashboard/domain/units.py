"""How sizes, times and percentages are written.

One rule everywhere: a space between a number and its unit, the percent sign among them, and a comma after each three
digits of a whole number (``1,448 B``, ``12.5 %``). Pages, plots, reports and commands write them here.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from loaders import sizes

T = TypeVar("T")

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*(s|min|m|h|d|)", re.ASCII)
_CLOCK = re.compile(r"(?:(?P<days>\d{1,2})-)?(?P<first>\d{1,4}):(?P<second>\d{2})(?::(?P<third>\d{2}))?", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
#: Bytes of a size as it is typed; here and in files it is read alike.
parse_size = sizes.parse_size
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def parse_duration(text: str) -> float:
    """Read seconds from ``90``, ``90 s``, ``30 min``, ``2 h``, ``1 d``, ``1:30:00`` or Slurm's ``1-12:00``.

    Raises
    ------
    ValueError
        The text is none of these; the message says how one is written.
    """
    given = text.strip().lower()
    if match := _CLOCK.fullmatch(given):
        # As in Slurm: after days come hours, and two numbers without days are minutes and seconds.
        long = match["days"] is not None or match["third"] is not None
        steps = (3600, 60, 1) if long else (60, 1, 0)
        parts = (int(match[name] or 0) for name in ("first", "second", "third"))
        return 86400.0 * int(match["days"] or 0) + sum(n * step for n, step in zip(parts, steps, strict=True))
    if match := _DURATION.fullmatch(given):
        return float(match[1]) * _SECONDS[match[2]]
    raise ValueError(f"{text!r}: right would be such as 90 s, 30 min, 2 h, 1 d or 1:30:00")


def format_duration(seconds: float) -> str:
    """Write how long something takes, roughly: ``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 120:
        return f"{seconds:.1g} s" if 0 < seconds < 1 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def format_bytes(size: float) -> str:
    """Write a message size with its binary unit, never rounded: ``4 KiB``, ``1.5 MiB``, but ``1,448 B``.

    Measured sizes are known by their numbers (1,448 B is one Ethernet payload): a unit is taken where two decimals say
    the size exactly. A border between two sizes that is no whole number of bytes is rounded to one.
    """
    number, unit = size_parts(size)
    return f"{number} {unit}" if unit else number


def size_parts(size: float) -> tuple[str, str]:
    """Number and unit of `format_bytes`, where a table has them in two lines; without bounds no unit."""
    if not math.isfinite(size):
        return ("any size", "") if size > 0 else ("0", "B")
    for power in range(len(_BINARY) - 1, 0, -1):
        factor = 1024**power
        if size >= factor and size * 100 % factor == 0:
            return f"{size / factor:,.2f}".rstrip("0").rstrip("."), _BINARY[power]
    return (f"{size:,.0f}" if size >= 10 else f"{size:,g}"), "B"


def format_room(size: float) -> str:
    """Write what a file or memory takes, rounded: ``12.4 MiB``."""
    largest = len(_BINARY) - 1
    # A number that is rounded to 1,024 is said by the next unit.
    power = next((power for power in range(largest) if round(size / 1024**power, 1) < 1024), largest)
    return f"{size / 1024**power:,.{1 if power else 0}f} {_BINARY[power]}"


def format_time(seconds: float) -> str:
    """Write a time in seconds with four digits and its unit: ``104.2 µs``, ``1.630 ms``."""
    if not math.isfinite(seconds):
        return "not measured"
    if seconds == 0:
        return "0 s"
    # A number that is rounded to 1,000 is said by the next unit.
    factor, unit = next((pair for pair in _TIMES if round(abs(seconds) / pair[0], 4) >= 1), _TIMES[-1])
    value = seconds / factor
    digits = 3 if abs(value) < 9.9995 else 2 if abs(value) < 99.995 else 1
    return f"{value:,.{digits}f} {unit}"


def format_percent(value: float) -> str:
    """Write a percentage: ``0 %``, ``4.31 %``, ``176.8 %``; a missing one is ``not measured``."""
    if not math.isfinite(value):
        return "not measured"
    if value == 0:
        return "0 %"
    return f"{value:,.2f} %" if abs(value) < 99.995 else f"{value:,.1f} %"


def format_share(share: float) -> str:
    """Write a share of one as a percentage: ``50 %``, ``8.3 %``; a missing one is ``not measured``."""
    return f"{100 * share:,.1f}".removesuffix(".0") + " %" if math.isfinite(share) else "not measured"


def format_gain(percent: float) -> str:
    """Write percent of a time that is saved: ``12.3 % less time``, ``0.4 % more time`` for less than none."""
    return f"{abs(percent):.1f} % {'less' if percent >= 0 else 'more'} time"


def format_gap(points: float) -> str:
    """Write by how much something costs more than another: ``1.20 points more than``, ``as much as``."""
    apart = f"{abs(points):,.2f}"
    return f"{apart} points {'more' if points > 0 else 'less'} than" if float(apart.replace(",", "")) else "as much as"


def format_ratio(value: float) -> str:
    """Write how many times as much something is, with three digits: ``0.00412``, ``1.05``, ``1,240``."""
    digits = 2 - math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 2
    return f"{value:,.{max(digits, 0)}f}"


def format_count(value: int, singular: str, many: str | None = None) -> str:
    """Write a number of things: ``1 process``, ``8,192 processes``."""
    return f"{value:,} {singular if value == 1 else many or singular + 's'}"


def format_range(low: T, high: T, write: Callable[[T], str] = str) -> str:
    """Write the ends of a range: ``2 to 8``, or ``4`` where both are the same."""
    return " to ".join(dict.fromkeys((write(low), write(high))))


def format_ppn(value: object) -> str:
    """Write how many processes each node has: ``1 process per node``, ``1, 2 processes per node``."""
    return f"{value} {'process' if str(value) == '1' else 'processes'} per node"


def format_names(names: Sequence[str], most: int = 10) -> str:
    """Write the first of some names, and how many more there are: ``ring, chain and 22 more``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
