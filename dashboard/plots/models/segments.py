"""Duration over segment sizes with the best one and what is within 5 and 10 percent of it (as Figure 6.1)."""

from collections.abc import Mapping

import holoviews as hv
import numpy as np
import xarray as xr

from dashboard.domain.units import format_bytes, format_count, format_percent, format_time
from dashboard.models import MODEL_TITLES, ModelName
from dashboard.models.segments import Segmentation
from dashboard.plots.frame import framed
from dashboard.plots.legend import table
from dashboard.plots.live import LiveSources
from dashboard.plots.models.chart import (
    DASHES,
    FORMULAS,
    LOG_Y,
    MODEL_LOOKS,
    Columns,
    follow_data,
    size_ticks,
    time_ticks,
)
from dashboard.plots.models.curves import Points, View, bars, measured
from dashboard.plots.models.legend import dash
from dashboard.plots.models.methods import ModelMethod

HEIGHT = 430
RANGES = (10, 5)
_WIDTHS, _ALPHAS = {10: 9, 5: 15}, {10: 0.3, 5: 0.45}
_X = hv.Dimension("at", label="segment size")
_Y = hv.Dimension("time", label="time")


def segment_columns(
    segmentations: Mapping[ModelName, Segmentation], view: View, method: ModelMethod, cube: xr.Dataset | None
) -> dict[str, Columns]:
    """Columns of every layer by name: ``<model> curve``, ``<model> 5``, ``<model> 10``, ``<model> best``, measured."""
    points: Points = measured(view, method, cube)
    low, high = bars(points, log=True)
    columns: dict[str, Columns] = {
        "measured": {"at": points.at, "time": points.time},
        "measured bars": {"at": points.at, "low": low, "same": points.at, "high": high},
    }
    for model, each in segmentations.items():
        columns[f"{model} curve"] = {"at": each.curve.segment_size, "time": each.curve.time}
        columns[f"{model} best"] = {"at": np.array([each.optimum]), "time": np.array([each.time])}
        for percent in RANGES:
            at, time = each.stretch(percent)
            columns[f"{model} {percent}"] = {"at": at, "time": time}
    return columns


def segment_chart(view: View, columns: Mapping[str, Columns], live: LiveSources) -> hv.Overlay:
    """Draw it."""
    layers: list[hv.Element] = []
    for model in view.models:
        if f"{model} curve" not in columns:
            continue
        marker, _, color, _ = MODEL_LOOKS[model]
        for percent in RANGES:
            wide = hv.Curve(columns[f"{model} {percent}"], _X, _Y).opts(
                color=color, line_width=_WIDTHS[percent], alpha=_ALPHAS[percent], backend="bokeh"
            )
            layers.append(live.attach(f"{model} {percent}", wide))
        line = hv.Curve(columns[f"{model} curve"], _X, _Y)
        line = line.opts(color=color, line_width=2, line_dash=DASHES[model], backend="bokeh")
        best = hv.Scatter(columns[f"{model} best"], _X, _Y)
        best = best.opts(marker=marker, size=13, color=color, line_color="#222222", backend="bokeh")
        layers += [live.attach(f"{model} curve", line), live.attach(f"{model} best", best)]
    spread = hv.Segments(columns["measured bars"], ["at", "low", "same", "high"]).opts(color="#888888", backend="bokeh")
    points = hv.Scatter(columns["measured"], _X, _Y).opts(
        marker="circle", size=9, fill_alpha=0.0, line_width=2, line_color="#888888", backend="bokeh"
    )
    layers += [live.attach("measured bars", spread), live.attach("measured", points)]
    hooks = follow_data, size_ticks("segment_size", log=True), time_ticks
    return hv.Overlay(layers).opts(**framed("Duration over segment size", HEIGHT, *hooks, logx=True, **LOG_Y))


def title(view: View, method: ModelMethod) -> str:
    """What is held."""
    count = format_count(view.comm_size, "process", "processes")
    size = format_bytes(view.message_size)
    variant = f", {FORMULAS[view.variant]}" if view.variant in FORMULAS else ""
    return f"{view.collective} {method.algorithm} over segment size, {count}, messages of {size}{variant}"


def segment_table(segmentations: Mapping[ModelName, Segmentation]) -> str:
    """Write optimum, ranges and gain of each model."""
    heads = [("model", False), ("optimal segment size", True), ("time", True)]
    heads += [(f"within {percent} %", False) for percent in sorted(RANGES)]
    heads += [("without segments", True), ("gain", True), ("by the formula", True)]
    rows = []
    for model, each in segmentations.items():
        name = f"{MODEL_LOOKS[model].mark} {dash(model)} {MODEL_TITLES[model]}"
        ranges = [
            " to ".join(dict.fromkeys(format_bytes(size) for size in each.within(percent)))
            + (", with gaps" if each.gaps(percent) else "")
            for percent in sorted(RANGES)
        ]
        best = format_bytes(round(each.optimum)) if each.pays else "segments do not pay"
        gain = format_percent(100 * (1 - each.time / each.whole_time)) if each.whole_time else "–"
        # Its number of segments need not be whole, so that with whole ones it may cost more than none.
        by = f"{format_bytes(round(each.formula))}: {format_time(each.formula_time)}" if each.formula else "–"
        rows.append([name, best, format_time(each.time), *ranges, format_time(each.whole_time), gain, by])
    return table("Optimal segment size: ○ stands for what was measured", heads, rows)
