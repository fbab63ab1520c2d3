"""What the parameters of the models are over message sizes (as Figures 4.19, 4.20, 6.16 and 6.17)."""

from collections.abc import Mapping
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import CustomJSTickFormatter

from dashboard.domain.arrays import FloatArray
from dashboard.models import MODEL_TITLES, LogGP, ModelName, PLogP, PointToPointModel
from dashboard.models.pingpong import PingPong
from dashboard.plots.frame import framed
from dashboard.plots.models.chart import LOG_Y, LOOKS, MODEL_LOOKS, follow_data, size_ticks, time_ticks

HEIGHT, POINTS = 420, 120
_X = hv.Dimension("at", label="message size")
_TIME = hv.Dimension("time", label="time")
_RATE = hv.Dimension("rate", label="bandwidth [MB/s]")
_MEASURED = "#888888"


def _sizes(parameters: Mapping[ModelName, PointToPointModel], trip: PingPong | None) -> FloatArray:
    plogp = parameters.get("plogp")
    known = plogp.sizes if isinstance(plogp, PLogP) else ()
    largest = max((*known, *(trip.size if trip else ()), 1 << 20))
    return np.geomspace(1, largest, POINTS)


def _curve(
    at: FloatArray, values: FloatArray, label: str, color: str, y: hv.Dimension, dash: str = "solid"
) -> hv.Curve:
    curve = hv.Curve((at, values), _X, y, label=label)
    return curve.opts(color=color, line_dash=dash, line_width=2, tools=["hover"], backend="bokeh")


def _framed(layers: list[hv.Element], title: str, *, times: bool = True) -> hv.Overlay:
    hooks = follow_data, size_ticks("message_size", log=True), time_ticks if times else _plain_ticks
    return hv.Overlay(layers).opts(
        **framed(title, HEIGHT, *hooks, logx=True, **LOG_Y, legend_position="bottom", legend_cols=2, show_legend=True)
    )


def _plain_ticks(plot: Any, _: hv.Element) -> None:
    plot.state.left[0].formatter = CustomJSTickFormatter(code="return `${+tick.toPrecision(3)}`")


def gap_chart(parameters: Mapping[ModelName, PointToPointModel]) -> hv.Overlay | None:
    """Draw gap, overheads and latency of LogGP and PLogP; None where there are neither."""
    layers: list[hv.Element] = []
    at = _sizes(parameters, None)
    plogp, loggp = parameters.get("plogp"), parameters.get("loggp")
    colors = [look.color for look in LOOKS]
    if isinstance(plogp, PLogP):
        named = {"g(m)": plogp.gap, "o_s(m)": plogp.send_overhead, "o_r(m)": plogp.receive_overhead}
        functions = plogp.gap_at, plogp.send_overhead_at, plogp.receive_overhead_at
        for (name, values), function, color in zip(named.items(), functions, colors, strict=False):
            layers.append(_curve(at, function(at), f"PLogP {name}", color, _TIME))
            sizes = np.maximum(plogp.sizes, 1.0)
            points = hv.Scatter((sizes, np.array(values)), _X, _TIME)
            layers.append(points.opts(color=color, size=6, backend="bokeh"))
        layers.append(_curve(at, np.full(at.shape, plogp.latency), "PLogP L", colors[3], _TIME, "dotted"))
    if isinstance(loggp, LogGP):
        layers.append(
            _curve(at, loggp.gap + (at - 1) * loggp.gap_per_byte, "LogGP g + (m - 1) G", colors[4], _TIME, "dashed")
        )
        layers.append(_curve(at, np.full(at.shape, loggp.overhead), "LogGP o", "#777777", _TIME, "dashed"))
    return _framed(layers, "Gap, overheads and latency") if layers else None


def message_charts(
    parameters: Mapping[ModelName, PointToPointModel], trip: PingPong | None = None
) -> tuple[hv.Overlay, hv.Overlay]:
    """Draw time and bandwidth of a message by each model, and the ping-pong where one was measured."""
    at = _sizes(parameters, trip)
    times: list[hv.Element] = []
    rates: list[hv.Element] = []
    for name, each in parameters.items():
        time = np.asarray(each.message_time(at), dtype=float)
        times.append(_curve(at, time, MODEL_TITLES[name], MODEL_LOOKS[name].color, _TIME))
        rates.append(_curve(at, at / time / 1e6, MODEL_TITLES[name], MODEL_LOOKS[name].color, _RATE))
    if trip is not None:
        sizes = np.maximum(trip.size, 1.0)
        for layers, values, y in ((times, trip.time, _TIME), (rates, sizes / trip.time / 1e6, _RATE)):
            points = hv.Scatter((sizes, values), _X, y, label="ping-pong")
            layers.append(points.opts(color=_MEASURED, size=6, tools=["hover"], backend="bokeh"))
    return _framed(times, "Time of a message, one way"), _framed(rates, "Bandwidth", times=False)


def computing_chart(
    parameters: Mapping[ModelName, PointToPointModel], timed: tuple[FloatArray, FloatArray] | None
) -> hv.Overlay | None:
    """Draw time to compute a byte: what was timed at each size, s, and what the models take; None without either."""
    layers: list[hv.Element] = []
    y = hv.Dimension("per_byte", label="time per byte")
    at = _sizes(parameters, None)
    if timed is not None:
        sizes, seconds = timed
        kept = sizes > 0
        points = hv.Scatter((sizes[kept], seconds[kept] / sizes[kept]), _X, y, label="timed reduction")
        layers.append(points.opts(color=_MEASURED, size=6, tools=["hover"], backend="bokeh"))
    for name, each in parameters.items():
        if (gamma := float(getattr(each, "gamma", 0.0))) > 0:
            title, color = f"γ of {MODEL_TITLES[name]}", MODEL_LOOKS[name].color
            layers.append(_curve(at, np.full(at.shape, gamma), title, color, y))
    return _framed(layers, "Computing a byte") if layers else None
