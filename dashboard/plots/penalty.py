"""Penalty maps: what a decision costs at each size, in the classes of Figure 6.8 of the dissertation."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.domain.arrays import Array, FloatArray, IntArray
from dashboard.plots.axes import Axes
from dashboard.plots.decision_map import code_image, in_cells
from dashboard.plots.live import Layer
from dashboard.plots.raster import Raster

#: Upper ends of the classes, percent; the last class is open.
BOUNDS = (5.0, 10.0, 25.0, 50.0, 100.0)
#: White below 5 % (a dim grey on a dark page), yellow from 10 %, red from 50 % as in the figure; light enough for black
#: figures.
COLORS = ("#ffffff26", "#ffffb2", "#fed448", "#fd9a3c", "#f8553a", "#e0348b")
LABELS = ("below 5 %", "5 – 10 %", "10 – 25 %", "25 – 50 %", "50 – 100 %", "100 % and above")
UNMEASURED = "not measured"


def penalty_classes(penalty: FloatArray, bounds: Sequence[float] = BOUNDS) -> IntArray:
    """Class of each penalty (percent), from 0 up to the number of bounds; -1 where there is none."""
    classes = np.searchsorted(bounds, np.nan_to_num(penalty), side="right")
    return np.where(np.isnan(penalty), -1, classes)


def penalty_image(penalty: FloatArray, raster: Raster) -> Layer:
    """Draw the class of each cell's penalty; cells without one are left open.

    Parameters
    ----------
    penalty
        Percent, NaN where the chosen method was not measured, shape (comm_size, message_size).
    """
    return code_image(penalty_classes(penalty), raster, COLORS)


def figures(penalty: FloatArray, axes: Axes) -> Array:
    """Figures in the cells, row by row: whole percents from 5 % on, where there is room for them.

    Parameters
    ----------
    penalty
        Percent, shape (comm_size, message_size).
    """
    percents = [f"{value:.0f}" if value >= BOUNDS[0] else "" for value in np.nan_to_num(penalty).ravel()]
    return in_cells(np.array(percents), axes)


def class_shares(penalties: xr.Dataset) -> pd.DataFrame:
    """Count the cells of each class.

    Parameters
    ----------
    penalties
        As `dashboard.decisions.judged.penalty` gives it.

    Returns
    -------
    DataFrame
        Rows by class and, last, the cells where something was measured but not the chosen method:
        ``label``, ``color``, ``cells``, ``share`` (of the cells where anything was measured).
    """
    classes = penalty_classes(penalties["penalty"].values)[penalties["best"].values >= 0]
    cells = [*np.bincount(classes[classes >= 0], minlength=len(LABELS)), int((classes < 0).sum())]
    return pd.DataFrame(
        {
            "label": [*LABELS, UNMEASURED],
            "color": [*COLORS, ""],
            "cells": cells,
            "share": [count / max(classes.size, 1) for count in cells],
        }
    )
