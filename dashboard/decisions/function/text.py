"""Decision trees drawn as text."""

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.decisions.function.attributes import ATTRIBUTES, MESSAGE_SIZE
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import plain_number
from dashboard.domain.units import format_bytes

#: Cases of each leaf, by its position among the nodes, and how many of them have another method.
Counts = Mapping[int, tuple[int, int]]
_YES_NO = ("even", "power_of_two")
_BYTES = (MESSAGE_SIZE, "total_size", "data_per_node")
_TITLES = {"comm_size": "processes", MESSAGE_SIZE: "message", "ppn": "per node"}


def draw(
    tree: FlatTree,
    labels: Sequence[str],
    *,
    categories: Mapping[str, Sequence[str]] | None = None,
    counts: Counts | None = None,
) -> str:
    """Draw `tree` with one line per outcome of each test.

    Parameters
    ----------
    labels
        What to write for each method.
    categories
        For attributes of named values, the names by position.
    counts
        Written behind each leaf, as C4.5 does (dissertation, Figure 5.5): ``(cases/errors)``, or ``(cases)``.
    """
    known = categories or {}

    def leaf(place: int, method: int) -> list[str]:
        return [f": {labels[method]}{_counted(counts, place)}"]

    def split(_: int, tests: list[tuple[int, float]], below: list[list[str]]) -> list[str]:
        """What stands behind the outcome that leads here, and the lines below it."""
        lines = [":"]
        for child, (first, *others) in enumerate(below):
            outcomes = (
                outcome(name, cut, holds=not child >> bit & 1, names=known.get(name, ()))
                for bit, (name, cut) in enumerate((tree.attributes[position], cut) for position, cut in tests)
            )
            lines += [", ".join(outcomes) + first, *(f"|   {line}" for line in others)]
        return lines

    first, *others = tree.folded(leaf, split, tree.cuts)
    return "\n".join(others or [f"always{first}"])


def _counted(counts: Counts | None, place: int) -> str:
    if counts is None:
        return ""
    cases, errors = counts.get(place, (0, 0))
    return f" ({cases}/{errors})" if errors else f" ({cases})"


def outcome(name: str, cut: float, *, holds: bool, names: Sequence[str] = ()) -> str:
    """Say what is known after a test: a bound, or of named values which of them are left."""
    if not names:
        return f"{name} {'<=' if holds else '>'} {plain_number(cut)}"
    chosen = [text for place, text in enumerate(names) if (place <= cut) == holds]
    return f"{name} is {' or '.join(chosen) or 'none'}"


def condition(name: str, cut: float, *, above: bool, names: Sequence[str] = ()) -> str:
    """Write one outcome of a test as people say it: ``message ≤ 4 KiB``, ``even``, ``collective is bcast``."""
    title = _TITLES.get(name, name.replace("_", " "))
    if name in _YES_NO and 0 <= cut < 1:
        return title if above else f"not {title}"
    if names:
        return f"{title} is {' or '.join(text for code, text in enumerate(names) if (code > cut) == above) or 'none'}"
    return f"{title} {'>' if above else '≤'} {_size(name, cut)}"


def region(bounds: Mapping[str, tuple[float, float]], categories: Mapping[str, Sequence[str]] | None = None) -> str:
    """Write where a rule holds as people say it: ``8 < processes ≤ 16, message > 4 KiB``; ``always`` without bounds."""
    order = list(ATTRIBUTES)
    parts = []
    for name in sorted(bounds, key=lambda name: order.index(name) if name in order else -1):
        names, (low, high) = (categories or {}).get(name, ()), bounds[name]
        if names:
            left = " or ".join(text for code, text in enumerate(names) if low < code <= high)
            parts.append(f"{name} is {left or 'none'}")
        elif name not in _YES_NO and np.isfinite([low, high]).all():
            parts.append(f"{_size(name, low)} < {condition(name, high, above=False)}")
        else:
            # A yes/no attribute is bound on both sides by itself; what was tested is between no and yes.
            cuts = [cut for cut in (low, high) if np.isfinite(cut) and (name not in _YES_NO or 0 <= cut < 1)]
            parts += [condition(name, cut, above=cut == low) for cut in cuts]
    return ", ".join(parts) or "always"


def _size(name: str, cut: float) -> str:
    return format_bytes(cut) if name in _BYTES else f"{cut:,.0f}"
