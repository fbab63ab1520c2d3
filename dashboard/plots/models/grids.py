"""Grids against the original: bars of least, average and most improvement, and a map over sizes (K, Figures 7–16)."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import holoviews as hv
import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_bytes, format_percent, format_time
from dashboard.plots.backend import LETTERS
from dashboard.plots.decision_map import INK
from dashboard.plots.difference import COLORS
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.legend import swatch, table
from dashboard.plots.penalty import penalty_classes

BARS_HEIGHT, ROW_HEIGHT, AROUND = 330, 30, 135
#: Upper ends of the classes of gains, percent; the last is open. Orange loses, blue gains.
BOUNDS = (-50.0, -10.0, -2.0, 2.0, 10.0, 50.0)
GAIN_COLORS = COLORS[6::-1]
LABELS = (
    *("50 % and more slower", "10 – 50 % slower", "2 – 10 % slower", "within 2 %"),
    *("2 – 10 % less time", "10 – 50 % less time", "50 % and more less time"),
)
#: Percents below this are drawn at it: a grid that takes ten times as long would hide all others.
LOWEST = -100.0
_BAR, _LINE, _GREY = "#2f8fd8", "#e06c1a", "#9a9a9a"


def gain_bars(rows: Sequence[Mapping[str, Any]], title: str) -> hv.Overlay:
    """Draw the average improvement of each grid as a bar, and the least and the most as a line over it.

    Parameters
    ----------
    rows
        As `dashboard.models.grids.summary` gives them, of one communicator size and inner method.
    """
    at = np.arange(len(rows), dtype=float)
    names = [_name(row["layout"]) for row in rows]
    low, mean, high = (np.array([row[key] for row in rows]) for key in ("minimum", "average", "maximum"))
    floor, middle, top = (np.maximum(each, LOWEST) for each in (low, mean, high))
    x, y = hv.Dimension("grid_bar", label="grid"), hv.Dimension("grid_gain", label="improvement [%]")
    texts = [[_percent(value) for value in each] for each in (low, mean, high)]
    ends = [x, y, hv.Dimension("bar_to"), hv.Dimension("gain_to")]
    bars = hv.Rectangles(
        (at - 0.32, np.minimum(middle, 0), at + 0.32, np.maximum(middle, 0), names, *texts),
        ends,
        ["name", "least", "average", "most"],
    ).opts(
        color=_BAR,
        line_alpha=0,
        **tooltips([("", "@name"), ("least", "@least"), ("average", "@average"), ("most", "@most")]),
    )
    lines = hv.Segments((at, floor, at, top), ends).opts(color=_LINE, line_width=3, backend="bokeh")
    caps = hv.Segments(
        (np.tile(at - 0.12, 2), np.concatenate([floor, top]), np.tile(at + 0.12, 2), np.concatenate([floor, top])), ends
    ).opts(color=_LINE, line_width=2, backend="bokeh")
    ground = hv.HLine(0.0).opts(color=_GREY, line_width=1.5, backend="bokeh")
    span = max(float(top.max(initial=0)) - float(floor.min(initial=0)), 1.0)
    return hv.Overlay([bars, ground, lines, caps]).opts(
        **framed(title, BARS_HEIGHT, grows=False),
        xlabel="grid",
        ylabel=y.label,
        xticks=list(zip(at.tolist(), names, strict=True)),
        xrotation=45 if len(rows) > 12 else 0,
        xlim=(-0.7, len(rows) - 0.3),
        ylim=(min(float(floor.min(initial=0)), 0) - 0.06 * span, max(float(top.max(initial=0)), 0) + 0.06 * span),
    )


def gain_map(
    gains: FloatArray,
    names: Sequence[str],
    sizes: Sequence[int],
    selected: Sequence[int],
    within: tuple[int, int],
    title: str,
) -> hv.Overlay:
    """Draw the improvement of each grid at each message size.

    Parameters
    ----------
    gains
        Percent, shape (grids, sizes); NaN where nothing was measured.
    names
        Of the grids.
    sizes
        Bytes.
    selected
        The grid that is selected at each size; -1: the original.
    within
        First and last size of the interval that the bars are of.
    """
    rows, columns = (each.ravel() for each in np.indices(gains.shape))
    values = gains.ravel()
    classes = penalty_classes(values, BOUNDS)
    there = classes >= 0
    x, y = hv.Dimension("gain_size", label="message size"), hv.Dimension("gain_grid", label="grid")
    ends = [x, y, hv.Dimension("gain_size_to"), hv.Dimension("gain_grid_to")]
    left, low = columns[there] - 0.5, rows[there] - 0.5
    boxes = hv.Rectangles(
        (
            *(left, low, left + 1, low + 1),
            [GAIN_COLORS[each] for each in classes[there]],
            [names[row] for row in rows[there]],
            [format_bytes(sizes[column]) for column in columns[there]],
            [_percent(value) for value in values[there]],
        ),
        ends,
        ["color", "name", "size", "gain"],
    ).opts(
        color="color",
        line_color="#ffffff",
        line_alpha=0.6,
        **tooltips([("", "@name, @size"), ("improvement", "@gain")]),
    )
    figures = hv.Labels(
        (columns[there], rows[there], [_figure(value) for value in values[there]]), [x, y], "figure"
    ).opts(text_color=INK, text_font_size="9px", **LETTERS)
    taken = [(place, row) for place, row in enumerate(selected) if row >= 0]
    marks = hv.Rectangles([(place - 0.5, row - 0.5, place + 0.5, row + 0.5) for place, row in taken], ends).opts(
        fill_alpha=0, line_color=INK, line_width=2.5, backend="bokeh"
    )
    band = hv.VSpans([(within[0] - 0.5, within[1] + 0.5)]).opts(
        fill_alpha=0, line_color=_LINE, line_width=2, line_dash="dashed", backend="bokeh"
    )
    count = len(names)
    return hv.Overlay([boxes, figures, marks, band]).opts(
        **framed(title, AROUND + ROW_HEIGHT * count, grows=False),
        xlabel=x.label,
        ylabel=y.label,
        xticks=[(place, format_bytes(size)) for place, size in enumerate(sizes)],
        yticks=list(enumerate(names)),
        xrotation=45 if len(sizes) > 8 else 0,
        xlim=(-0.5, len(sizes) - 0.5),
        ylim=(-0.5, count - 0.5),
    )


def gain_legend(gains: FloatArray) -> str:
    """Write the classes that occur, with their cells."""
    classes = penalty_classes(gains, BOUNDS)
    rows = [
        [f"{swatch(color)} {label}", f"{int((classes == place).sum()):,}"]
        for place, (color, label) in enumerate(zip(GAIN_COLORS, LABELS, strict=True))
        if (classes == place).any()
    ]
    return table("Improvement at each size; framed is what is selected", [("class", False), ("cells", True)], rows)


def gain_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write least, average and most of each grid, and of three phases the improvement over two."""
    heads = [("grid", False), ("least", True), ("average", True), ("most", True)]
    deep = any("over_two_phases" in row for row in rows)
    heads += [("over two phases", True)] * deep
    ordered = sorted(rows, key=lambda row: -row["average"])
    figures = [
        [
            escape(_name(row["layout"])),
            *(_percent(row[key]) for key in ("minimum", "average", "maximum")),
            *[_percent(further) if (further := row.get("over_two_phases")) is not None else ""] * deep,
        ]
        for row in ordered
    ]
    return table("Improvement over the original within the interval", heads, figures)


def _figure(value: float) -> str:
    return f"{round(value):+d}".replace("-", "−") if round(value) else "0"


def prediction_table(
    title: str, rows: Sequence[tuple[str, float | None, float | None, float | None, Sequence[float | None]]]
) -> str:
    """Write predictions of grids.

    Parameters
    ----------
    rows
        Grid, seconds predicted and measured, deviation of the grid and of each phase alone in percent; None: not known.
    """
    heads = [("grid", False), ("predicted", True), ("measured", True), ("deviation", True), ("phases alone", True)]
    figures = [
        [
            escape(name),
            *("" if seconds is None else format_time(seconds) for seconds in (predicted, measured)),
            "" if total is None else _percent(total),
            ", ".join("–" if each is None else _percent(each) for each in phases),
        ]
        for name, predicted, measured, total, phases in rows
    ]
    return table(title, heads, figures)


def _percent(value: float) -> str:
    return format_percent(value).replace("-", "−")


def _name(layout: Sequence[int]) -> str:
    return "x".join(map(str, layout))
