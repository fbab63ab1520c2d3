"""The pictures that make the case of a decision, for talks and papers: drawn by Matplotlib, vectors with their text.

The page's own pictures are made to be played with; on paper a figure has a fixed width, its legend inside, and one
size of letters throughout.
"""

import io
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib import rc_context
from matplotlib.axes import Axes as Drawing
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_count, format_time
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.decision_map import INK, NO_LINES, codes_in_runs, has_letters
from dashboard.plots.legend import method_shares
from dashboard.plots.penalty import COLORS, LABELS, figures, penalty_classes

#: Inches: the width of a text block, and the height of a map; dots an inch of a pixel picture, twice a screen's.
WIDTH, HEIGHT, DPI = 6.3, 3.2, 192
#: Formats by ending.
FORMATS = ("svg", "pdf", "png")
#: Methods in a legend, the rest is counted; ticks along an axis.
MOST_NAMED, MOST_TICKS = 12, 7
_STYLE = {
    "font.size": 8.0,
    "axes.linewidth": 0.6,
    "axes.titlesize": 9.0,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "colltune",
}
_LOOKS = (("#1a1a1a", "-", "o"), ("#d55e00", "--", "s"), ("#0072b2", ":", "^"))


@rc_context(_STYLE)
def method_picture(
    title: str, methods: NDArray[np.integer], axes: Axes, key: MethodKey, segments: FloatArray = NO_LINES
) -> Figure:
    """Draw a map of methods with its legend.

    Parameters
    ----------
    methods
        Method indices, shape (comm_size, message_size); -1 stays hatched.
    segments
        Lines between regions, as `dashboard.plots.decision_map.region_segments` gives them.
    """
    figure, drawing = _map(title, methods, axes, key.colors)
    if len(segments):
        drawing.plot(segments[:, [0, 2]].T, segments[:, [1, 3]].T, color=INK, linewidth=0.9, solid_capstyle="butt")
    if has_letters(axes):
        _write(drawing, axes, codes_in_runs(methods, axes, key, segments))
    shares = method_shares(key, methods, methods)
    entries = [(f"{row.letter}  {row.label}", row.color) for row in shares[:MOST_NAMED].itertuples()]
    _legend(figure, entries, len(shares) - MOST_NAMED)
    return figure


@rc_context(_STYLE)
def penalty_picture(title: str, penalty: FloatArray, axes: Axes) -> Figure:
    """Draw a map of penalties (percent, shape (comm_size, message_size)) in the classes of the page."""
    colors = [color[:7] for color in COLORS]
    figure, drawing = _map(title, penalty_classes(penalty), axes, colors)
    if has_letters(axes):
        _write(drawing, axes, figures(penalty, axes))
    _legend(figure, list(zip(LABELS, colors, strict=True)), 0)
    return figure


@rc_context(_STYLE)
def time_picture(title: str, times: Mapping[str, xr.DataArray], axes: Axes) -> Figure:
    """Draw times over the message size at the largest communicator.

    Parameters
    ----------
    times
        Seconds by name of the line, dims ``comm_size`` and ``message_size``; at most three.
    """
    figure, drawing = _frame(title)
    for (name, table), (color, dash, marker) in zip(times.items(), _LOOKS, strict=False):
        seconds = table.isel(comm_size=-1).values
        drawing.plot(
            axes.x.positions(axes.x.sizes),
            seconds,
            label=name,
            color=color,
            linestyle=dash,
            marker=marker,
            markersize=3,
        )
    drawing.set_yscale("log")
    drawing.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    drawing.yaxis.set_major_formatter(lambda value, _: format_time(value))
    drawing.yaxis.set_minor_formatter(NullFormatter())
    drawing.set_xticks(*zip(*axes.x.ticks(MOST_TICKS), strict=True))
    drawing.set(xlabel=axes.x.title, ylabel=f"time on {axes.y.write(axes.y.sizes[-1])} processes")
    drawing.grid(visible=True, linewidth=0.3)
    drawing.legend()
    return figure


@rc_context(_STYLE)
def saved(figure: Figure, ending: str) -> bytes:
    """Write a figure in one of `FORMATS`; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    figure.savefig(buffer, format=ending, dpi=DPI, metadata=dated.get(ending))
    return buffer.getvalue()


def _frame(title: str) -> tuple[Figure, Drawing]:
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    drawing = figure.add_subplot()
    drawing.set_title(title, loc="left")
    return figure, drawing


def _map(title: str, codes: NDArray[np.integer], axes: Axes, colors: Sequence[str]) -> tuple[Figure, Drawing]:
    figure, drawing = _frame(title)
    drawing.set_facecolor("#e8e8e8")
    drawing.pcolormesh(
        axes.x.edges,
        axes.y.edges,
        np.ma.masked_less(codes, 0),
        cmap=ListedColormap(list(colors)),
        vmin=-0.5,
        vmax=len(colors) - 0.5,
        rasterized=axes.cells > 20_000,
    )
    drawing.set_xticks(*zip(*axes.x.ticks(MOST_TICKS), strict=True))
    drawing.set_yticks(*zip(*axes.y.ticks(), strict=True))
    drawing.set(xlabel=axes.x.title, ylabel=axes.y.title)
    return figure, drawing


def _write(drawing: Drawing, axes: Axes, texts: NDArray[np.str_]) -> None:
    places = zip(np.tile(axes.x.centres, axes.y.sizes.size), np.repeat(axes.y.centres, axes.x.sizes.size), strict=True)
    for (x, y), text in zip(places, texts, strict=True):
        if text:
            drawing.text(x, y, str(text), ha="center", va="center", fontsize=5, color=INK)


def _legend(figure: Figure, entries: Sequence[tuple[str, str]], more: int) -> None:
    patches = [Patch(facecolor=color, edgecolor="#888888", linewidth=0.4, label=label) for label, color in entries]
    if more > 0:
        patches.append(Patch(visible=False, label=f"and {format_count(more, 'method')} more"))
    figure.legend(handles=patches, loc="outside right upper")
