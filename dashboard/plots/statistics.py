"""Statistics of a decision function as a table, as in Tables 6.4 and 6.5 of the dissertation."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dashboard.domain.held_out import over
from dashboard.domain.units import format_count, format_percent
from dashboard.plots.legend import unmeasured_note


def statistics_table(
    statistics: Mapping[str, Any],
    lines: int | None,
    held_out: Mapping[str, float] | None = None,
    this_map: Mapping[str, float] | None = None,
) -> str:
    """Write the statistics of a decision function.

    Parameters
    ----------
    statistics
        As `dashboard.decisions.function.statistics` gives them.
    lines
        Lines of generated source; None while not known.
    held_out
        ``mean``, ``median``, ``p95`` and ``max`` penalty (percent) at sizes that were not decided on; None while
        not known.
    this_map
        ``mean``, ``median`` and ``max`` penalty (percent) on the map on show; None where the tree decides no other.
    """
    depth, penalty = statistics["depth"], statistics["penalty"]

    def percent(name: str) -> str:
        return "–" if penalty[name] is None else format_percent(penalty[name])

    def levels(name: str, digits: int) -> str:
        return "–" if depth[name] is None else f"{depth[name]:.{digits}f}"

    groups = [
        ("Tree depth", [("max", levels("max", 0)), ("min", levels("min", 0)), ("mean", levels("mean", 2))]),
        ("", [("tests on the way to a measured size", levels("expected", 2))]),
        ("Penalty in sample", [(name, percent(name)) for name in ("mean", "median", "max", "min")]),
        ("", [("cells with an unmeasured choice", f"{penalty['unmeasured']:,}")]),
        ("This map", [(name, format_percent(this_map[name])) for name in _ALL] if this_map else []),
        ("Held out", [(_OUTSIDE[name], format_percent(held_out[name])) for name in _OUTSIDE] if held_out else []),
        ("Size", [("leaves", f"{statistics['leaves']:,}"), ("nodes", f"{statistics['nodes']:,}")]),
        ("", [("lines of source", "…" if lines is None else f"{lines:,}")]),
    ]
    rows = [(title if not at else "", name, value) for title, pairs in groups for at, (name, value) in enumerate(pairs)]
    body = "".join(
        f'<tr><th scope="row">{escape(title)}</th><td class="wraps">{escape(name)}</td>'
        f'<td class="number">{escape(value)}</td></tr>'
        for title, name, value in rows
    )
    note = unmeasured_note(penalty["unmeasured"])
    return f"<table><caption>Statistics</caption><tbody>{body}</tbody></table>{note}"


def held_out_note(scheme: str, folds: int, notes: Sequence[str]) -> str:
    """Write what held-out figures are over: a scheme, in so many folds, and what else is to be known."""
    words = [f"{scheme}, {format_count(folds, 'fold')}", over(scheme), *notes]
    return f"<p>Held out: {escape('; '.join(filter(None, words)))}.</p>"


#: Penalties where the tree had not looked, beside those above.
_ALL = ("mean", "median", "max")
_OUTSIDE = {"mean": "mean", "median": "median", "p95": "95th percentile", "max": "max"}
