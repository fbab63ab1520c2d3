"""Online tuning as pictures: its iterations, what is tried how often, bins that were seen, regressions, what is gained.

Times by others are drawn by the logarithm of their ratio, with ticks as factors.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.models import NoOverlap

from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.units import format_bytes, format_percent, format_time
from dashboard.plots.axes import size_axis
from dashboard.plots.backend import LETTERS
from dashboard.plots.colors import MethodKey
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.frontier import LOOKS
from dashboard.plots.legend import swatch, table

HEIGHT = 340
#: More bars of calls could not be read.
MOST_CALLS = 12
#: What is taken in each kind of run, in the order in which they stand: colour, and where beside the iteration.
KINDS = {"default": ("#e06c1a", -0.27), "tuning": ("#8f6fe0", 0.0), "tuned": ("#1a9e62", 0.27)}
_HALF = 0.11
_GREY = "#9a9a9a"
_FACTORS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50)
_LARGE = [mantissa * 10**power for power in range(2, 9) for mantissa in (1, 2, 5)]
_TIMES = [(float(power + step), 10.0**power * round(10**step)) for power in range(-9, 4) for step in (0.0, np.log10(3))]


def boxes_chart(iterations: Sequence[Mapping[str, Any]], best: str) -> hv.Overlay:
    """Draw calls' times by those of the best, for each iteration: by default, while methods are tried, as was learnt.

    Parameters
    ----------
    iterations
        Each with ``iteration`` and ``boxes`` (5, 25, 50, 75 and 95 % of the calls lie below).
    best
        What the times are divided by, in words.
    """
    rows = [
        (float(iteration["iteration"]) + KINDS[kind][1], kind, np.log2(np.maximum(iteration["boxes"][kind], 1e-6)))
        for iteration in iterations
        for kind in KINDS
        if iteration["boxes"].get(kind)
    ]
    layers: list[hv.Element] = []
    dims = [hv.Dimension(name) for name in ("x0", "y0", "x1", "y1")]
    for kind, (color, _) in KINDS.items():
        own = [(at, ends) for at, name, ends in rows if name == kind]
        at = np.array([each[0] for each in own])
        ends = np.array([each[1] for each in own]).reshape(-1, 5)
        words = [np.array([f"{2**each:.3g} ×" for each in ends[:, row]], dtype=object) for row in range(5)]
        whisker = hv.Segments((at, ends[:, 0], at, ends[:, 4]), dims)
        box = hv.Rectangles(
            (at - _HALF, ends[:, 1], at + _HALF, ends[:, 3], *words), dims, ["p5", "p25", "p50", "p75", "p95"]
        )
        middle = hv.Segments((at - _HALF, ends[:, 2], at + _HALF, ends[:, 2]), dims)
        tips = [("", kind), ("median", "@p50"), ("half of the calls", "@p25 to @p75"), ("90 %", "@p5 to @p95")]
        layers += [
            whisker.opts(color=color, line_width=1.5, backend="bokeh"),
            box.opts(color=color, line_color=color, fill_alpha=0.45, **tooltips(tips)),
            middle.opts(color=color, line_width=3, backend="bokeh"),
        ]
    ends = np.concatenate([each[2] for each in rows]) if rows else np.zeros(1)
    last = max((int(iteration["iteration"]) for iteration in iterations), default=1)
    layers.insert(0, hv.HLine(0.0).opts(color=_GREY, line_width=1.5, backend="bokeh"))
    low, high = min(float(ends.min()), 0.0), max(float(ends.max()), 0.2)
    return hv.Overlay(layers).opts(
        **frame("Iterations"),
        xlim=(0.4, last + 0.6),
        ylim=(low - 0.06 * (high - low), high + 0.06 * (high - low)),
        xticks=_iteration_ticks(last),
        yticks=_factor_ticks(low, high),
        xlabel="iteration",
        ylabel=f"time of a call by {best}",
    )


def workload_chart(calls: pd.DataFrame) -> hv.Overlay:
    """Draw what share of the noted time the calls of each collective and message size take, the longest first.

    Parameters
    ----------
    calls
        As `dashboard.online.course.called` gives them.
    """
    rows = calls.head(MOST_CALLS)
    at, share = np.arange(len(rows), dtype=float), rows["time_percent"].to_numpy()
    names = [f"{row.collective} {format_bytes(row.message_size)}" for row in rows.itertuples()]
    texts = [[f"{row.calls:,}" for row in rows.itertuples()], [format_percent(each) for each in share]]
    dims = [hv.Dimension(name) for name in ("bar", "share", "bar_to", "share_to")]
    bars = hv.Rectangles(
        (at - 0.36, np.zeros(len(rows)), at + 0.36, share, names, *texts), dims, ["name", "calls", "of"]
    )
    tips = [("", "@name"), ("calls", "@calls"), ("of the time", "@of")]
    bars = bars.opts(color=KINDS["tuning"][0], line_alpha=0, **tooltips(tips))
    return hv.Overlay([bars]).opts(
        **frame("What programs call"),
        xlim=(-0.7, max(len(rows), 3) - 0.3),
        ylim=(0, 1.06 * float(share.max(initial=1))),
        xticks=list(zip(at.tolist(), names, strict=True)),
        xrotation=35,
        xlabel="",
        ylabel="share of the noted time [%]",
    )


def bands_chart(share: FloatArray, iterations: Sequence[int], key: MethodKey, title: str) -> hv.Overlay:
    """Draw how likely each method is tried, over the iterations.

    Parameters
    ----------
    share
        ``(iteration, method)``; what is missing to 1 is left to the library.
    iterations
        Their numbers.
    key
        Colours and letters of the methods.
    title
        At which sizes.
    """
    count, methods = share.shape if share.size else (0, len(key.labels))
    order = np.argsort(-share[-1], kind="stable") if count else np.arange(methods)
    upper = np.cumsum(share[:, order], axis=1) if count else np.zeros((0, methods))
    lower = upper - (share[:, order] if count else 0)
    at = np.repeat(np.asarray(iterations, dtype=float), methods)
    names = [key.labels[place] for place in order] * count
    columns = {
        "x0": at - 0.5,
        "y0": lower.ravel(),
        "x1": at + 0.5,
        "y1": upper.ravel(),
        "method": np.array(names, dtype=object),
        "probability": np.array([format_percent(100 * each) for each in (upper - lower).ravel()], dtype=object),
        "color": np.array([key.colors[place] for place in order] * count, dtype=object),
    }
    drawn = hv.Rectangles(columns, ["x0", "y0", "x1", "y1"], ["method", "probability", "color"])
    tips = [("", "@method"), ("probability", "@probability")]
    layers = [drawn.opts(color="color", line_color="#ffffff", line_width=0.5, line_alpha=0.5, **tooltips(tips))]
    last, first = (max(iterations, default=1), min(iterations, default=1))
    return hv.Overlay([*layers, _letters(columns, order, key, count)]).opts(
        **frame(title),
        xlim=(first - 0.5, last + 0.5),
        ylim=(0.0, 1.0),
        xticks=_iteration_ticks(last),
        yticks=[(each / 4, f"{25 * each} %") for each in range(5)],
        xlabel="iteration",
        ylabel="tried with probability",
    )


def _letters(columns: Mapping[str, Any], order: IntArray, key: MethodKey, count: int) -> hv.Labels:
    """Letters in bands that are wide enough for them."""
    wide = (columns["y1"] - columns["y0"]) > 0.045
    x = ((columns["x0"] + columns["x1"]) / 2)[wide]
    y = ((columns["y0"] + columns["y1"]) / 2)[wide]
    text = np.array([key.letters[place] for place in order] * count, dtype=object)[wide]
    return hv.Labels((x, y, text), ["x", "y"], "text").opts(text_color="#111111", text_font_size="8pt", **LETTERS)


def fits_chart(
    points: pd.DataFrame, lines: pd.DataFrame, methods: Sequence[str], key: MethodKey, title: str
) -> hv.Overlay:
    """Draw regressions of some methods against what was measured.

    Parameters
    ----------
    points, lines
        As `dashboard.online.course.fits` gives them, with ``method`` (label).
    methods
        To draw, in the order of the legend.
    key
        Colours and letters of all methods.
    title
        At which nodes and processes per node.
    """
    axis = size_axis("message_size", sorted({int(each) for each in points["message_size"]} or {1, 1024}))
    x, y = hv.Dimension("at", label=axis.title), hv.Dimension("height", label="time")
    layers: list[hv.Element] = []
    heights: list[FloatArray] = [np.empty(0)]
    colors = dict(zip(key.labels, key.lines, strict=True))
    for name, (marker, *_) in zip(methods, cycle(LOOKS)):
        color = colors[name]
        line, own = (frame[frame["method"] == name].sort_values("message_size") for frame in (lines, points))
        within = line["message_size"].between(axis.sizes[0] / 4, axis.sizes[-1] * 4)
        line = line[within]
        curve = hv.Curve((axis.positions(line["message_size"]), np.log10(line["time"])), x, y)
        layers.append(curve.opts(color=color, line_width=2, backend="bokeh"))
        columns = {
            x.name: axis.positions(own["message_size"]),
            y.name: np.log10(own["time"].to_numpy(dtype=float)),
            "size": np.array([format_bytes(each) for each in own["message_size"]], dtype=object),
            "told": np.array([format_time(each) for each in own["time"]], dtype=object),
            "count": own["count"].to_numpy(),
        }
        measured = line["message_size"].between(axis.sizes[0], axis.sizes[-1])
        heights += [columns[y.name], np.log10(line["time"][measured].to_numpy(dtype=float))]
        tips = [("", escape(name)), (axis.title, "@size"), ("mean", "@told"), ("timings", "@count")]
        scatter = hv.Scatter(columns, x, [y, "size", "told", "count"])
        layers.append(scatter.opts(marker=marker, color=color, size=7, **tooltips(tips)))
    ends = np.concatenate(heights)
    low, high = (float(ends.min()), float(ends.max())) if ends.size else (-6.0, -3.0)
    ticks = [(at, re.sub(r"\.0+ ", " ", format_time(value))) for at, value in _TIMES if low - 0.4 <= at <= high + 0.4]
    shown = layers or [hv.Scatter([], x, y).opts(backend="bokeh")]
    return hv.Overlay(shown).opts(
        **frame(title),
        xlim=axis.limits,
        ylim=(low - 0.25, high + 0.25),
        xticks=axis.ticks(),
        yticks=ticks,
        xlabel=axis.title,
        ylabel=y.label,
    )


def bands_legend(key: MethodKey, share: FloatArray) -> str:
    """Write how likely each method is at the end, the likeliest first."""
    if not share.size:
        return ""
    order = np.argsort(-share[-1], kind="stable")
    rows = [
        [f"{swatch(key.colors[at], key.letters[at])} {escape(key.labels[at])}", format_percent(100 * share[-1][at])]
        for at in order
        if share[-1][at] > 0
    ]
    return table("Tried in the end", [("method", False), ("probability", True)], rows)


def kinds_legend() -> str:
    """Write what the boxes' colours mean."""
    about = {"default": "the library's own decision", "tuning": "methods are tried", "tuned": "the best known is taken"}
    rows = "".join(f"<li>{swatch(color)} {kind}: {about[kind]}</li>" for kind, (color, _) in KINDS.items())
    return f"<ul style='list-style: none; margin: 0; padding: 0; font-size: 13px'>{rows}</ul>"


