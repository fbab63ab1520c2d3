"""What a method counts at a size where it was not measured and others were: one rule, by which all trees are judged."""

from collections.abc import Sequence

from dashboard.domain.units import format_count, format_names

#: Points that a penalty grows by for each doubling of a size that it is carried over. Of methods that cost at most 5 %
#: at a size of fast-ethernet-16 the mean penalty 1 to 6 doublings away is higher by 9, 19, 33, 44, 54 and 68 points; on
#: MareNostrum 5 and Fugaku (PICO's results) it is about as much.
DOUBLING = 10.0

#: The rule, to be put beside the figures that it made.
RULE = (
    "where a method was not measured it counts as its sizes around tell, never as faster than the fastest one measured "
    "there; beyond its sizes as at the nearest one of them, relative to the fastest, and "
    f"{DOUBLING:g} points more for each doubling between; cells whose method the results do not have at all are left "
    "out"
)
#: Points that a method which was measured nowhere counts above the slowest one.
UNKNOWN = 100.0


def absent(name: str, labels: Sequence[str]) -> str:
    """Say which methods a decision takes that the results do not have."""
    return (
        f"{name}: these results do not have {format_names(labels)}; cells where it takes them have no penalty and are "
        "left out"
    )


def unmeasured(cells: int) -> str:
    """How many cells have a chosen method that was not measured there, and what these count."""
    return f"{format_count(cells, 'cell')} whose chosen method was not measured there" + (f"; {RULE}" if cells else "")
