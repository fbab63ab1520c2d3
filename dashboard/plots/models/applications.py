"""Applications in their ways: a step's time, gain and phases, and its collectives in groups (K, Figures 21–28)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import holoviews as hv
import numpy as np
import xarray as xr

from dashboard.domain.units import format_percent, format_time
from dashboard.models.applications import phase_times
from dashboard.models.published import Runtime
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.models.chart import LOG_Y, LOOKS, Look, follow_data, time_ticks

HEIGHT = 390
_GREY = "#9a9a9a"
_SIZE, _PROCESSES = hv.Dimension("unknowns", label="unknowns"), hv.Dimension("processes", label="processes")
_STEP = hv.Dimension("step", label="time")
_GAIN = hv.Dimension("application_gain", label="improvement [%]")
_BESIDE = ("measured", "predicted")
_LEGEND = {"show_legend": True, "legend_position": "bottom", "legend_cols": 2}
Answers = Iterable[Mapping[str, Any]]


def step_times(answers: Answers, title: str) -> hv.Overlay:
    """Draw what a step takes in each way: measured with the range of all turns, and predicted (Figures 24 and 28).

    Parameters
    ----------
    answers
        Of ``colltune orthogonal run``, of one application over several sizes.
    """
    series: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for answer in answers:
        for way in answer["ways"]:
            turns = [seconds / max(way["steps"], 1) for seconds in way["seconds"]]
            point = way["step"], min(turns), max(turns), way.get("predicted", np.nan)
            series[_way(way)].append((answer["order"]["size"], *point))
    return _measured_beside(_SIZE, series, title)


def group_times(cube: xr.Dataset, methods: Mapping[str, Runtime], message_size: int, title: str) -> hv.Overlay:
    """Draw what a collective takes in groups of so many processes, measured and by a runtime function (Figure 21).

    Parameters
    ----------
    cube
        Results of one collective, without ``ppn``.
    methods
        Runtime functions by the label of the method that they are of.
    message_size
        Bytes, one that was measured.
    """
    here = cube[["time", "time_std"]].sel(message_size=message_size)
    series = {}
    for label, function in methods.items():
        times = here.sel({"method": label}).dropna("comm_size", subset=["time"])
        mean, std = times["time"].values, np.nan_to_num(times["time_std"].values)
        sizes = times["comm_size"].values
        by_function = [function.seconds(int(size), message_size) for size in sizes]
        series[label] = list(zip(sizes, mean, np.maximum(mean - std, mean / 10), mean + std, by_function, strict=True))
    return _measured_beside(_PROCESSES, series, title)


def improvements(answers: Mapping[str, Sequence[Mapping[str, Any]]], title: str) -> hv.Overlay:
    """Draw what each way gains over the first over the system's size, with its interval (Figures 22, 23, 26, 27).

    Parameters
    ----------
    answers
        Of ``colltune orthogonal run``, by the name of the application.
    """
    series: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for application, runs in answers.items():
        for answer in runs:
            for way in answer["ways"][1:]:
                gain = way["gain"]
                ends = [gain["mean"] if gain[end] is None else gain[end] for end in ("low", "high")]
                series[f"{application}, {_way(way)}"].append((answer["order"]["size"], gain["mean"], *ends))
    layers: list[hv.Element] = [hv.HLine(0.0).opts(color=_GREY, line_width=1.5, backend="bokeh")]
    for name, look, points in _looked(series):
        at, mean, low, high = np.array(points).T
        texts = [format_percent(value) for value in mean]
        between = [f"{format_percent(a)} to {format_percent(b)}" for a, b in zip(low, high, strict=True)]
        layers += [
            hv.Curve((at, mean), _SIZE, _GAIN, label=name).opts(color=look.color, line_width=2, backend="bokeh"),
            hv.ErrorBars((at, mean, mean - low, high - mean), _SIZE, [_GAIN, "below", "above"]).opts(**_line(look)),
            hv.Scatter((at, mean, texts, between), _SIZE, [_GAIN, "gain", "interval"]).opts(
                color=look.color,
                marker=look.marker,
                size=8,
                **tooltips([("", name), ("unknowns", "@unknowns"), ("gain", "@gain"), ("95 %", "@interval")]),
            ),
        ]
    return hv.Overlay(layers).opts(**framed(title, HEIGHT, **_axes(_SIZE, _GAIN, series)))


def step_phases(answers: Mapping[str, Mapping[str, Any]], title: str) -> hv.Overlay:
    """Draw of what a step of each way is made: mean over ranks and turns of each phase (Figure 25).

    Parameters
    ----------
    answers
        One of ``colltune orthogonal run`` for each application, by its name.
    """
    bars = [(f"{application}, {_way(way)}", way) for application, answer in answers.items() for way in answer["ways"]]
    names = dict.fromkeys(_phase(name) for _, way in bars for name in way["phases"])
    ground = np.zeros(len(bars))
    at = np.arange(len(bars), dtype=float)
    layers = []
    ends = [hv.Dimension("bar"), _STEP, hv.Dimension("bar_to"), hv.Dimension("step_to")]
    for number, name in enumerate(names):
        each = np.array([_seconds(way, name) for _, way in bars])
        texts = [format_time(seconds) if seconds else "" for seconds in each]
        boxes = (at - 0.32, ground, at + 0.32, ground + each, [title for title, _ in bars], texts)
        layers.append(
            hv.Rectangles(boxes, ends, ["application", "mean"], label=name).opts(
                color=LOOKS[number % len(LOOKS)].color,
                line_alpha=0,
                **tooltips([("", "@application"), (name, "@mean")]),
            )
        )
        ground = ground + each
    axes = {
        "xlabel": "",
        "ylabel": "time of a step",
        "xticks": [(x, title) for x, (title, _) in zip(at, bars, strict=True)],
    }
    return hv.Overlay(layers).opts(
        **framed(title, HEIGHT + 60, time_ticks, xrotation=20, xlim=(-0.6, len(bars) - 0.4), **axes, **_LEGEND)
    )


def _measured_beside(x: hv.Dimension, series: Mapping[str, Sequence[Any]], title: str) -> hv.Overlay:
    """Curves of size, time, its least and greatest, and predicted time, which is dashed."""
    layers: list[hv.Element] = []
    for name, look, points in _looked(series):
        at, time, low, high, predicted = np.array(points, dtype=float).T
        texts = [[format_time(value) if np.isfinite(value) else "" for value in each] for each in (time, predicted)]
        drawn = {"color": look.color, "backend": "bokeh"}
        layers += [
            hv.Curve((at, predicted), x, _STEP).opts(line_width=2, line_dash="dashed", **drawn),
            hv.Curve((at, time), x, _STEP, label=name).opts(line_width=2, **drawn),
            hv.ErrorBars((at, time, time - low, high - time), x, [_STEP, "below", "above"]).opts(**_line(look)),
            hv.Scatter((at, time, *texts), x, [_STEP, "measured", "predicted"]).opts(
                marker=look.marker,
                size=8,
                color=look.color,
                **tooltips([("", name), (x.label, f"@{x.name}"), *((each, f"@{each}") for each in _BESIDE)]),
            ),
        ]
    return hv.Overlay(layers).opts(**framed(title, HEIGHT, follow_data, time_ticks, **_axes(x, _STEP, series), **LOG_Y))


def _line(look: Look) -> dict[str, Any]:
    return {"line_color": look.color, "backend": "bokeh"}


def _axes(x: hv.Dimension, y: hv.Dimension, series: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    sizes = sorted({int(point[0]) for points in series.values() for point in points})
    return {
        "xlabel": x.label,
        "ylabel": y.label,
        "logx": True,
        "xticks": [(size, f"{size:,}") for size in sizes],
        **_LEGEND,
    }


def _looked(series: Mapping[str, Sequence[Any]]) -> Iterable[tuple[str, Look, Sequence[Any]]]:
    for number, (name, points) in enumerate(series.items()):
        yield name, LOOKS[number % len(LOOKS)], sorted(points)


def _way(way: Mapping[str, Any]) -> str:
    return f"{way['way']} {way['grid']}".strip() if way["grid"] != way["way"] else way["way"]


def _phase(name: str) -> str:
    """Phases of grids of other layouts have one colour: ``allgather, phase 1 of 4x4`` and ``… of 2x8``."""
    return name.partition(" of ")[0]


def _seconds(way: Mapping[str, Any], phase: str) -> float:
    return sum(seconds for name, seconds in phase_times(way).items() if _phase(name) == phase)
