"""Charts of model against measurement: methods by colour and marker, models by dash; moving with the parameters."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import holoviews as hv
import numpy as np
from bokeh.models import AdaptiveTicker, CustomJSTickFormatter, DataRange1d, FixedTicker, LogAxis, LogTicker, NoOverlap

from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_bytes, format_count, format_percent, format_time
from dashboard.models import MODEL_NAMES, MODEL_TITLES, ModelName
from dashboard.plots.colors import MethodKey
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.frontier import LOOKS as _LOOKS
from dashboard.plots.legend import swatch
from dashboard.plots.live import Hook, LiveSources
from dashboard.plots.models.curves import AXES, Lines, Points, View, bars

HEIGHT, RESIDUAL_HEIGHT = 430, 240
#: Pixels left of both charts, for the widest labels of either: their sizes stand above each other.
_LEFT = 88
#: A logarithmic upright axis beside `follow_data`. HoloViews would pad lines of one height to below 0, and warn.
LOG_Y: Mapping[str, Any] = {"logy": True, "ylim": (1e-12, None)}


class Look(NamedTuple):
    """How a line is drawn: marker, the sign that stands for it in text, colour; of a method its patch in lists."""

    marker: str
    sign: str
    color: str
    patch: str = ""

    @property
    def mark(self) -> str:
        """The line's sign in its colour, and the method's patch, as HTML."""
        return f'<span class="sign" style="color: {self.color}">{self.sign}</span> {self.patch}'


LOOKS = tuple(Look(*each) for each in _LOOKS[:7])
#: More methods could not be told apart.
MOST_METHODS = len(LOOKS)
#: Looks of the models, where lines are told apart by these alone.
MODEL_LOOKS: Mapping[ModelName, Look] = dict(zip(MODEL_NAMES, LOOKS, strict=False))
DASHES: Mapping[ModelName, str] = {"hockney": "solid", "loggp": "9 5", "plogp": "2 4"}
_TIME = hv.Dimension("time", label="time")
_ABOVE = hv.Dimension("above", label="model above measurement [%]")
BYTE_TICKS = """
const units = ["B", "KiB", "MiB", "GiB", "TiB"]
let value = tick, unit = 0
while (Math.abs(value) >= 1024 && unit < 4) { value /= 1024; unit += 1 }
return `${+value.toFixed(2)} ${units[unit]}`
"""
TIME_TICKS = """
if (tick === 0) return "0"
const size = Math.abs(tick) * (1 + 1e-9)
const [factor, unit] = size >= 1 ? [1, "s"] : size >= 1e-3 ? [1e-3, "ms"] : size >= 1e-6 ? [1e-6, "µs"] : [1e-9, "ns"]
return `${+(tick / factor).toPrecision(3)} ${unit}`
"""
#: From a picosecond, as of computing a byte, to a quarter of an hour.
_TICKS = [mantissa * 10.0**power for power in range(-12, 3) for mantissa in (1, 2, 5)]
Columns = dict[str, Any]
#: What is told of formulas that are not the usual ones.
FORMULAS = {"as_published": "formulas as published"}


def method_looks(labels: Iterable[str], scheme: str) -> list[Look]:
    """How the lines of methods are drawn: in the colours of the maps, with markers in their order."""
    key = MethodKey.of(labels, scheme)
    along = zip(cycle(LOOKS), key.lines, key.colors, key.letters)
    return [Look(marker, sign, line, swatch(color, letter)) for (marker, sign, *_), line, color, letter in along]


def looks_of(view: View) -> Sequence[Look]:
    """How the lines of a view are drawn; those that stand for numbers of processes have no method's colour."""
    methods = [each.measured or each.label for each in view.drawn if each.algorithm]
    return method_looks(methods, view.scheme) if methods else LOOKS


def write_size(axis: str, size: float) -> str:
    """Write a size of an axis."""
    return format_count(int(size), "process", "processes") if axis == "comm_size" else format_bytes(size)


