"""Difference maps: where one decision costs more than another."""

import numpy as np

from dashboard.domain.arrays import Array, BoolArray, FloatArray, IntArray
from dashboard.plots.axes import Axes
from dashboard.plots.decision_map import cell_texts, code_image, has_letters, in_cells, unmeasured_ground
from dashboard.plots.legend import swatch, table
from dashboard.plots.live import Layer
from dashboard.plots.penalty import penalty_classes
from dashboard.plots.raster import Raster
from dashboard.plots.ties import tie_boxes

#: Upper ends of the classes, in percent points by which B costs more than A; the last is open.
BOUNDS = (-25.0, -5.0, -1.0, 1.0, 5.0, 25.0)
#: Blue where B is better, orange where A is; told apart under every colour blindness, and by sign in the cells.
COLORS = ("#5a8fd6", "#94b8e8", "#cfe0f5", "#e4e4e4", "#fbd9b0", "#f5ab5c", "#e07b1f", "#ffffff26")
LABELS = (
    "B better by 25 and more",
    "B better by 5 – 25",
    "B better by 1 – 5",
    "other method, within 1",
    "A better by 1 – 5",
    "A better by 5 – 25",
    "A better by 25 and more",
    "the same method",
)
SAME = len(COLORS) - 1


def difference_classes(first: FloatArray, second: FloatArray, same: BoolArray) -> IntArray:
    """Class of each cell, 0 … 7; -1 where one of both has no penalty.

    Parameters
    ----------
    first, second
        Penalties of A and B in percent.
    same
        Where both take the same method.
    """
    return np.where(same, SAME, penalty_classes(second - first, BOUNDS))


def gap_layers(classes: IntArray, gap: FloatArray, raster: Raster) -> dict[str, Layer]:
    """Layers of the map, as `dashboard.plots.maps.stacked` takes them.

    Parameters
    ----------
    classes
        As `difference_classes` gives them.
    gap
        By how many points B costs more, of the same shape.
    """
    axes = raster.axes
    layers = {
        # Only where nothing is known: elsewhere the page shows through.
        "gap ground": unmeasured_ground(axes, tie_boxes(classes < 0, axes)),
        "gap": code_image(classes, raster, COLORS),
    }
    return layers | ({"gap text": cell_texts(gap_figures(gap, axes), axes)} if has_letters(axes) else {})


def gap_figures(gap: FloatArray, axes: Axes) -> Array:
    """Figures in the cells, row by row: by how many whole points B costs more, with their sign."""
    points = [f"{value:+.0f}" if abs(value) >= BOUNDS[3] else "" for value in np.nan_to_num(gap).ravel()]
    return in_cells(np.array([point.replace("-", "−") for point in points]), axes)


def difference_legend(classes: IntArray, measured: BoolArray) -> str:
    """Write the legend with the number of cells of each class; `measured`: where any method was."""
    counts = np.bincount(classes[classes >= 0], minlength=len(COLORS))
    classed = zip(LABELS, COLORS, counts, strict=True)
    rows = [[f"{swatch(color)} {label}", f"{cells:,}"] for label, color, cells in classed][::-1]
    apart = {"not comparable": (classes < 0) & measured, "not measured": (classes < 0) & ~measured}
    rows += [[f"{swatch('')} {label}", f"{int(cells.sum()):,}"] for label, cells in apart.items()]
    return table("Penalty of B less that of A, in points of percent", [("class", False), ("cells", True)], rows)
