"""Which leaf of a tree decides each cell, and where one leaf's cells border on another's."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.attributes import SIZES
from dashboard.domain.arrays import Array, BoolArray, FloatArray, IntArray
from dashboard.plots.axes import Axes
from dashboard.plots.decision_map import region_segments


def leaf_segments(decision: DecisionFunction, axes: Axes, given: Mapping[str, Any]) -> FloatArray:
    """Lines between the regions of a tree, as `region_segments` gives them.

    Leaves of trees that test more than the two sizes are no rectangles: lines then run where neighbouring
    cells are decided by different leaves.

    Parameters
    ----------
    given
        What the decision needs beside the sizes: ``ppn``, ``collective``.
    """
    if set(decision.attributes) <= set(SIZES):
        return region_segments(decision.regions(), axes)
    places = decision.leaf_places(axes.y.sizes[:, None], axes.x.sizes[None, :], **given)
    return border_segments(places, axes)


def leaf_border(decision: DecisionFunction, place: int, axes: Axes, given: Mapping[str, Any]) -> FloatArray:
    """Lines around the cells that one leaf decides, as `border_segments` gives them.

    Parameters
    ----------
    place
        Of the leaf, among the nodes of the tree.
    given
        As for `leaf_segments`.
    """
    inside = decision.leaf_places(axes.y.sizes[:, None], axes.x.sizes[None, :], **given) == place
    return border_segments(inside, axes, closed=True)


def border_segments(places: Array, axes: Axes, *, closed: bool = False) -> FloatArray:
    """Lines between cells of different values, shape (lines, 4): ``x0, y0, x1, y1``; cells in line are joined.

    Lines run along the ends of the map, too, where it is `closed` and the value there is not 0.
    """
    around = np.pad(places, 1, mode="constant" if closed else "edge")
    at_x, bottom, top = runs((around[:, 1:] != around[:, :-1])[1:-1]).T
    at_y, left, right = runs((around[1:] != around[:-1])[:, 1:-1].T).T
    x, y = axes.x.edges, axes.y.edges
    upright = np.column_stack([x[at_x], y[bottom], x[at_x], y[top]])
    return np.concatenate([upright, np.column_stack([x[left], y[at_y], x[right], y[at_y]])])


def runs(crossed: BoolArray) -> IntArray:
    """Runs of true down each column: column, first row, row after the last."""
    padded = np.zeros((crossed.shape[0] + 2, crossed.shape[1]), dtype=np.int8)
    padded[1:-1] = crossed
    change = np.diff(padded, axis=0).T
    column, first = np.nonzero(change == 1)
    _, end = np.nonzero(change == -1)
    return np.column_stack([column, first, end])
