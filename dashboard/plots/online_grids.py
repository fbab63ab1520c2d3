"""Online tuning as maps over message sizes, and nodes with processes per node: bins that were seen, what is gained."""

from collections.abc import Mapping, Sequence

import holoviews as hv
import numpy as np
import pandas as pd

from dashboard.domain.units import format_bytes, format_count, format_time
from dashboard.plots.axes import size_axis
from dashboard.plots.backend import LETTERS
from dashboard.plots.decision_map import that_fit
from dashboard.plots.frame import tooltips
from dashboard.plots.online import frame

#: From nothing to much: one hue.
_SEQUENTIAL = ("#dbe9f6", "#b5d2ec", "#84b3de", "#5592cc", "#2f71b3", "#174f8c")
#: Half of the time, the same, twice the time; to be seen on light and on dark ground.
_DIVERGING = ("#1a7f5a", "#4fa684", "#8dbfa9", "#b8b8b8", "#dcb48a", "#d58f45", "#b25e00")
_UNKNOWN = "#707070"
_MOST_FACTOR = 2.0
_MOST_ROWS = 40
#: Columns and rows up to which cells hold figures.
_MOST_TEXT = (12, 14)


def coverage_map(seen: pd.DataFrame) -> hv.Overlay:
    """Draw how many timings there are in each bin that was seen.

    Parameters
    ----------
    seen
        As `dashboard.online.course.coverage` gives it.
    """
    most = max(float(seen["timings"].max()), 1.0) if len(seen) else 1.0
    level = np.log1p(seen["timings"].to_numpy(dtype=float)) / np.log1p(most)
    places = np.minimum((level * len(_SEQUENTIAL)).astype(int), len(_SEQUENTIAL) - 1)
    texts = {
        "timings": [f"{each:,}" for each in seen["timings"]],
        "methods": [f"{each:,}" for each in seen["methods"]],
        "taken": list(seen["best"]),
    }
    tips = [
        ("", "@row"),
        ("message size", "@column"),
        ("timings", "@timings"),
        ("of methods", "@methods"),
        ("taken", "@taken"),
    ]
    colors = [_SEQUENTIAL[each] for each in places]
    # Bins begin at 0, nodes and processes on them at 1.
    least = seen.assign(nodes=seen["nodes"].clip(lower=1), ppn=seen["ppn"].clip(lower=1))
    return _grid("Timings by bin", least, colors, texts, tips, "timings", least="≥ ")


def gain_map(beside: pd.DataFrame) -> hv.Overlay:
    """Draw what was learnt beside the library's own decision: green takes less time, orange more.

    Parameters
    ----------
    beside
        As `dashboard.online.course.beside_default` gives it.
    """
    ratio = beside["ratio"].to_numpy(dtype=float)
    level = np.clip(np.log(ratio) / np.log(_MOST_FACTOR), -1, 1)
    steps = len(_DIVERGING)
    places = np.where(np.isnan(level), -1, np.minimum(((np.nan_to_num(level) + 1) / 2 * steps).astype(int), steps - 1))
    colors = [_DIVERGING[each] if each >= 0 else _UNKNOWN for each in places]
    texts = {
        "ratio": ["?" if np.isnan(each) else f"{each:.2f}" for each in ratio],
        "tuned": ["not known" if np.isnan(each) else format_time(each) for each in beside["tuned"]],
        "default": ["not known" if np.isnan(each) else format_time(each) for each in beside["default"]],
        "method": list(beside["method"]),
    }
    tips = [("", "@row"), ("message size", "@column"), ("method", "@method"), ("tuned", "@tuned")]
    tips += [("the library's own", "@default"), ("tuned / default", "@ratio")]
    return _grid("Tuned against the library", beside, colors, texts, tips, "ratio")


def _grid(
    title: str,
    cells: pd.DataFrame,
    colors: Sequence[str],
    texts: Mapping[str, Sequence[str]],
    tips: list[tuple[str, str]],
    shown: str,
    least: str = "",
) -> hv.Overlay:
    """Cells of message sizes to the right, and of nodes and processes per node upwards; `least` stands before sizes."""
    axis = size_axis("message_size", sorted({int(each) for each in cells["message_size"]} or {1}))
    pairs = list(zip(cells["nodes"], cells["ppn"], strict=True))
    rows = sorted(set(pairs))[-_MOST_ROWS:]
    there = [pair in set(rows) for pair in pairs]
    row = np.array([rows.index(pair) for pair, kept in zip(pairs, there, strict=True) if kept], dtype=float)
    column = np.array([axis.index_of(int(each)) for each in cells["message_size"][there]], dtype=int)
    words = {name: np.array(list(each), dtype=object)[there] for name, each in texts.items()}
    columns = {
        "x0": axis.edges[column],
        "y0": row - 0.5,
        "x1": axis.edges[column + 1],
        "y1": row + 0.5,
        **words,
        "row": np.array(
            [least + place_words(*pair) for pair, kept in zip(pairs, there, strict=True) if kept], dtype=object
        ),
        "column": np.array([least + format_bytes(int(each)) for each in cells["message_size"][there]], dtype=object),
        "color": np.array(colors, dtype=object)[there],
    }
    ends = ["x0", "y0", "x1", "y1"]
    drawn = hv.Rectangles(columns, ends, [name for name in columns if name not in ends])
    layers: list[hv.Element] = [drawn.opts(color="color", line_color="color", **tooltips(tips))]
    if axis.sizes.size <= _MOST_TEXT[0] and len(rows) <= _MOST_TEXT[1]:
        x, y = (columns["x0"] + columns["x1"]) / 2, row
        figures = that_fit(columns[shown], axis, column)
        dark = np.array([_is_dark(each) for each in columns["color"]], dtype=bool)
        for kind, color in ((dark, "#ffffff"), (~dark, "#111111")):
            labels = hv.Labels((x[kind], y[kind], figures[kind]), ["x", "y"], "text")
            layers.append(labels.opts(text_color=color, text_font_size="9px", **LETTERS))
    return hv.Overlay(layers).opts(
        **frame(title),
        xlim=axis.limits,
        ylim=(-0.5, max(len(rows), 1) - 0.5),
        xticks=axis.ticks(),
        yticks=[(float(at), least + _short(*pair)) for at, pair in enumerate(rows)] or [(0.0, "")],
        xlabel=axis.title,
        ylabel="nodes × processes per node",
    )


def _is_dark(color: str) -> bool:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 130


def place_words(nodes: float, ppn: float) -> str:
    """Nodes and processes per node in words."""
    return f"{format_count(int(nodes), 'node')} × {int(ppn):,}"


def _short(nodes: float, ppn: float) -> str:
    return f"{int(nodes):,} × {int(ppn):,}"