def fits_legend(methods: Sequence[str], key: MethodKey) -> str:
    """Write which marker is which method, with the letter that it has elsewhere."""
    places = (key.labels.index(name) for name in methods)
    rows = "".join(
        f"<li><span class='sign' style='color: {key.lines[at]}'>{sign}</span> "
        f"{swatch(key.colors[at], key.letters[at])} {escape(key.labels[at])}</li>"
        for at, (_, sign, _) in zip(places, cycle(LOOKS))
    )
    return f"<ul style='list-style: none; margin: 0; padding: 0; font-size: 13px'>{rows}</ul>"


def iterations_table(iterations: Sequence[Mapping[str, Any]]) -> str:
    """Write the medians and what is judged of each iteration: the chart for those who read."""
    names = {"tuned_over_best": "tuned / best", "default_over_best": "default / best"}
    names |= {"tuning_over_best": "tuning / best", "calibration": "predicted off by (×)"}
    known = {name: title for name, title in names.items() if any(iteration.get(name) for iteration in iterations)}
    heads = [("iteration", True), ("timings", True), *((f"{kind}, median", True) for kind in KINDS)]
    heads += [(title, True) for title in known.values()]
    rows = []
    for iteration in iterations:
        medians = [iteration["boxes"].get(kind) for kind in KINDS]
        cells = [f"{iteration['iteration']}", f"{iteration['timings']:,}"]
        cells += [f"{each[2]:.2f} ×" if each else "–" for each in medians]
        rows.append([*cells, *("–" if iteration.get(name) is None else f"{iteration[name]:.3f}" for name in known)])
    return table("Iterations", heads, rows)


def _iteration_ticks(last: int) -> list[int]:
    step = max(1, -(-last // 12))
    return list(range(max(1, step), last + 1, step))


def _factor_ticks(low: float, high: float) -> list[tuple[float, str]]:
    ticks = [(float(np.log2(each)), f"{each:,} ×") for each in (*_FACTORS, *_LARGE)]
    return [tick for tick in ticks if low - 0.05 <= tick[0] <= high + 0.05]


def frame(title: str) -> dict[str, Any]:
    """What all charts of this page have in common."""
    policy = {"plot.toolbar.logo": None, "yaxis.major_label_policy": NoOverlap(min_distance=3)}
    return framed(title, HEIGHT, backend_opts=policy)
