"""When segmentation pays: how much longer a segmented algorithm takes than the same without segments (Figure 4.23)."""

from collections.abc import Mapping
from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr

from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_bytes, format_range
from dashboard.models import MODEL_TITLES, ModelName, PointToPointModel, model_of
from dashboard.plots.frame import framed
from dashboard.plots.models.chart import DASHES, LOG_Y, MODEL_LOOKS, follow_data, size_ticks
from dashboard.plots.models.curves import View, measured, positions
from dashboard.plots.models.methods import model_methods

HEIGHT = 320
_X = hv.Dimension("at", label="message size")
_Y = hv.Dimension("ratio", label="time with segments / without")


class Ratio(NamedTuple):
    """Message sizes, and the time with segments over that without."""

    at: FloatArray
    ratio: FloatArray

    def pays(self, segment_size: int) -> list[tuple[float, float]]:
        """Ranges of message sizes, bytes, where segments make it shorter; of one segment both are the same call."""
        shorter = (self.ratio < 1 - 1e-9) & (self.at > segment_size)
        below = np.concatenate([[False], shorter, [False]])
        starts, ends = np.flatnonzero(~below[:-1] & below[1:]), np.flatnonzero(below[:-1] & ~below[1:]) - 1
        return [(float(self.at[start]), float(self.at[end])) for start, end in zip(starts, ends, strict=True)]


def ratios_of(
    view: View,
    algorithm: str,
    segment_size: int,
    parameters: Mapping[ModelName, PointToPointModel],
    cube: xr.Dataset | None,
) -> dict[str, Ratio]:
    """Ratios by model, and ``measured`` where both were.

    Parameters
    ----------
    view
        Collective, processes and formulas.
    algorithm, segment_size
        Of the model; bytes.
    """
    model = model_of(view.collective, algorithm)
    at = positions(view, cube)
    at = at[at > 0]
    ratios: dict[str, Ratio] = {}
    for name in view.models:
        both = [
            model.predict(parameters[name], view.comm_size, at, segment, variant=view.variant)
            for segment in (segment_size, 0)
        ]
        ratios[str(name)] = Ratio(at, both[0] / both[1])
    known = {(each.algorithm, each.segment_size): each for each in model_methods(view.collective, cube)}
    pair = [known.get((algorithm, segment)) for segment in (segment_size, 0)]
    if pair[0] is not None and pair[1] is not None:
        cut, uncut = (measured(view, each, cube) for each in pair if each is not None)
        common, first, second = np.intersect1d(cut.at, uncut.at, return_indices=True)
        if common.size:
            ratios["measured"] = Ratio(common, cut.time[first] / uncut.time[second])
    return ratios


def pays_chart(ratios: Mapping[str, Ratio]) -> hv.Overlay:
    """Draw the ratios; below 1 segments pay."""
    ends = [(each.at[0], each.at[-1]) for each in ratios.values() if each.at.size]
    level = [(at, 1.0) for at in (min(low for low, _ in ends), max(high for _, high in ends))] if ends else []
    layers: list[hv.Element] = [hv.Curve(level, _X, _Y).opts(color="#888888", line_width=1, backend="bokeh")]
    for name, look in MODEL_LOOKS.items():
        if name in ratios:
            curve = hv.Curve(tuple(ratios[name]), _X, _Y, label=MODEL_TITLES[name])
            layers.append(curve.opts(color=look.color, line_width=2, line_dash=DASHES[name], backend="bokeh"))
    if "measured" in ratios:
        points = hv.Scatter(tuple(ratios["measured"]), _X, _Y, label="measured")
        layers.append(points.opts(color="#888888", size=9, tools=["hover"], backend="bokeh"))
    hooks = follow_data, size_ticks("message_size", log=True)
    axes = {"xlabel": _X.label, "ylabel": _Y.label, "logx": True, **LOG_Y}
    key = {"show_legend": True, "legend_position": "bottom_left"}
    return hv.Overlay(layers).opts(**framed("When segmentation pays: below 1", HEIGHT, *hooks, **axes, **key))


def pays_text(ratios: Mapping[str, Ratio], segment_size: int) -> str:
    """Say where segments pay by each model, and as measured."""
    lines = []
    for name, each in ratios.items():
        title = "Measured" if name == "measured" else MODEL_TITLES[name]
        where = [format_range(round(low), round(high), format_bytes) for low, high in each.pays(segment_size)]
        lines.append(f"<li>{title}: {'pays at ' + ', '.join(where) if where else 'pays at no message size'}.</li>")
    return f"<p>Segments of {format_bytes(segment_size)} against none:</p><ul>{''.join(lines)}</ul>"
