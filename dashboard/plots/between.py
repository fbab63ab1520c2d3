"""Times between the measured sizes: each method's expected time with its band, and below who is chosen and fastest."""

from collections.abc import Iterator
from html import escape
from typing import Any

import holoviews as hv
import numpy as np

from dashboard.decisions.surfaces.along import Along
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.units import format_count, format_percent, format_time
from dashboard.plots.axes import OTHER
from dashboard.plots.colors import MethodKey
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.legend import swatch, table
from dashboard.plots.models.chart import size_ticks, time_ticks, write_size
from dashboard.plots.models.curves import AXES

HEIGHT = 430
#: More curves could not be told apart.
MOST_METHODS = 7
#: Below the curves: lower and upper end of each ribbon, as shares of the least time that is drawn.
_RIBBONS = {"fastest": (0.42, 0.52), "chosen": (0.56, 0.66)}
_ROOM = 0.38
_TIME = hv.Dimension("slice_time", label="time")


def drawn_methods(along: Along, chosen: IntArray) -> list[int]:
    """Methods that are fastest or chosen anywhere, those with the longest stretch first."""
    shares = {
        method: max(_share(along, each, method) for each in (along.fastest, chosen)) for method in _taken(along, chosen)
    }
    return sorted(shares, key=lambda method: -shares[method])[:MOST_METHODS]


def _taken(along: Along, chosen: IntArray) -> list[int]:
    taken = np.unique(np.concatenate([along.fastest, chosen]))
    return [int(method) for method in taken if method >= 0]


def _share(along: Along, each: IntArray, method: int) -> float:
    return float(along.weights[each == method].sum())


def slice_chart(along: Along, chosen: IntArray, key: MethodKey, title: str) -> hv.Overlay:
    """Draw times and bands of the methods that matter on a slice.

    Parameters
    ----------
    chosen
        Method that the decision function takes at each size; -1 where there is none.
    key
        Colours and names of all methods.
    """
    x = hv.Dimension(f"slice_{along.axis}", label=AXES[along.axis])
    sizes = np.maximum(along.sizes, 1).astype(float)
    methods = drawn_methods(along, chosen)
    low, high = np.nanmin(along.low[methods]), np.nanmax(along.high[methods])
    layers: list[hv.Element] = []
    for method in methods:
        color = key.lines[method]
        there = np.isfinite(along.time[method])
        band = (sizes[there], along.low[method, there], along.high[method, there])
        layers.append(
            hv.Area(band, x, [_TIME, hv.Dimension("band_to")]).opts(
                color=color, fill_alpha=0.16, line_alpha=0, backend="bokeh"
            )
        )
    for method in methods:
        layers += _curve(along, sizes, method, key.lines[method], key.labels[method], x)
    for name, each in {"fastest": along.fastest, "chosen": chosen}.items():
        if (each >= 0).any():
            layers.append(_ribbon(name, sizes, each, low, key, (x, along.axis)))
    if not along.inside[-1]:
        layers.append(
            hv.VLine(float(along.sizes[along.inside][-1])).opts(
                color="#9a9a9a", line_dash="dotted", line_width=1.5, backend="bokeh"
            )
        )
    return hv.Overlay(layers).opts(
        **framed(title, HEIGHT, size_ticks(along.axis, log=True), time_ticks),
        xlabel=x.label,
        ylabel=_TIME.label,
        logx=True,
        logy=True,
        xlim=(sizes[0] / 1.04, sizes[-1] * 1.04),
        ylim=(low * _ROOM, high * 1.15),
    )


def _curve(
    along: Along, sizes: FloatArray, method: int, color: str, label: str, x: hv.Dimension
) -> Iterator[hv.Element]:
    there = np.isfinite(along.time[method])
    yield hv.Curve((sizes[there], along.time[method, there]), x, _TIME).opts(color=color, line_width=2, backend="bokeh")
    known = np.isfinite(along.measured[method])
    times = along.measured[method, known]
    texts = [write_size(along.axis, size) for size in along.sizes[known].tolist()]
    columns = (sizes[known], times, [label] * times.size, texts, [format_time(each) for each in times.tolist()])
    yield hv.Scatter(columns, x, [_TIME, "method", "size", "text"]).opts(
        color=color, size=7, line_color="white", **tooltips([("", "@method"), ("", "@size"), ("measured", "@text")])
    )


def _ribbon(
    name: str, sizes: FloatArray, methods: IntArray, low: float, key: MethodKey, where: tuple[hv.Dimension, str]
) -> hv.Rectangles:
    """Stretches of one method each, from halfway before its first size to halfway behind its last."""
    x, axis = where
    ends = np.flatnonzero(np.diff(methods)) + 1
    borders = np.concatenate([[sizes[0]], np.sqrt(sizes[ends - 1] * sizes[ends]), [sizes[-1]]])
    firsts = np.concatenate([[0], ends])
    kept = [place for place, first in enumerate(firsts) if methods[first] >= 0]
    taken = [int(methods[firsts[place]]) for place in kept]
    bottom, top = (low * share for share in _RIBBONS[name])
    columns = (
        borders[kept],
        np.full(len(kept), bottom),
        borders[np.array(kept, dtype=int) + 1],
        np.full(len(kept), top),
        [key.colors[method] for method in taken],
        [f"{name}: {key.labels[method]}" for method in taken],
        [f"{write_size(axis, borders[p])} to {write_size(axis, borders[p + 1])}" for p in kept],
    )
    ends_of = [x, _TIME, hv.Dimension("slice_to"), hv.Dimension("slice_time_to")]
    return hv.Rectangles(columns, ends_of, ["color", "who", "range"]).opts(
        color="color", line_color="white", line_width=1, **tooltips([("", "@who"), ("", "@range")])
    )


def slice_table(along: Along, chosen: IntArray, key: MethodKey) -> str:
    """Write the methods that are drawn, and on what share of the measured range each is the fastest and is chosen."""
    rows = [
        [
            f"{swatch(key.colors[method], key.letters[method])} {escape(key.labels[method])}",
            *(format_percent(100 * _share(along, each, method)) for each in (along.fastest, chosen)),
        ]
        for method in drawn_methods(along, chosen)
    ]
    left = len(_taken(along, chosen)) - len(rows)
    note = f"<p>{format_count(left, 'method')} of shorter stretches are not drawn.</p>" if left else ""
    heads = [("method", False), ("fastest on", True), ("chosen on", True)]
    return table("Shares of the sizes between, by the logarithm", heads, rows) + note


def slice_title(collective: str, along: Along) -> str:
    """Of what the slice is."""
    return f"{collective} over {AXES[along.axis]}, {write_size(OTHER[along.axis], along.held)}"


def slice_words(along: Along, chosen: IntArray, predictor: str) -> dict[str, Any]:
    """What is said below: how sure it is who is fastest, and what the decision is expected to cost on the slice."""
    return {
        "predictor": predictor,
        "sure": format_percent(100 * float(along.weights[along.sure].sum())),
        "penalty": format_percent(along.expected_penalty(chosen)) if (chosen >= 0).all() else "",
    }
