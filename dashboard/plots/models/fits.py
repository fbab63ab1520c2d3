"""How well parameters were fitted: confidence intervals, and residuals over message sizes."""

from html import escape

import holoviews as hv
import numpy as np

from dashboard.domain.models import format_parameter, parameter_title
from dashboard.domain.units import format_bytes, format_count, format_percent
from dashboard.models.fit import Fit
from dashboard.plots.colors import OKABE_ITO
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.legend import table
from dashboard.plots.models.chart import Look, follow_data, method_looks, size_ticks

HEIGHT = 360
_GREY = "#8a8a8a"
_X = hv.Dimension("at", label="message size")
_Y = hv.Dimension("above", label="model above measurement [%]")


def _looks(fit: Fit, scheme: str) -> dict[str, Look]:
    names = list(dict.fromkeys(fit.residuals["method"]))
    return dict(zip(names, method_looks(names, scheme), strict=True))


def residual_chart(fit: Fit, scheme: str = OKABE_ITO) -> hv.Overlay:
    """Draw how far the fitted model is above each measurement."""
    looks, rows = _looks(fit, scheme), fit.residuals
    columns = {
        "at": np.maximum(rows["message_size"].to_numpy(float), 0.5),
        "above": 100 * rows["residual"].to_numpy(float),
        "told": rows["method"].to_numpy(object),
        "size": np.array([format_bytes(each) for each in rows["message_size"]], dtype=object),
        "processes": np.array([format_count(int(each), "process", "processes") for each in rows["comm_size"]], object),
        "text": np.array([format_percent(100 * each) for each in rows["residual"]], dtype=object),
        "marker": np.array([looks[name].marker for name in rows["method"]], dtype=object),
        "color": np.array([looks[name].color for name in rows["method"]], dtype=object),
    }
    tips = [("", "@told"), ("message", "@size"), ("on", "@processes"), ("above measurement", "@text")]
    points = hv.Scatter(columns, _X, [_Y, *(name for name in columns if name not in ("at", "above"))]).opts(
        marker="marker", size=6, color="color", alpha=0.8, **tooltips(tips)
    )
    level = hv.HLine(0.0).opts(color=_GREY, line_width=1, backend="bokeh")
    hooks = follow_data, size_ticks("message_size", log=True)
    labels = {"xlabel": _X.label, "ylabel": "above measurement [%]", "logx": True}
    return hv.Overlay([level, points]).opts(**framed("Residuals of the fit", HEIGHT, *hooks, **labels))


def interval_table(fit: Fit) -> str:
    """Write the fitted parameters with their confidence intervals, and what was assumed."""
    rows = []
    for name, (low, high) in fit.intervals.items():
        ends = [format_parameter(name, each) for each in (low, high)] if np.isfinite(high) else ["not determined", "–"]
        rows.append([escape(parameter_title(name)), format_parameter(name, fit.value(name)), *ends])
    level = f"{100 * fit.level:g} %"
    heads = [("parameter", False), ("value", True), (f"{level} from", True), ("to", True)]
    notes = "".join(f"<p>{escape(note)}.</p>" for note in fit.notes)
    return table(f"Fitted parameters with {level} confidence intervals", heads, rows) + notes


def method_table(fit: Fit, scheme: str = OKABE_ITO) -> str:
    """Write the residuals of each method."""
    looks = _looks(fit, scheme)
    rows = []
    for name, mine in fit.residuals.groupby("method", sort=False):
        residual = 100 * mine["residual"]
        title = f"{looks[str(name)].mark} {escape(str(name))}"
        figures = [residual.median(), residual.abs().median(), residual.abs().max()]
        rows.append([title, *(format_percent(float(each)).replace("-", "−") for each in figures), f"{len(mine):,}"])
    heads = [("method", False), ("median", True), ("median size", True), ("largest", True), ("cells", True)]
    caption = f"Residuals, model above measurement: median size {format_percent(fit.median_error)}"
    return table(caption, heads, rows)
