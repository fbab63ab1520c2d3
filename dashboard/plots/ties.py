"""Textures of maps: cells with ties, estimates, times that cannot be trusted, choices that were not measured."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np
from numpy.typing import NDArray

from dashboard.domain.units import format_count
from dashboard.plots.axes import Axes
from dashboard.plots.decision_map import INK, X, Y

#: More hatched boxes than this would take the browser seconds.
MOST_BOXES = 20_000


def tie_boxes(tied: NDArray[np.bool_], axes: Axes) -> NDArray[np.float64]:
    """Boxes that cover the tied cells, shape (boxes, 4): left, bottom, right, top; neighbours in a row are joined."""
    padded = np.zeros((tied.shape[0], tied.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = tied
    change = np.diff(padded, axis=1)
    row, first = np.nonzero(change == 1)
    _, end = np.nonzero(change == -1)
    x, y = axes.x.edges, axes.y.edges
    return np.column_stack([x[first], y[row], x[end], y[row + 1]])


def tie_hatch(tied: NDArray[np.bool_], axes: Axes, pattern: str = "left_diagonal_line") -> hv.Rectangles:
    """Hatch the tied cells.

    Parameters
    ----------
    tied
        Shape (comm_size, message_size).
    axes
        Of the map.
    pattern
        Of the hatch, as Bokeh names it.
    """
    boxes = tie_boxes(tied, axes)
    kept: Any = boxes if len(boxes) <= MOST_BOXES else boxes[:0]
    return hv.Rectangles(kept, kdims=[X, Y, "message_size_to", "comm_size_to"]).opts(
        fill_alpha=0.0,
        line_alpha=0,
        backend_opts={
            "glyph.hatch_pattern": pattern,
            "glyph.hatch_color": INK,
            "glyph.hatch_alpha": 0.35,
            "glyph.hatch_scale": 8,
            "glyph.hatch_weight": 1,
        },
        backend="bokeh",
    )


def hatch_columns(tied: NDArray[np.bool_], axes: Axes) -> dict[str, NDArray[np.float64]]:
    """What `tie_hatch` draws, as columns of its source."""
    boxes = tie_boxes(tied, axes)
    kept = boxes if len(boxes) <= MOST_BOXES else boxes[:0]
    return dict(zip(("left", "bottom", "right", "top"), kept.T, strict=True))


def tie_legend(tied: NDArray[np.bool_], measured: int, words: str) -> str:
    """Say how many cells are hatched, and why."""
    count = int(tied.sum())
    return f'<p><span class="swatch tied">&nbsp;</span> {count:,} of {measured:,} measured cells are ties: {words}</p>'


def estimate_legend(estimated: NDArray[np.bool_]) -> str:
    """Say how many cells are dotted, and why."""
    cells = format_count(int(estimated.sum()), "cell")
    return f'<p><span class="swatch estimated">&nbsp;</span> {cells}: the best time is interpolated</p>'


def counted_legend(unmeasured: NDArray[np.bool_]) -> str:
    """Say how many cells are dotted on the map of penalties; nothing where none is."""
    if not unmeasured.any():
        return ""
    cells = format_count(int(unmeasured.sum()), "cell")
    return f'<p><span class="swatch estimated">&nbsp;</span> {cells}: the chosen method was not measured there</p>'


def untrusted_legend(untrusted: NDArray[np.bool_]) -> str:
    """Say how many cells are crossed, and why."""
    cells = format_count(int(untrusted.sum()), "cell")
    return f'<p><span class="swatch untrusted">&nbsp;</span> {cells}: times that cannot be trusted, as told there</p>'


STYLE = """
.estimated { background: radial-gradient(circle, rgba(128, 128, 128, 0.9) 1.2px, transparent 1.6px) 0 0 / 6px 6px; }
.untrusted { background: repeating-linear-gradient(45deg, rgba(128, 128, 128, 0.9) 0 1px, transparent 1px 5px),
    repeating-linear-gradient(-45deg, rgba(128, 128, 128, 0.9) 0 1px, transparent 1px 5px); }
.tied { background: repeating-linear-gradient(45deg, rgba(128, 128, 128, 0.9) 0 1px, transparent 1px 5px); }
"""
