"""Cells of a map as one image, however uneven the measured sizes are.

An image of a plot has pixels of one size, cells of a map have not. Each pixel shows the cell that its centre lies in.
Where the borders of the cells fall on the grid (sizes in powers of two, or steps of half a power) the image is exact;
elsewhere a border is off by half a pixel of `FINEST` at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dashboard.domain.arrays import IntArray
from dashboard.plots.axes import Axes, Axis

FINEST = 1024
#: Pixels that a map has on most screens, across and up: more of them are not seen while it moves.
QUICK = (512, 256)


def _pixels(axis: Axis) -> IntArray:
    """Cell index of each pixel along an axis: as few pixels as put every border on the grid."""
    low, high = axis.limits
    shares = (axis.edges - low) / (high - low)
    for count in range(axis.sizes.size, FINEST + 1):
        on_grid = shares * count
        if np.abs(on_grid - np.rint(on_grid)).max() < 1e-6 * count:
            break
    else:
        count = FINEST
    centres = (np.arange(count) + 0.5) / count
    return np.clip(np.searchsorted(shares, centres, side="right") - 1, 0, axis.sizes.size - 1)


@dataclass(frozen=True, eq=False)
class Raster:
    """Pixel grid of a map."""

    axes: Axes
    #: Cell index of each pixel column and row; rows go upwards.
    columns: IntArray
    rows: IntArray

    @classmethod
    def of(cls, axes: Axes) -> Raster:
        """Choose the grid."""
        return cls(axes, _pixels(axes.x), _pixels(axes.y))

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of the image."""
        return self.axes.x.limits[0], self.axes.y.limits[0], self.axes.x.limits[1], self.axes.y.limits[1]

    @cached_property
    def quick(self) -> Raster:
        """The same map with every so many pixels left out, to be shown while a slider moves."""
        across, up = (max(1, -(-at.size // most)) for at, most in zip((self.columns, self.rows), QUICK, strict=True))
        if across == up == 1:
            return self
        return Raster(self.axes, self.columns[across // 2 :: across], self.rows[up // 2 :: up])

    @property
    def complete(self) -> bool:
        """Whether every cell has a pixel of its own; else the map is thinned out for display."""
        return self.axes.x.sizes.size <= self.columns.size and self.axes.y.sizes.size <= self.rows.size

    def paint(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Pixels, bottom row first, of values of cells ``(comm_size, message_size)``."""
        if values.shape == (self.rows.size, self.columns.size):
            return np.ascontiguousarray(values)
        return values[self.rows[:, None], self.columns[None, :]]
