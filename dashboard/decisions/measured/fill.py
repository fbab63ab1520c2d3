"""Cells that were not measured, filled so that a quadtree can be laid over the map."""

import numpy as np
import numpy.typing as npt

from dashboard.domain.arrays import BoolArray, IntArray
from dashboard.domain.errors import NothingMeasuredError


def fill_missing(best: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Give every cell a method.

    A missing cell takes the method of the nearest measured cell along the message size, counted in steps of the map as
    the quadtree halves it; of two equally near ones that of the smaller size. A communicator size with nothing measured
    takes the row of the nearest one that has something, of two the smaller.

    Parameters
    ----------
    best
        ``(comm_size, message_size)`` indices of methods, negative = not measured.

    Raises
    ------
    NothingMeasuredError
        When no cell is measured.
    """
    measured = best >= 0
    if measured.all():
        if best.size == 0:
            raise NothingMeasuredError("the decision map has no cell")
        return best
    measured_rows = np.asarray(measured.any(axis=1))
    if not measured_rows.any():
        raise NothingMeasuredError(
            "no cell of the decision map is measured, or every method is left out: there is nothing to decide from"
        )
    nearest = _nearest(measured)
    rows = _nearest(measured_rows[None, :])[0]
    filled = np.take_along_axis(best, nearest, axis=1)
    return np.asarray(filled[rows])


def _nearest(measured: BoolArray) -> IntArray:
    """Position of the nearest true cell of each row, the smaller of two; 0 in rows without any."""
    width = measured.shape[1]
    places = np.broadcast_to(np.arange(width), measured.shape)
    before = np.maximum.accumulate(np.where(measured, places, -2 * width), axis=1)
    after = np.minimum.accumulate(np.where(measured, places, 3 * width)[:, ::-1], axis=1)[:, ::-1]
    nearest = np.where(places - before <= after - places, before, after)
    return np.asarray(np.clip(nearest, 0, width - 1), dtype=np.int64)