def title(view: View) -> str:
    """What is held."""
    held = [] if view.axis == "comm_size" else [write_size("comm_size", view.comm_size)]
    if view.axis != "message_size" and view.collective != "barrier":
        held.append(f"messages of {format_bytes(view.message_size)}")
    held += [FORMULAS[view.variant]] if view.variant in FORMULAS else []
    held += ["best case"] if view.case == "best" else []
    return f"{view.collective} over {AXES[view.axis]}" + (f", {', '.join(held)}" if held else "")


def chart_columns(view: View, lines: Lines) -> dict[str, Columns]:
    """Columns of every layer of both charts: ``curves <model>``, ``residuals <model>``, ``bars``, ``points``, ``off``.

    Few layers of many lines each: the drawing library takes its time for every layer.
    """
    columns: dict[str, Columns] = {}
    looks = looks_of(view)
    for model in view.models:
        slots = [slot for name, slot in lines.curves if name == model]
        colors = [looks[slot].color for slot in slots]
        columns[f"curves {model}"] = {
            "xs": [_path(lines.curves[model, slot][0]) for slot in slots],
            "ys": [_path(lines.curves[model, slot][1]) for slot in slots],
            "color": colors,
        }
        columns[f"residuals {model}"] = {
            "xs": [_path(lines.points[slot].at) for slot in slots],
            "ys": [_path(lines.residuals[model, slot]) for slot in slots],
            "color": colors,
        }
    ends = [bars(points, log=view.log) for points in lines.points]
    points = _point_columns(view, lines, looks)
    low, high = (_joined([each[side] for each in ends]) for side in (0, 1))
    columns["bars"] = {"at": points["at"], "low": low, "same": points["at"], "high": high, "color": points["color"]}
    columns["points"] = points
    columns["off"] = _residual_columns(view, lines, looks)
    return columns


def _path(values: FloatArray) -> FloatArray:
    # Paths of no points lose their colour.
    return values if values.size else np.array([np.nan])


