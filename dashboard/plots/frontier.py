"""Frontier charts: what each size of tree costs, families told apart by marker and colour, dominated points fainter."""

from collections.abc import Mapping
from html import escape
from itertools import cycle
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.frontier import listed
from dashboard.domain.arrays import FloatArray
from dashboard.domain.held_out import over
from dashboard.domain.units import format_percent
from dashboard.plots.decision_map import MARK
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.legend import table

HEIGHT = 440
#: Penalties below this, in percent, are drawn at it: 0 has no place on a logarithmic axis.
FLOOR = 0.01
#: Bokeh marker, the sign that stands for it in text, and a colour that shows on light and dark ground.
LOOKS = (
    ("circle", "●", "#2f8fd8"),
    ("square", "■", "#e06c1a"),
    ("triangle", "▲", "#1a9e62"),
    ("diamond", "◆", "#c2479c"),
    ("inverted_triangle", "▼", "#8f6fe0"),
    ("star", "★", "#b8860b"),
    ("hex", "⬢", "#d03a3a"),
    ("square_dot", "▣", "#7a8b1f"),
    ("circle_dot", "◉", "#17949b"),
    ("diamond_dot", "◈", "#a0623a"),
    ("triangle_dot", "◬", "#5b6fd6"),
    ("plus", "✚", "#c25b7a"),
)
GREY = "#9a9a9a"
#: Around the point that is recommended.
ADVISED = "#1a9e62"
#: What the marks of a chart mean.
MARKS = (
    f'<p><span style="color: {ADVISED}">▢</span> recommended, <span style="color: {MARK}">◯</span> current choice</p>'
)
_X = hv.Dimension("at_leaves", label="leaves")
_Y = hv.Dimension("at_penalty", label="penalty [%]")
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def family_looks() -> dict[str, tuple[str, str, str]]:
    """Marker, sign and colour of each family, the same whatever others a chart has."""
    return dict(zip(FAMILIES, cycle(LOOKS)))


def positions(leaves: Any, values: Any) -> tuple[FloatArray, FloatArray]:
    """Where points lie on the logarithmic axes; NaN stays NaN."""
    penalties = np.maximum(np.asarray(values, dtype=float), FLOOR)
    return np.log2(np.asarray(leaves, dtype=float)), np.log10(penalties)


def front(points: pd.DataFrame, value: str, recommended: int | None = None) -> pd.DataFrame:
    """The points on the frontier by a column, and the row that is recommended: ascending leaves."""
    return points.iloc[listed(points, value, recommended)]


def nearest(points: pd.DataFrame, value: str, x: float, y: float) -> int | None:
    """Row of the point that a tap at a position means; None where there is none near.

    Parameters
    ----------
    points
        ``leaves`` and the column `value`.
    value
        What is drawn upwards.
    x, y
        Position on the axes of the chart.
    """
    at_x, at_y = positions(points["leaves"], points[value])
    known = np.isfinite(at_y)
    if not known.any():
        return None
    # In shares of the chart, which is about as high as it is wide.
    wide, high = (max(np.ptp(at[known]), 0.5) for at in (at_x, at_y))
    distance = np.where(known, np.hypot((at_x - x) / wide, (at_y - y) / high), np.inf)
    row = int(distance.argmin())
    return row if distance[row] <= 0.05 else None


def frontier_chart(
    title: str,
    points: pd.DataFrame,
    value: str,
    titles: Mapping[str, str],
    choice: tuple[float, float] | None,
    recommended: int | None = None,
) -> hv.Overlay:
    """Draw one chart.

    Parameters
    ----------
    points
        As `dashboard.decisions.judged.frontier.Frontier.table`, with the column ``told`` (settings in words).
    value
        Column that is drawn upwards, percent.
    titles
        Families in the order of the legend, with their titles.
    choice
        Leaves and penalty of the current choice; None where unknown.
    recommended
        Row of the point that is recommended; None while there is none.
    """
    looks, best = family_looks(), front(points, value)
    x, y = positions(best["leaves"], best[value])
    layers: list[hv.Element] = [
        hv.Curve((x, y), _X, _Y).opts(color=GREY, line_width=1.5, interpolation="steps-post", backend="bokeh")
    ]
    for name in titles:
        part = points[(points["family"] == name) & points[value].notna()]
        layers.append(_points(part, value, titles[name], looks[name], ~part.index.isin(best.index)))
    marks = [("current choice", "circle", 22, MARK, choice)]
    if recommended is not None:
        at = points.iloc[recommended]
        marks.append(("recommended", "square", 26, ADVISED, (at["leaves"], at[value])))
    for label, marker, size, color, place in marks:
        if place is not None:
            look = {"marker": marker, "size": size, "line_color": color, "fill_alpha": 0.0, "line_width": 3}
            ring = hv.Scatter(positions(*([each] for each in place)), _X, _Y, label=label)
            layers.append(ring.opts(**look, backend="bokeh"))
    return hv.Overlay(layers).opts(**_frame(title, points, value, choice))


