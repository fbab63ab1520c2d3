"""Sweeps over depth and threshold: what a smaller tree costs (Figures 6.10 and 6.11 of the dissertation)."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pandas as pd

#: Mean penalty, largest penalty and depth; told apart by marker and dash as well.
_PENALTY, _DEPTH = "#d55e00", "#0072b2"
_MARK = "#111111"
_PENALTY_DIM = hv.Dimension("penalty_mean", label="mean penalty [%]")
_DEPTH_DIM = hv.Dimension("depth_mean", label="mean depth [levels]")
_LEAVES_DIM = hv.Dimension("leaves", label="leaves")
_THRESHOLD_DIM = hv.Dimension("threshold", label="accuracy threshold")
_LIMIT_DIM = hv.Dimension("max_depth", label="maximum depth [levels]")


def _line(frame: pd.DataFrame, x: hv.Dimension, y: hv.Dimension, color: str, marker: str, dash: str) -> hv.Overlay:
    style = {"color": color, "backend": "bokeh"}
    table = frame[[x.name, y.name]].dropna()
    curve = hv.Curve(table, x, y).opts(line_width=1.5, line_dash=dash, **style)
    points = hv.Scatter(table, x, y).opts(size=6, marker=marker, **style)
    return curve * points


def mark_columns(x: hv.Dimension, at: tuple[float, float] | None, y: hv.Dimension) -> dict[str, np.ndarray]:
    """Columns of the marker of the current choice at ``(x, y)``; None for none."""
    where = (np.nan, np.nan) if at is None else at
    return {x.name: np.array([where[0]], dtype=float), y.name: np.array([where[1]], dtype=float)}


def current_mark(x: hv.Dimension, y: hv.Dimension, at: tuple[float, float] | None) -> hv.Scatter:
    """Ring around the current choice.

    Parameters
    ----------
    x, y
        Of the chart.
    at
        Where; None for none.
    """
    columns = mark_columns(x, at, y)
    return hv.Scatter((columns[x.name], columns[y.name]), x, y).opts(
        marker="circle", size=16, fill_alpha=0.0, line_width=3, line_color="#e6007e", backend="bokeh"
    )


def depth_chart(frame: pd.DataFrame, at: tuple[float, float] | None) -> hv.Overlay:
    """Draw mean penalty over the maximum depth.

    Parameters
    ----------
    frame
        As `dashboard.decisions.sweep_depth` gives it.
    at
        Current choice ``(max_depth, mean penalty)``; None when depth is not limited.
    """
    return _line(frame, _LIMIT_DIM, _PENALTY_DIM, _PENALTY, "circle", "solid") * current_mark(
        _LIMIT_DIM, _PENALTY_DIM, at
    )


def threshold_penalty_chart(frame: pd.DataFrame, at: tuple[float, float] | None) -> hv.Overlay:
    """Draw mean penalty over the accuracy threshold (Figure 6.10).

    Parameters
    ----------
    frame
        As `dashboard.decisions.sweep_threshold` gives it.
    at
        Current choice ``(threshold, mean penalty)``.
    """
    return _line(frame, _THRESHOLD_DIM, _PENALTY_DIM, _PENALTY, "circle", "solid") * current_mark(
        _THRESHOLD_DIM, _PENALTY_DIM, at
    )


def threshold_depth_chart(frame: pd.DataFrame, at: tuple[float, float] | None) -> hv.Overlay:
    """Draw the mean depth over the accuracy threshold (Figure 6.10).

    Parameters
    ----------
    frame
        As `dashboard.decisions.sweep_threshold` gives it.
    at
        Current choice ``(threshold, mean depth)``.
    """
    return _line(frame, _THRESHOLD_DIM, _DEPTH_DIM, _DEPTH, "square", "dashed") * current_mark(
        _THRESHOLD_DIM, _DEPTH_DIM, at
    )


def constraint_chart(depths: pd.DataFrame, thresholds: pd.DataFrame, at: tuple[float, float] | None) -> hv.Overlay:
    """Draw mean penalty over mean depth, for both ways to limit a tree (Figure 6.11).

    Parameters
    ----------
    depths, thresholds
        As the sweeps give them.
    at
        Current choice ``(mean depth, mean penalty)``.
    """
    by_depth = _line(depths, _DEPTH_DIM, _PENALTY_DIM, _PENALTY, "circle", "solid")
    # Trees of several thresholds have one mean depth: a line through them would have no order.
    by_threshold = _line(thresholds.sort_values("threshold"), _DEPTH_DIM, _PENALTY_DIM, _DEPTH, "square", "dashed")
    named = [
        layer.relabel(name)
        for name, chart in (("maximum depth", by_depth), ("accuracy threshold", by_threshold))
        for layer in chart
    ]
    return (hv.Overlay(named) * current_mark(_DEPTH_DIM, _PENALTY_DIM, at)).opts(
        legend_position="top_right", backend="bokeh"
    )
