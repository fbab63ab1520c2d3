"""Decision maps: which method at which size, with the regions of a tree drawn over them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.domain.arrays import Array, BoolArray, FloatArray, IntArray
from dashboard.plots.axes import Axes, Axis
from dashboard.plots.backend import LETTERS
from dashboard.plots.colors import MethodKey
from dashboard.plots.live import Layer
from dashboard.plots.raster import Raster

X = hv.Dimension("message_size_at", label="message size")
Y = hv.Dimension("comm_size_at", label="processes")

#: Maps of more cells than this, in all or in a row or column, have no letters: they would not fit.
MOST_LETTERS = 900
MOST_IN_LINE = 40
#: Width and height of a map on a page of 1280 pixels, of a figure's digit, and what is free beside a text.
NARROWEST, LOWEST = 300.0, 260.0
FIGURE_WIDTH, FIGURE_HEIGHT = 5.6, 8.0
FREE = 2.5

#: Letters, lines and markers: every colour of a map is light enough for it.
INK = "#111111"
#: What is marked: the way through a tree, its leaf's region, the current choice.
MARK = "#e6007e"
#: What `region_segments` gives where there is but one region.
NO_LINES: FloatArray = np.empty((0, 4))


def paint_codes(values: NDArray[np.integer[Any]], raster: Raster, count: int) -> NDArray[np.unsignedinteger[Any]]:
    """Image of codes 0 … count - 1 of cells, negative ones becoming the largest value of their type.

    Parameters
    ----------
    values
        Codes, shape (comm_size, message_size).
    count
        Number of codes.
    """
    kind = np.uint8 if count < 255 else np.uint16
    nothing = np.iinfo(kind).max
    return raster.paint(np.where(values < 0, nothing, values).astype(kind))


def code_image(values: NDArray[np.integer[Any]], raster: Raster, colors: Sequence[str]) -> Layer:
    """Draw codes of cells, such as method indices, in fixed colours; where there is none (-1), what lies below shows.

    Parameters
    ----------
    values
        Shape (comm_size, message_size).
    colors
        Along the codes.
    """
    pixels = paint_codes(values, raster, len(colors))
    return Layer({"image": [pixels]}, partial(_image, pixels, raster, colors))


def _image(pixels: NDArray[np.unsignedinteger[Any]], raster: Raster, colors: Sequence[str]) -> hv.Image:
    left, bottom, right, top = raster.bounds
    rows, columns = pixels.shape
    xs = left + (np.arange(columns) + 0.5) * (right - left) / columns
    ys = bottom + (np.arange(rows) + 0.5) * (top - bottom) / rows
    image = hv.Image((xs, ys, pixels), kdims=[X, Y], bounds=(left, bottom, right, top))
    return image.opts(
        cmap=list(colors),
        clim=(-0.5, len(colors) - 0.5),
        clipping_colors={"max": "rgba(0, 0, 0, 0)", "NaN": "rgba(0, 0, 0, 0)"},
        colorbar=False,
        backend="bokeh",
    )


def hatched(boxes: FloatArray, look: Mapping[str, Any], **hatch: Any) -> Layer:
    """Draw boxes, as `boxes_layer`, with a hatch over them."""
    return boxes_layer(boxes, backend_opts={f"glyph.hatch_{name}": each for name, each in hatch.items()}, **look)


def boxes_layer(boxes: FloatArray, **look: Any) -> Layer:
    """Draw boxes, shape (boxes, 4): left, bottom, right, top.

    Parameters
    ----------
    **look
        Options of HoloViews.
    """
    columns = dict(zip(("left", "bottom", "right", "top"), boxes.T, strict=True))
    sides = [X, Y, "message_size_to", "comm_size_to"]
    return Layer(columns, lambda: hv.Rectangles(boxes, kdims=sides).opts(line_alpha=0, **look, backend="bokeh"))


def unmeasured_ground(axes: Axes, boxes: FloatArray | None = None) -> Layer:
    """Hatched ground of a map, seen wherever nothing was measured.

    Parameters
    ----------
    boxes
        What is hatched, shape (boxes, 4): left, bottom, right, top; None: all of the map.
    """
    if boxes is None:
        boxes = np.array([[*axes.x.limits, *axes.y.limits]])[:, [0, 2, 1, 3]]
    look = {"fill_color": "#c8c8c8"}
    return hatched(boxes, look, pattern="right_diagonal_line", color="#6b6b6b", scale=7, weight=1)


def region_segments(regions: pd.DataFrame, axes: Axes) -> FloatArray:
    """Lines between the regions of a decision function, as few as draw all of them.

    Parameters
    ----------
    regions
        One value a leaf: ``comm_low, comm_high, message_low, message_high`` (low exclusive, high inclusive).
    axes
        Of the map; lines run between measured sizes, where cells end.

    Returns
    -------
    array, shape (lines, 4)
        ``x0, y0, x1, y1``; lines in one line that touch are joined.
    """
    left, right = (axes.x.borders(regions[name].to_numpy()) for name in ("message_low", "message_high"))
    bottom, top = (axes.y.borders(regions[name].to_numpy()) for name in ("comm_low", "comm_high"))
    # Regions between repeated sizes of the square have no extent on the map.
    seen = (left < right) & (bottom < top)
    left, right, bottom, top = left[seen], right[seen], bottom[seen], top[seen]
    inner_x, inner_y = right < axes.x.limits[1], top < axes.y.limits[1]
    upright = _joined(right[inner_x], bottom[inner_x], top[inner_x])
    level = _joined(top[inner_y], left[inner_y], right[inner_y])
    return np.concatenate([upright[:, [0, 1, 0, 2]], level[:, [1, 0, 2, 0]]])


def _joined(at: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    # Intervals [start, end] on parallel lines, merged where one begins at or before the end of another.
    if not at.size:
        return np.empty((0, 3))
    order = np.lexsort((start, at))
    at, start, end = at[order], start[order], end[order]
    new = np.ones(at.size, dtype=bool)
    # Within a line ends may be nested; ranking lines apart makes one running maximum do for all.
    lift = np.cumsum(
        np.concatenate([[0.0], (at[1:] != at[:-1]) * (np.ptp(end) + np.ptp(start) + np.ptp([start[0], end[0]]) + 1)])
    )
    reach = np.maximum.accumulate(end + lift)
    new[1:] = start[1:] + lift[1:] > reach[:-1]
    first = np.flatnonzero(new)
    return np.column_stack([at[first], start[first], np.maximum.reduceat(end, first)])


def region_outline(segments: FloatArray, color: str = INK, width: float | None = None) -> Layer:
    """Draw the lines between regions in one stroke of the pen: both ends of each line and a gap.

    Parameters
    ----------
    segments
        As `region_segments` makes them.
    color, width
        Of the lines; None: the thinner the more lines there are.
    """
    gap = np.full(len(segments), np.nan)
    x = np.column_stack([segments[:, 0], segments[:, 2], gap]).ravel()
    y = np.column_stack([segments[:, 1], segments[:, 3], gap]).ravel()
    columns = {X.name: x if x.size else np.array([np.nan]), Y.name: y if y.size else np.array([np.nan])}
    look = {"color": color, "line_width": width or (1.5 if len(segments) < 400 else 0.75)}
    return Layer(columns, lambda: hv.Curve(tuple(columns.values()), X, Y).opts(**look, backend="bokeh"))


def has_letters(axes: Axes) -> bool:
    """Whether cells are large enough to be written in."""
    return axes.cells <= MOST_LETTERS and max(axes.shape) <= MOST_IN_LINE


def _pixels(axis: Axis, extent: float) -> FloatArray:
    """Width, or height, of each column or row of cells where the map is so many pixels wide or high."""
    low, high = axis.limits
    return np.diff(axis.edges) / (high - low) * extent


def _width(text: str) -> float:
    return len(text) * FIGURE_WIDTH + FREE


def that_fit(figures: Array, axis: Axis, column: IntArray) -> Array:
    """Leave out what is wider than its cell where the map is as narrow as it gets.

    Parameters
    ----------
    figures
        Text in each cell.
    axis
        To the right.
    column
        Of each cell along the axis.
    """
    widths = np.array([_width(text) for text in figures])
    return np.where(widths <= _pixels(axis, NARROWEST)[column], figures, "")


def in_cells(figures: Array, axes: Axes) -> Array:
    """Leave out what is wider or higher than its cell where the map is as small as it gets.

    Parameters
    ----------
    figures
        Text in each cell, row by row.
    """
    rows, columns = axes.shape
    fitting = that_fit(figures, axes.x, np.tile(np.arange(columns), rows))
    return np.where(np.repeat(_readable(axes), columns), fitting, "")


def _readable(axes: Axes) -> BoolArray:
    """Rows that are high enough to be written in."""
    return _pixels(axes.y, LOWEST) >= FIGURE_HEIGHT


def codes_in_runs(
    methods: NDArray[np.integer[Any]], axes: Axes, key: MethodKey, segments: FloatArray = NO_LINES
) -> Array:
    """Text in each cell, row by row: a method's code in the middle one of its cells side by side, the others empty.

    Where there is no room for the code stands the algorithm's letter alone, whose shade says the rest, unless it is the
    code of another method; else nothing. Cells with one of the `segments` between them are no longer side by side.
    """
    texts = np.full(methods.shape, "", dtype=object)
    scale = NARROWEST / np.ptp(axes.x.limits)
    centres, edges = axes.x.centres * scale, axes.x.edges * scale
    apart = (np.diff(methods, axis=1) != 0) | _crossed(segments, axes)
    for row in np.flatnonzero(_readable(axes)):
        line = methods[row]
        ends = [*(np.flatnonzero(apart[row]) + 1), len(line)]
        for start, end in zip([0, *ends], ends, strict=False):
            if line[start] >= 0:
                code, centre = key.letters[line[start]], centres[start:end]
                room = 2 * np.minimum(centre - edges[start], edges[end] - centre)
                middle = int(room.round(6).argmax())
                shorter = [code[0]] if code[0] not in key.letters else []
                fitting = (text for text in (code, *shorter) if _width(text) <= room[middle])
                texts[row, start + middle] = next(fitting, "")
    return texts.ravel()


def _crossed(segments: FloatArray, axes: Axes) -> BoolArray:
    """Whether a line runs between each cell and the next one in its row."""
    left, bottom, right, top = segments.T
    columns = (left == right)[:, None] & np.isclose(left[:, None], axes.x.edges[1:-1])
    rows = (bottom[:, None] < axes.y.centres) & (axes.y.centres < top[:, None])
    return np.asarray(rows.T @ columns)


def cell_texts(texts: Array, axes: Axes, size: str = "9px") -> Layer:
    """Write texts, row by row, in the middles of cells; ask `has_letters` first whether there is room for any."""
    x, y = axes.x.centres, axes.y.centres
    columns = {X.name: np.tile(x, y.size), Y.name: np.repeat(y, x.size), "text": texts}
    look = {"text_color": INK, "text_font_size": size, **LETTERS}
    return Layer(columns, lambda: hv.Labels(tuple(columns.values()), [X, Y], "text").opts(**look))


def pin_marker(cell: tuple[int, int] | None, axes: Axes) -> Layer:
    """Mark the pinned cell ``(comm_size, message_size)`` with a ring of one size, to be seen on cells of any size."""
    columns = {name: np.array([at]) for name, at in zip((X.name, Y.name), axes.centre(cell), strict=True)}
    look = {"marker": "circle_cross", "size": 17, "fill_alpha": 0.0, "line_color": INK, "line_width": 2.5}
    return Layer(columns, lambda: hv.Points(tuple(columns.values()), [X, Y]).opts(**look, backend="bokeh"))