def _joined(parts: Sequence[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0)


def _words(words: Sequence[str]) -> Any:
    return np.array(words, dtype=object)


def _marks(looks: Sequence[Look], slots: Sequence[int]) -> Columns:
    return {
        "color": _words([looks[slot].color for slot in slots]),
        "marker": _words([looks[slot].marker for slot in slots]),
    }


def _point_columns(view: View, lines: Lines, looks: Sequence[Look]) -> Columns:
    slots = [slot for slot, points in enumerate(lines.points) for _ in points.at]
    at, time, std = (_joined([getattr(points, name) for points in lines.points]) for name in Points._fields)
    return {
        "at": at,
        "time": time,
        "told": _words([view.drawn[slot].measured or view.drawn[slot].label for slot in slots]),
        "size": _words([write_size(view.axis, each) for each in at]),
        "text": _words([format_time(each) for each in time]),
        "spread": _words([format_time(each) if np.isfinite(each) else "unknown" for each in std]),
        **_marks(looks, slots),
    }


def _residual_columns(view: View, lines: Lines, looks: Sequence[Look]) -> Columns:
    keys = [key for key in lines.residuals for _ in lines.points[key[1]].at]
    at = _joined([lines.points[slot].at for _, slot in lines.residuals])
    above = _joined(list(lines.residuals.values()))
    return {
        "at": at,
        "above": above,
        "told": _words([f"{view.drawn[slot].label}, {MODEL_TITLES[model]}" for model, slot in keys]),
        "size": _words([write_size(view.axis, each) for each in at]),
        "text": _words([format_percent(each) for each in above]),
        **_marks(looks, [slot for _, slot in keys]),
    }


def _paths(columns: Columns, x: hv.Dimension, y: hv.Dimension, width: float, model: ModelName) -> hv.Contours:
    rows = zip(columns["xs"], columns["ys"], columns["color"], strict=True)
    data = [{x.name: xs, y.name: ys, "color": color} for xs, ys, color in rows]
    lines = hv.Contours(data, [x, y], "color")
    return lines.opts(color="color", line_width=width, line_dash=DASHES[model], backend="bokeh")


def _scatter(columns: Columns, x: hv.Dimension, y: hv.Dimension, size: int, tips: list[tuple[str, str]]) -> hv.Scatter:
    more = [name for name in columns if name not in (x.name, y.name)]
    return hv.Scatter(columns, x, [y, *more]).opts(marker="marker", size=size, color="color", **tooltips(tips))


def time_chart(view: View, columns: Mapping[str, Columns], live: LiveSources, label: str = "") -> hv.Overlay:
    """Draw times: lines of the models, points with error bars of the measurement; `label`: of the lower axis."""
    x = hv.Dimension("at", label=label or AXES[view.axis])
    layers: list[hv.Element] = [
        live.attach(name := f"curves {model}", _paths(columns[name], x, _TIME, 2, model)) for model in view.models
    ]
    spread = hv.Segments(columns["bars"], ["at", "low", "same", "high"], "color")
    layers.append(live.attach("bars", spread.opts(color="color", line_width=1.5, backend="bokeh")))
    tips = [("", "@told"), (AXES[view.axis], "@size"), ("measured", "@text"), ("std", "@spread")]
    layers.append(live.attach("points", _scatter(columns["points"], x, _TIME, 8, tips)))
    upright: Mapping[str, Any] = LOG_Y if view.log else {}
    return hv.Overlay(layers).opts(
        **_frame(view, "Model and measurement", HEIGHT, time_ticks, xlabel=x.label, ylabel="time", **upright)
    )


def residual_chart(view: View, columns: Mapping[str, Columns], live: LiveSources) -> hv.Overlay:
    """Draw how far each model is above the measurement."""
    x = hv.Dimension("at", label=AXES[view.axis])
    layers: list[hv.Element] = [hv.HLine(0.0).opts(color="#888888", line_width=1, backend="bokeh")]
    layers += [
        live.attach(name := f"residuals {model}", _paths(columns[name], x, _ABOVE, 1.5, model)) for model in view.models
    ]
    tips = [("", "@told"), (AXES[view.axis], "@size"), ("above measurement", "@text")]
    layers.append(live.attach("off", _scatter(columns["off"], x, _ABOVE, 6, tips)))
    labels = {"xlabel": x.label, "ylabel": "above measurement [%]"}
    return hv.Overlay(layers).opts(**_frame(view, "Residuals", RESIDUAL_HEIGHT, **labels))


def _frame(view: View, title: str, height: int, *hooks: Hook, **axes: Any) -> dict[str, Any]:
    ticks = size_ticks(view.axis, log=view.log)
    axes |= {"logx": view.log, "backend_opts": {"plot.min_border_left": _LEFT}}
    return framed(title, height, follow_data, ticks, *hooks, **axes)


def follow_data(plot: Any, _: hv.Element) -> None:
    """Hook: ranges follow what the sources hold, until someone zooms."""
    # HoloViews fixes the ranges to the data that it knows.
    figure = plot.state
    figure.x_range, figure.y_range = DataRange1d(range_padding=0.03), DataRange1d(range_padding=0.07)


def size_ticks(axis: str, *, log: bool) -> Any:
    """Hook: ticks at powers of two, bytes with their units."""

    def hook(plot: Any, _: hv.Element) -> None:
        """Put the ticks on the lower axis, and the grid with them."""
        ticks = plot.state.below[0]
        if log:
            ticks.ticker = LogTicker(base=2, mantissas=[1], num_minor_ticks=0, desired_num_ticks=9)
        else:
            ticks.ticker = AdaptiveTicker(base=2, mantissas=[1], min_interval=1, num_minor_ticks=0, desired_num_ticks=8)
        code = "return tick.toLocaleString('en')" if axis == "comm_size" else BYTE_TICKS
        ticks.formatter = CustomJSTickFormatter(code=code)
        plot.state.xgrid[0].ticker = ticks.ticker

    return hook


def time_ticks(plot: Any, _: hv.Element) -> None:
    """Hook: times with their units."""
    axis = plot.state.left[0]
    axis.formatter = CustomJSTickFormatter(code=TIME_TICKS)
    if isinstance(axis, LogAxis):
        # A LogTicker turns to even steps where less than two decades are seen.
        axis.ticker = FixedTicker(ticks=_TICKS)
        axis.major_label_policy = NoOverlap(min_distance=5)
        plot.state.ygrid[0].ticker = axis.ticker