def _points(part: pd.DataFrame, value: str, title: str, look: tuple[str, str, str], beaten: Any) -> hv.Scatter:
    marker, _, color = look
    x, y = positions(part["leaves"], part[value])
    columns = {
        _X.name: x,
        _Y.name: y,
        "leaves": part["leaves"].to_numpy(),
        "penalty": [format_percent(each) for each in part[value]],
        "told": part["told"].to_numpy(),
        "alpha": np.where(beaten, 0.45, 1.0),
    }
    return hv.Scatter(columns, _X, [_Y, "leaves", "penalty", "told", "alpha"], label=title).opts(
        marker=marker,
        size=9,
        color=color,
        fill_alpha="alpha",
        line_alpha="alpha",
        **tooltips([("", "@told"), ("leaves", "@leaves"), ("penalty", "@penalty"), ("", "tap to adopt")]),
    )


def _frame(title: str, points: pd.DataFrame, value: str, choice: tuple[float, float] | None) -> dict[str, Any]:
    more = [] if choice is None or not np.isfinite(choice[1]) else [choice]
    leaves = np.array([*points.loc[points[value].notna(), "leaves"], *(each[0] for each in more), 1], dtype=float)
    values = np.array([*points[value].dropna(), *(each[1] for each in more)], dtype=float)
    x, y = positions([leaves.min(), leaves.max()], [values.min(), values.max()])
    powers = range(int(np.ceil(x[1])) + 1)
    high = [tick for tick in _TICKS if np.log10(tick) <= y[1] + 0.3]
    shown = [tick for tick in high if np.log10(tick) >= y[0] - 0.3]
    return framed(
        title,
        HEIGHT,
        xlim=(x[0] - 0.4, x[1] + 0.4),
        ylim=(y[0] - 0.15, y[1] + 0.15),
        xticks=[(float(power), f"{2**power:,}") for power in powers],
        yticks=[(float(np.log10(tick)), f"≤ {tick:g}" if tick == FLOOR else f"{tick:g}") for tick in shown],
    )


def family_table(falls: pd.DataFrame, titles: Mapping[str, str], skipped: Mapping[str, str]) -> str:
    """Write the legend: what each family reaches, and why others were left out.

    Parameters
    ----------
    falls
        As `dashboard.decisions.judged.recommend.falls_below` gives it.
    titles
        Families in the order of the legend, with their titles.
    skipped
        Reason for each family that does not suit.
    """
    looks = family_looks()
    limits = [name for name in falls.columns if name.startswith("below_")]
    heads = [("family", False), *((f"leaves for < {name.removeprefix('below_')} %", True) for name in limits)]
    heads += [("least penalty", True), ("at leaves", True)]
    rows = []
    for row in falls.to_dict("records"):
        name = str(row["family"])
        _, sign, color = looks[name]
        cells = [f'<span class="sign" style="color: {color}">{sign}</span> {escape(titles[name])}']
        cells += ["–" if pd.isna(row[limit]) else f"{row[limit]:,}" for limit in limits]
        cells += [format_percent(row["least"]), "–" if pd.isna(row["least_leaves"]) else f"{row['least_leaves']:,}"]
        rows.append(cells)
    note = "".join(f"<p>{escape(titles.get(name, name))}: {escape(why)}</p>" for name, why in skipped.items())
    return table("Families", heads, rows) + note


def front_table(
    points: pd.DataFrame,
    value: str,
    titles: Mapping[str, str],
    scheme: str | None = None,
    recommended: int | None = None,
) -> str:
    """Write the points that no other one beats, and the one recommended: the chart for those who read.

    Below stands what was left out, if anything.
    """
    best = front(points, value, recommended)
    advised = None if recommended is None else points.index[recommended]
    heads = [("leaves", True), ("tree", False), ("tests on the way", True), ("in sample, mean", True)]
    outside = "held_out_mean" in points and bool(points["held_out_mean"].notna().any())
    heads += [("held out, mean", True)] if outside else []
    rows = []
    for index, row in zip(best.index, best.to_dict("records"), strict=True):
        tree = escape(str(row["told"])) + (" <strong>(recommended)</strong>" if index == advised else "")
        cells = [f"{row['leaves']:,}", tree, f"{row['expected_depth']:.1f}"]
        cells.append(format_percent(row["penalty_mean"]))
        rows.append([*cells, format_percent(row["held_out_mean"])] if outside else cells)
    words = over(scheme)
    return table("On the frontier", heads, rows) + (f"<p>Held out: {words}.</p>" if words else "")
