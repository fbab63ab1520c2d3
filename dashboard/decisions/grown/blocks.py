"""The blocks of a 2^k × 2^k square of methods: which are of one method, and which method prevails.

The square is kept along the Z curve, on which every block of every level is one run: block b of level
l (0 = the whole square) holds the cells ``[b * 4**(k-l), (b+1) * 4**(k-l))``, and its four quarters are
the blocks ``4b … 4b+3`` of the next level, in the order of a quadtree's children (bit 0 = larger
communicator sizes, bit 1 = larger message sizes).
"""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]
IntArray = npt.NDArray[np.int64]

SORTED_CELLS = 64
"""Blocks of up to so many cells are counted by sorting them, larger ones by histograms."""


class Blocks:
    """A square of methods, padded to a power of two.

    Parameters
    ----------
    grid
        ``(rows, columns)`` of methods, none missing. The last row and column are repeated up to the
        smallest square of a power of two that holds both axes.
    """

    def __init__(self, grid: Ints) -> None:
        self.levels: int = (max(grid.shape) - 1).bit_length()
        side = 1 << self.levels
        present = np.flatnonzero(np.bincount(grid.ravel()))
        narrow = np.zeros(int(present[-1]) + 1, dtype=np.min_scalar_type(max(1, present.size - 1)))
        narrow[present] = np.arange(present.size)
        self._present = present.astype(np.int32)
        row = _spread(np.arange(side))
        square = narrow[grid]
        square = np.pad(square, [(0, side - extent) for extent in grid.shape], mode="edge")
        self._cells = np.empty(side * side, dtype=square.dtype)
        self._cells[row[:, None] | row[None, :] << 1] = square

    def cells_in(self, level: int) -> int:
        """Number of cells of a block of `level`."""
        return 1 << 2 * (self.levels - level)

    @cached_property
    def _extremes(self) -> list[tuple[Ints, Ints]]:
        """The least and greatest method of every block, level by level."""
        pyramid = [(self._cells, self._cells)]
        for _ in range(self.levels):
            low, high = pyramid[-1]
            pyramid.append((_quarters(np.minimum, low), _quarters(np.maximum, high)))
        return pyramid[::-1]

    def uniform(self, level: int, blocks: IntArray) -> npt.NDArray[np.bool_]:
        """Tell which of `blocks` are of one method."""
        low, high = self._extremes[level]
        return np.asarray(low[blocks] == high[blocks])

    def first_methods(self, level: int, blocks: IntArray) -> npt.NDArray[np.int32]:
        """Give the method of the first cell of each block: *the* method where it is uniform."""
        return self._present[self._cells[blocks * self.cells_in(level)]]

    def prevalent(self, level: int, blocks: IntArray) -> tuple[npt.NDArray[np.int32], IntArray]:
        """Give the prevalent method of each block, and in how many of its cells it is.

        Of several equally frequent ones it is that of the upper-right cell (largest communicator and
        message size) if it is among them, else the smallest index (dissertation, 5.3.2).
        """
        cells = self.cells_in(level)
        corner = self._cells[(blocks + 1) * cells - 1]
        if cells <= SORTED_CELLS:
            rows = self._cells.reshape(-1, cells)[blocks]
            corner_count = (rows == corner[:, None]).sum(axis=1)
            mode, count = _modes(rows)
        else:
            histogram = self._histograms[level][blocks]
            corner_count = np.take_along_axis(histogram, corner[:, None].astype(np.int64), axis=1)[:, 0]
            mode = histogram.argmax(axis=1).astype(corner.dtype)
            count = np.take_along_axis(histogram, mode[:, None].astype(np.int64), axis=1)[:, 0]
        return self._present[np.where(corner_count == count, corner, mode)], np.asarray(count, dtype=np.int64)

    @cached_property
    def _histograms(self) -> dict[int, IntArray]:
        """How often each method is in each block, for the levels of blocks too large to be sorted."""
        methods = self._present.size
        level = max(level for level in range(self.levels + 1) if self.cells_in(level) > SORTED_CELLS)
        cells = self.cells_in(level)
        offsets = np.arange(self._cells.size // cells) * methods
        keys = self._cells.reshape(-1, cells) + offsets[:, None]
        counts = np.bincount(keys.ravel(), minlength=offsets.size * methods).reshape(-1, methods)
        counts_of = {level: counts}
        for above in range(level - 1, -1, -1):
            counts = counts.reshape(-1, 4, methods).sum(axis=1)
            counts_of[above] = counts
        return counts_of


def _spread(values: IntArray) -> IntArray:
    """Put a zero bit above each bit, so that two numbers interleave to a place on the Z curve."""
    for shift, mask in ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F)):
        values = (values | values << shift) & mask
    values = (values | values << 2) & 0x3333333333333333
    return np.asarray((values | values << 1) & 0x5555555555555555, dtype=np.int64)


def _quarters(combine: np.ufunc, values: Ints) -> Ints:
    """Combine each four neighbours; strides are several times faster than reducing a short axis."""
    return np.asarray(combine(combine(values[0::4], values[1::4]), combine(values[2::4], values[3::4])))


def _modes(rows: Ints) -> tuple[Ints, IntArray]:
    """The most frequent value of each row (the smallest of equals) and how often it occurs."""
    columns = np.ascontiguousarray(np.sort(rows, axis=1).T)
    mode = columns[0].copy()
    count = np.ones(mode.size, dtype=np.int16)
    run = count.copy()
    for previous, current in itertools.pairwise(columns):
        run = np.where(previous == current, run + 1, 1).astype(np.int16)
        longer = run > count
        mode = np.where(longer, current, mode)
        count = np.maximum(count, run)
    return mode, count.astype(np.int64)
