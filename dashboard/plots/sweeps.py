"""Sweeps over depth and threshold: what a smaller tree costs (Figures 6.10 and 6.11 of the dissertation)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.models import DataRange1d

from dashboard.decisions.grown.family import Family
from dashboard.domain.options import Option
from dashboard.plots.decision_map import MARK
from dashboard.plots.frame import framed
from dashboard.plots.frontier import LOOKS
from dashboard.plots.live import LiveSources

HEIGHT = 300
_PENALTY = hv.Dimension("penalty_mean", label="mean penalty [%]")
_DEPTH = hv.Dimension("depth_mean", label="mean depth [levels]")
_LIMIT = hv.Dimension("max_depth", label="maximum depth [levels]")
_THRESHOLD = hv.Dimension("threshold", label="accuracy threshold")
# Told apart by marker and dash as well as by colour; mid-tones, to be seen on light and dark ground.
_LOOKS = {
    "depths": {"color": "#e06c1a", "marker": "circle", "dash": "solid", "label": "maximum depth"},
    "thresholds": {"color": "#2f8fd8", "marker": "square", "dash": "dashed", "label": "accuracy threshold"},
}


@dataclass(frozen=True)
class Chart:
    """What one chart of a sweep shows."""

    x: hv.Dimension
    y: hv.Dimension
    #: Which sweeps are drawn, ``depths`` or ``thresholds``.
    sweeps: tuple[str, ...]
    #: Of the chart; ``{depth}`` and ``{threshold}`` say what the sweep holds fixed.
    title: str


CHARTS: Mapping[str, Chart] = {
    "depth": Chart(_LIMIT, _PENALTY, ("depths",), "Penalty over depth, {threshold}"),
    "threshold penalty": Chart(_THRESHOLD, _PENALTY, ("thresholds",), "Penalty over threshold, {depth}"),
    "threshold depth": Chart(_THRESHOLD, _DEPTH, ("thresholds",), "Mean depth over threshold, {depth}"),
    "constraint": Chart(_DEPTH, _PENALTY, ("depths", "thresholds"), "Both ways to limit a tree"),
}


def sweep_columns(
    name: str, sweeps: Mapping[str, pd.DataFrame], choice: Mapping[str, float]
) -> dict[str, dict[str, np.ndarray]]:
    """Columns of every layer of a chart: ``<name> <sweep> line``, ``<name> <sweep>``, and the ring ``<name> mark``.

    Parameters
    ----------
    name
        Of the chart, a key of `CHARTS`.
    sweeps
        ``depths`` and ``thresholds``, as `dashboard.session.sweep.sweep` gives them.
    choice
        ``max_depth``, ``threshold``, ``depth_mean`` and ``penalty_mean`` of the tree on show; NaN where unknown.
    """
    chart = CHARTS[name]
    axes = chart.x.name, chart.y.name
    columns = {f"{name} mark": {axis: np.array([choice[axis]], dtype=float) for axis in axes}}
    for sweep in chart.sweeps:
        line = {axis: sweeps[sweep][axis].to_numpy(dtype=float) for axis in axes}
        columns |= {f"{name} {sweep} line": line, f"{name} {sweep}": line}
    return columns


def sweep_chart(
    name: str, sweeps: Mapping[str, pd.DataFrame], choice: Mapping[str, float], live: LiveSources
) -> hv.Overlay:
    """Draw one chart with the current choice marked; parameters as for `sweep_columns`."""
    chart, columns = CHARTS[name], sweep_columns(name, sweeps, choice)
    layers: list[hv.Element] = []
    for sweep in chart.sweeps:
        look, data = _LOOKS[sweep], tuple(columns[f"{name} {sweep}"].values())
        style = {"color": look["color"], "backend": "bokeh"}
        # Trees of several thresholds may have one mean depth: the line joins them in the order of the thresholds.
        line = hv.Curve(data, chart.x, chart.y, label=look["label"])
        points = hv.Scatter(data, chart.x, chart.y, label=look["label"])
        line = line.opts(line_width=1.5, line_dash=look["dash"], **style)
        layers.append(live.attach(f"{name} {sweep} line", line))
        layers.append(live.attach(f"{name} {sweep}", points.opts(size=6, marker=look["marker"], **style)))
    ring = _ring(*columns[f"{name} mark"].values(), chart.x, chart.y)
    layers.append(live.attach(f"{name} mark", ring))
    return _overlay(layers, legend=len(chart.sweeps) > 1)


def _overlay(layers: list[hv.Element], *, legend: bool) -> hv.Overlay:
    frame = framed("", HEIGHT, _follow_data, tools=("save",), show_legend=legend, legend_position="top_right")
    return hv.Overlay(layers).opts(**frame)


def swept(family: Family, tried: pd.DataFrame) -> tuple[Option, pd.DataFrame] | None:
    """The parameter along which a family's path goes, and the path by it; None where it goes along none.

    Parameters
    ----------
    family
        Which was tried.
    tried
        ``options`` (JSON) and figures, as `dashboard.decisions.judged.frontier.Frontier.table`.

    Returns
    -------
    option, DataFrame
        The numeric parameter of most values; ``x`` (its value), ``beside`` (the other options that vary, in words),
        ``leaves`` and ``penalty_mean`` (percent), ascending in ``beside`` and ``x``.
    """
    settings = pd.DataFrame([json.loads(text) for text in tried["options"]])
    values = settings.nunique()
    varying = [option for option in family.options if values.get(option.name, 0) > 1]
    numbers = [option for option in varying if option.kind in {"int", "float"}]
    if not numbers:
        return None
    along = max(numbers, key=lambda option: values[option.name])
    others = [option for option in varying if option is not along]
    beside = [", ".join(f"{each.title} {row[each.name]}" for each in others) for row in settings.to_dict("records")]
    figures = tried[["leaves", "penalty_mean"]].reset_index(drop=True)
    path = figures.assign(x=settings[along.name].astype(float), beside=beside).dropna(subset=["x"])
    return along, path.sort_values(["beside", "x"], kind="stable")


def path_chart(along: Option, path: pd.DataFrame, y: str, now: tuple[float, float] | None) -> hv.Overlay:
    """Draw a family over its own parameter.

    Parameters
    ----------
    along, path
        As `swept` gives them.
    y
        ``penalty_mean`` or ``leaves``.
    now
        Parameter and figure of the tree on show, which gets a ring; None where unknown.
    """
    dims = hv.Dimension("x", label=along.title), _PENALTY if y == "penalty_mean" else hv.Dimension(y)
    layers: list[hv.Element] = []
    groups = list(path.groupby("beside", sort=False))
    for (beside, part), (marker, _, color) in zip(groups, cycle(LOOKS)):
        data = part["x"].to_numpy(), part[y].to_numpy(dtype=float)
        look = {"color": color, "backend": "bokeh"}
        layers.append(hv.Curve(data, *dims, label=str(beside)).opts(line_width=1.5, **look))
        layers.append(hv.Scatter(data, *dims, label=str(beside)).opts(size=6, marker=marker, **look))
    if now is not None:
        layers.append(_ring([now[0]], [now[1]], *dims))
    return _overlay(layers, legend=len(groups) > 1)


def _ring(x: Any, y: Any, *dims: hv.Dimension) -> hv.Scatter:
    look = {"marker": "circle", "size": 17, "fill_alpha": 0.0, "line_width": 3, "line_color": MARK}
    return hv.Scatter((x, y), *dims).opts(**look, backend="bokeh")


def _follow_data(plot: Any, _: hv.Element) -> None:
    # HoloViews fixes the ranges to the data that it knows; these follow what the sources hold now.
    figure = plot.state
    figure.x_range, figure.y_range = (DataRange1d(range_padding=0.08) for _ in "xy")
