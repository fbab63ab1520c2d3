"""Tuned against default as Figures 6.22 and 6.23 and Table 6.9 of the dissertation: improvement and figures.

The improvement in percent, 100·(t_default − t_tuned)/t_default, has no lower end: a tuned library that takes ten times
as long is at −900 %. So it is drawn by the logarithm of the ratio, with ticks in percent.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any, Literal

import holoviews as hv
import numpy as np

from dashboard.decisions.function.text import region
from dashboard.decisions.judged.improvement import OUTCOMES, Improvement, Verdict
from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_count, format_percent
from dashboard.plots.axes import OTHER, Axis, size_axis
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.frontier import LOOKS
from dashboard.plots.legend import table
from dashboard.plots.models.chart import write_size

HEIGHT = 350
Along = Literal["message_size", "comm_size"]
_GREY = "#9a9a9a"
_TICKS = (-9900, -3900, -1900, -900, -400, -200, -100, -50, -25, -10, 0, 10, 25, 50, 75, 90, 95, 98, 99, 99.9)
#: Beyond a hundredth of the default's time, and a hundred times it, intervals are cut off.
_FAR = 7.0
#: Which times and which means the tables are of, since those of other pages are others.
_TIMES = (
    "<p>Times are those that are tested: of single repetitions the mean of the logarithms without the highest and the "
    "lowest fifth. The mean is of the percents, as in the dissertation (Table 6.9).</p>"
)
_RATIOS = "<p>The mean is that of the ratios, which is what is tested.</p>"
_ABOUT = {"no difference": "within noise", "faster": "faster beyond noise", "slower": "slower beyond noise"}


def improvement_chart(improvements: Mapping[str, Improvement], along: Along, at: int) -> hv.Overlay:
    """Draw the improvement over the default, of one or several decision functions.

    Filled marks are beyond noise, hollow ones within; bars are the intervals of the campaign's level.

    Parameters
    ----------
    improvements
        By title.
    along
        The size that runs to the right.
    at
        The other size, one that was measured.
    """
    axis = size_axis(along, sorted({int(size) for each in improvements.values() for size in each.cells[along].values}))
    dims = _dims(along)
    ends = axis.positions(axis.sizes)[[0, -1]] + np.array([-1.0, 1.0])
    layers: list[hv.Element] = [hv.Curve((ends, [0, 0]), *dims).opts(color=_GREY, line_width=1.5, backend="bokeh")]
    heights: list[FloatArray] = []
    for (title, improvement), look in zip(improvements.items(), cycle(LOOKS), strict=False):
        columns = _columns(improvement, axis, along, at, title)
        # An interval of one noisy cell must not flatten all others.
        heights += [columns["gain"], *(columns[name].clip(-_FAR, _FAR) for name in ("low", "high"))]
        layers += _line(columns, dims, title, look)
    return hv.Overlay(layers).opts(
        **_frame(axis, f"Improvement over the default, {write_size(OTHER[along], at)}"),
        ylabel="improvement [%], positive is better",
        **_gain_range(heights),
    )


def improvement_table(improvements: Mapping[str, Improvement]) -> str:
    """Write minimum, maximum and mean of the improvement by communicator size, as Table 6.9, with the outcomes."""
    heads = [("decision", False), ("processes", True), ("cells", True)]
    heads += [("min", True), ("max", True), ("mean", True), ("faster", True), ("slower", True)]
    rows, apart = [], []
    for title, improvement in improvements.items():
        apart += [len(rows)] if rows else []
        for row in improvement.table().itertuples():
            size = "all" if not row.comm_size else f"{row.comm_size:,}"
            figures = [_signed(value) for value in (row.min, row.max, row.mean)]
            rows.append([escape(title), size, f"{row.cells:,}", *figures, f"{row.faster:,}", f"{row.slower:,}"])
    title = "Improvement, less time than the library's own decision takes; positive is better"
    return table(title, heads, rows, apart=apart) + _TIMES


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Write what each rule gains, the slowest first; rules that nobody measured are counted below."""
    heads = [("rule", False), ("method", False), ("cells", True), ("mean", True), ("min", True), ("max", True)]
    measured = sorted((verdict for verdict in verdicts if verdict.cells), key=lambda verdict: verdict.mean)
    rows = [
        [
            escape(region(verdict.bounds)),
            escape(verdict.method),
            f"{verdict.cells:,}",
            *(_signed(value) for value in (verdict.mean, verdict.min, verdict.max)),
            escape(_ABOUT[verdict.outcome]),
        ]
        for verdict in measured
    ]
    left = len(verdicts) - len(measured)
    note = f"<p>{format_count(left, 'rule')} without a measured cell</p>" if left else ""
    return table("What each rule gains", [*heads, ("", False)], rows) + note + _RATIOS


