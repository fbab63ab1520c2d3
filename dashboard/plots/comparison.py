"""Two decision functions side by side as tables: in which settings they differ, and what they cost."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from dashboard.domain.units import format_percent
from dashboard.plots.legend import table, unmeasured_note


def settings_table(rows: Sequence[tuple[str, str, str]]) -> str:
    """Write the settings that differ.

    Parameters
    ----------
    rows
        Title, value of A, value of B.
    """
    if not rows:
        return "<p>A and B are the same: choose another tree for one of them.</p>"
    cells = [[escape(each) for each in row] for row in rows]
    return table("Settings that differ", [("setting", False), ("A", False), ("B", False)], cells)


def figures_table(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Write size and penalty of both, and the difference.

    Parameters
    ----------
    first, second
        Statistics as `dashboard.decisions.function.statistics` gives them.
    """
    rows = [[name, f"{a:,}", f"{b:,}", _gap(b - a)] for name, a, b in _sizes(first, second)]
    for name in ("mean", "median", "max"):
        a, b = first["penalty"][name], second["penalty"][name]
        both = a is not None and b is not None
        gap = _gap(b - a, ".2f") if both else "–"
        rows.append([f"penalty, {name}", *("–" if each is None else format_percent(each) for each in (a, b)), gap])
    a, b = first["penalty"]["unmeasured"], second["penalty"]["unmeasured"]
    rows.append(["cells with an unmeasured choice", f"{a:,}", f"{b:,}", _gap(b - a)])
    return table("Figures", [("", False), ("A", True), ("B", True), ("B − A", True)], rows) + unmeasured_note(a + b)


def approaches_table(approaches: pd.DataFrame) -> str:
    """Write the comparison of approaches, as section 6.5 of the dissertation does, one line for each.

    Parameters
    ----------
    approaches
        As `dashboard.decisions.judged.compare.compare` gives it, with ``held_out`` (percent) and ``told`` (why there
        is no tree).
    """
    heads = [("approach", False), ("leaves", True), ("depth", True), ("expected depth", True), ("function size", True)]
    heads += [(f"penalty, {name}", True) for name in ("mean", "95th percentile", "max")]
    heads += [("wrong cells", True), ("held out, mean", True)]
    rows = []
    for name, row in approaches.iterrows():
        if row["told"]:
            rows.append([escape(str(name)), *["–"] * 8, escape(row["told"])])
            continue
        sizes = [
            f"{row['leaves']:,.0f}",
            f"{row['depth']:,.0f}",
            f"{row['expected_depth']:.2f}",
            f"{row['tests']:,.0f}",
        ]
        penalties = [format_percent(row[f"penalty_{key}"]) for key in ("mean", "p95", "max")]
        wrong = f"{row['wrong']:,.0f} of {row['cells']:,.0f}"
        rows.append([escape(str(name)), *sizes, *penalties, wrong, format_percent(row["held_out"])])
    note = unmeasured_note(approaches["unmeasured"].fillna(0).sum())
    return table("Comparison of approaches, each with its options as they are set", heads, rows) + note


def _sizes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    pairs = [(name, first[name], second[name]) for name in ("leaves", "nodes")]
    return [*pairs, ("depth", first["depth"]["max"], second["depth"]["max"])]


def _gap(value: float, digits: str = "") -> str:
    return f"{value:+,{digits}}".replace("-", "−") if value else "0"
