"""Textures of maps: ties, estimates, times that cannot be trusted, choices that were not measured or are not sure."""

from html import escape

import numpy as np

from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.units import format_count
from dashboard.plots.axes import Axes
from dashboard.plots.decision_map import INK, boxes_layer, hatched
from dashboard.plots.leaves import runs
from dashboard.plots.live import Layer

#: More boxes than this would take the browser seconds.
MOST_BOXES = 20_000
#: Cells whose method is the fastest with a probability below the first have the second of white over them.
VEILS = ((0.9, 0.3), (0.7, 0.5), (0.5, 0.65))


def tie_boxes(tied: BoolArray, axes: Axes) -> FloatArray:
    """Boxes that cover the tied cells, shape (boxes, 4): left, bottom, right, top; neighbours in a row are joined.

    Where there would be more than about `MOST_BOXES`, one row in several stands for those beside it.
    """
    row, first, end = runs(tied.T).T
    step = max(1, -(-row.size // MOST_BOXES))
    kept = row % step == step // 2
    low = row[kept] // step * step
    high = np.minimum(low + step, len(tied))
    return np.column_stack([axes.x.edges[first[kept]], axes.y.edges[low], axes.x.edges[end[kept]], axes.y.edges[high]])


def tie_hatch(
    tied: BoolArray, axes: Axes, pattern: str = "left_diagonal_line", *, scale: float = 8, alpha: float = 0.35
) -> Layer:
    """Hatch the tied cells.

    Parameters
    ----------
    tied
        Shape (comm_size, message_size).
    pattern
        Of the hatch, as Bokeh names it.
    scale
        Pixels between its lines.
    """
    boxes, look = tie_boxes(tied, axes), {"fill_alpha": 0.0}
    return hatched(boxes, look, pattern=pattern, color=INK, alpha=alpha, scale=scale, weight=1)


def veils(sureness: FloatArray, axes: Axes) -> dict[str, Layer]:
    """Fade cells, the more the less sure they are; the colour and what is written there stay readable.

    Parameters
    ----------
    sureness
        Probability that each cell's method is the fastest, shape (comm_size, message_size); NaN: not faded.

    Returns
    -------
    dict
        By name a layer for each of `VEILS`.
    """
    classes = _veil_classes(sureness)
    return {
        f"veil {number}": boxes_layer(tie_boxes(classes == number, axes), fill_color="#ffffff", fill_alpha=alpha)
        for number, (_, alpha) in enumerate(VEILS)
    }


def _veil_classes(sureness: FloatArray) -> IntArray:
    """Which of `VEILS` each cell has; -1: none."""
    below = sum((sureness < limit).astype(np.intp) for limit, _ in VEILS)
    return np.asarray(below - 1)


def sureness_legend(sureness: FloatArray, predictor: str) -> str:
    """Say how many cells are faded, what that means, and how times between measured sizes are predicted.

    Nothing where nothing is chosen.
    """
    if np.isnan(sureness).all():
        return ""
    classes, parts = _veil_classes(sureness), []
    for number, (limit, alpha) in enumerate(VEILS):
        cells = format_count(int((classes == number).sum()), "cell")
        parts.append(
            f'<span class="swatch" style="background: color-mix(in srgb, #0072b2, #ffffff {100 * alpha:.0f}%)">&nbsp;'
            f"</span> below {limit:.0%}: {cells}"
        )
    means = f"the fastest at the sizes that a cell stands for (times between measured sizes: {escape(predictor)})"
    return f"<p>Probability that the method is {means}: {', '.join(parts)}</p>"


def tie_legend(tied: BoolArray, measured: int, words: str) -> str:
    """Say how many cells are hatched, and why."""
    count = int(tied.sum())
    return f'<p><span class="swatch tied">&nbsp;</span> {count:,} of {measured:,} measured cells are ties: {words}</p>'


def estimate_legend(estimated: BoolArray, why: str = "the best time is interpolated") -> str:
    """Say how many cells are dotted, and why; nothing where none is."""
    if not estimated.any():
        return ""
    cells = format_count(int(estimated.sum()), "cell")
    return f'<p><span class="swatch estimated">&nbsp;</span> {cells}: {why}</p>'


def counted_legend(unmeasured: BoolArray) -> str:
    """Say how many cells are dotted on the map of penalties; nothing where none is."""
    return estimate_legend(unmeasured, "the chosen method was not measured there")


def untrusted_legend(untrusted: BoolArray) -> str:
    """Say how many cells are crossed, and why."""
    cells = format_count(int(untrusted.sum()), "cell")
    return f'<p><span class="swatch untrusted">&nbsp;</span> {cells}: times that cannot be trusted; each says why</p>'


STYLE = """
.estimated { background: radial-gradient(circle, rgba(128, 128, 128, 0.9) 1.2px, transparent 1.6px) 0 0 / 6px 6px; }
.untrusted { background: repeating-linear-gradient(45deg, rgba(128, 128, 128, 0.9) 0 1px, transparent 1px 5px),
    repeating-linear-gradient(-45deg, rgba(128, 128, 128, 0.9) 0 1px, transparent 1px 5px); }
.tied { background: repeating-linear-gradient(45deg, rgba(128, 128, 128, 0.9) 0 1px, transparent 1px 5px); }
"""