def _columns(improvement: Improvement, axis: Axis, along: Along, at: int, title: str) -> dict[str, Any]:
    line = improvement.cells.sel({OTHER[along]: at})
    there = np.isfinite(line["improvement"].values)
    sizes = line[along].values[there]
    low, high = (_gain(line[name].values[there]) for name in ("low", "high"))
    middle = _gain(line["improvement"].values[there])
    outcome = [OUTCOMES[number] for number in line["outcome"].values[there]]
    words = [_ABOUT[verdict] for verdict in outcome]
    same = line["same"].values[there]
    return {
        "at": axis.positions(sizes),
        "gain": middle,
        "low": np.where(np.isfinite(low), np.minimum(low, middle), middle),
        "high": np.where(np.isfinite(high), np.maximum(high, middle), middle),
        "beyond": np.array([1.0 if verdict in ("faster", "slower") else 0.0 for verdict in outcome]),
        "title": np.array([title] * sizes.size, dtype=object),
        "size": np.array([write_size(along, size) for size in sizes], dtype=object),
        "percent": np.array([_signed(value) for value in line["improvement"].values[there]], dtype=object),
        "told": np.array(
            [f"{word}; same messages" if alike else word for word, alike in zip(words, same, strict=True)], dtype=object
        ),
    }


def _line(
    columns: Mapping[str, Any], dims: tuple[hv.Dimension, hv.Dimension], title: str, look: tuple[str, str, str]
) -> list[hv.Element]:
    marker, _, color = look
    x, y = columns["at"], columns["gain"]
    bars = hv.Segments((x, columns["low"], x, columns["high"]), ["x0", "y0", "x1", "y1"])
    names = ("beyond", "title", "size", "percent", "told")
    points = hv.Scatter((x, y, *(columns[name] for name in names)), dims[0], [dims[1], *names], label=title)
    return [
        bars.opts(color=color, line_width=1.5, alpha=0.6, backend="bokeh"),
        hv.Curve((x, y), *dims, label=title).opts(color=color, line_width=1.2, backend="bokeh"),
        points.opts(
            color=color,
            marker=marker,
            size=9,
            line_width=2,
            fill_alpha="beyond",
            **tooltips([("", "@title"), ("", "@size"), ("improvement", "@percent"), ("", "@told")]),
        ),
    ]


def _gain(percent: Any) -> FloatArray:
    """Where an improvement lies: the base-2 logarithm of default time by tuned time."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-np.log2(1 - np.asarray(percent, dtype=np.float64) / 100))


def _gain_range(heights: Sequence[FloatArray]) -> dict[str, Any]:
    values = np.concatenate([*heights, np.zeros(1)])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    places = [(float(_gain(tick)), f"{tick:+,g}".replace("+0", "0").replace("-", "−")) for tick in _TICKS]
    shown: list[tuple[float, str]] = []
    gap = max(high - low, 0.3) / 9
    for place, text in sorted(places, key=lambda ytick: abs(ytick[0])):
        if low - 0.1 <= place <= high + 0.1 and all(abs(place - other) >= gap for other, _ in shown):
            shown.append((place, text))
    return {"yticks": sorted(shown), "ylim": (low - 0.1, high + 0.1)}


def _frame(axis: Axis, title: str) -> dict[str, Any]:
    at = axis.positions(axis.sizes)
    room = 0.05 * max(float(np.ptp(at)), 1.0)
    limits = float(at.min()) - room, float(at.max()) + room
    axes = {"xlabel": axis.title, "xticks": axis.ticks(8), "xlim": limits}
    return framed(title, HEIGHT, grows=False, toolbar=None, **axes, show_legend=True, legend_position="top")


def _dims(along: Along) -> tuple[hv.Dimension, hv.Dimension]:
    """Of a chart's own: drawing libraries link the ranges of charts that share a dimension."""
    return hv.Dimension(f"gain_over_{along}"), hv.Dimension(f"gain_at_{along}")


def _signed(value: float) -> str:
    return f"+{format_percent(value)}" if value > 0 else format_percent(value).replace("-", "−")
