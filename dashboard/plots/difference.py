"""Difference maps: where one decision costs more than another."""

from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.plots.axes import Axes
from dashboard.plots.decision_map import code_image, in_cells, paint_codes, text_columns
from dashboard.plots.legend import swatch, table
from dashboard.plots.raster import Raster

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


def difference_classes(
    first: NDArray[np.float64], second: NDArray[np.float64], same: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Class of each cell, 0 … 7; -1 where one of both has no penalty.

    Parameters
    ----------
    first, second
        Penalties of A and B in percent.
    same
        Where both take the same method.
    """
    gap = second - first
    classes = np.searchsorted(BOUNDS, np.nan_to_num(gap), side="right")
    return np.where(same, SAME, np.where(np.isnan(gap), -1, classes))


def difference_pixels(classes: NDArray[np.int64], raster: Raster) -> NDArray[np.unsignedinteger[Any]]:
    """Image of the classes."""
    return paint_codes(classes, raster, len(COLORS))


def difference_image(classes: NDArray[np.int64], raster: Raster) -> hv.Image:
    """Draw the class of each cell."""
    return code_image(difference_pixels(classes, raster), raster, "difference", list(COLORS))


def gap_columns(gap: NDArray[np.float64], axes: Axes) -> dict[str, NDArray[Any]]:
    """Columns of the figures in the cells: by how many whole points B costs more, with their sign."""
    points = [f"{value:+.0f}" if abs(value) >= BOUNDS[3] else "" for value in np.nan_to_num(gap).ravel()]
    figures = np.array([point.replace("-", "−") for point in points])
    return text_columns(in_cells(figures, axes), axes, "figure")


def difference_legend(classes: NDArray[np.int64], measured: NDArray[np.bool_]) -> str:
    """Write the legend with the number of cells of each class; `measured`: where any method was."""
    counts = np.bincount(classes[classes >= 0], minlength=len(COLORS))
    frame = pd.DataFrame({"label": LABELS, "color": COLORS, "cells": counts})
    rows = [[f"{swatch(row.color)} {row.label}", f"{row.cells:,}"] for row in frame.iloc[::-1].itertuples()]
    apart = {"not comparable": (classes < 0) & measured, "not measured": (classes < 0) & ~measured}
    rows += [[f"{swatch('')} {label}", f"{int(cells.sum()):,}"] for label, cells in apart.items()]
    return table("Penalty of B less that of A, in points of percent", [("class", False), ("cells", True)], rows)
