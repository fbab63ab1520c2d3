"""Statistics of a decision function as a table, as in Tables 6.4 and 6.5 of the dissertation."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from dashboard.plots.units import format_percent


def statistics_table(statistics: Mapping[str, Any], lines: int | None) -> str:
    """Write the statistics of a decision function.

    Parameters
    ----------
    statistics
        As `dashboard.decisions.statistics` gives them.
    lines
        Lines of generated source; None while not known.
    """
    depth, penalty = statistics["depth"], statistics["penalty"]

    def percent(name: str) -> str:
        return "–" if penalty[name] is None else format_percent(penalty[name])

    def levels(name: str, digits: int) -> str:
        return "–" if depth[name] is None else f"{depth[name]:.{digits}f}"

    groups = [
        ("Tree depth", [("max", levels("max", 0)), ("min", levels("min", 0)), ("mean", levels("mean", 2))]),
        ("", [("tests on the way to a measured size", levels("expected", 2))]),
        ("Penalty", [(name, percent(name)) for name in ("mean", "median", "max", "min")]),
        ("", [("cells without one", f"{penalty['unmeasured']:,}")]),
        ("Size", [("leaves", f"{statistics['leaves']:,}"), ("nodes", f"{statistics['nodes']:,}")]),
        ("", [("lines of source", "…" if lines is None else f"{lines:,}")]),
    ]
    rows = [(title if not at else "", name, value) for title, pairs in groups for at, (name, value) in enumerate(pairs)]
    body = "".join(
        f'<tr><th scope="row">{escape(title)}</th><td>{escape(name)}</td><td class="number">{escape(value)}</td></tr>'
        for title, name, value in rows
    )
    return f"<table><caption>Statistics</caption><tbody>{body}</tbody></table>"
