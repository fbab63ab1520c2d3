"""The blocks of a 2^k × 2^k square of methods, or of a cube, and the trees that halve all axes at once.

The square is kept along the Z curve, on which every block of every level is one run: block b of level
l (0 = the whole square) holds the cells ``[b * 4**(k-l), (b+1) * 4**(k-l))``, and its four quarters are
the blocks ``4b … 4b+3`` of the next level, in the order of a quadtree's children (bit 0 = larger
communicator sizes, bit 1 = larger message sizes). Of a cube all this holds with 8 for 4; bit 2 is its third axis.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.flat import FlatTree
from dashboard.domain.arrays import BoolArray, FloatArray, Int32, IntArray
from dashboard.domain.options import Option

Ints = npt.NDArray[np.integer]

Progress = Callable[[float, str], None]
Decided = Callable[[FlatTree, dict[str, Any]], DecisionFunction]

MAX_DEPTH = Option(
    name="max_depth",
    title="maximum depth (levels)",
    help="Most levels below the root; a block there takes its prevalent method. Fewer give smaller code and a larger "
    "penalty (quadtree report, 2006; dissertation, 5.3).",
    default=None,
    kind="int",
    low=0,
    unlimited="no limit",
)
THRESHOLD = Option(
    name="threshold",
    title="accuracy threshold (share)",
    help="A block of which at least this share of cells has one method becomes a leaf; 1 = exact. A lower one trades "
    "accuracy for size (quadtree report, 2006; dissertation, 5.3).",
    default=1.0,
    kind="float",
    low=0,
    high=1,
)

SORTED_CELLS = 64
"""Blocks of up to so many cells are counted by sorting them, larger ones by histograms."""


class Blocks:
    """A square or cube of methods, padded to a power of two.

    Parameters
    ----------
    grid
        ``(rows, columns)`` or ``(rows, columns, layers)`` of methods, none missing. The last of each are repeated up
        to the smallest square or cube of a power of two that holds all axes.
    """

    def __init__(self, grid: Ints) -> None:
        self.levels: int = (max(grid.shape) - 1).bit_length()
        self.axes: int = grid.ndim
        side = 1 << self.levels
        present = np.flatnonzero(np.bincount(grid.ravel()))
        narrow = np.zeros(int(present[-1]) + 1, dtype=np.min_scalar_type(max(1, present.size - 1)))
        narrow[present] = np.arange(present.size)
        self._present = present.astype(np.int32)
        square = np.pad(narrow[grid], [(0, side - extent) for extent in grid.shape], mode="edge")
        self._cells = np.empty(square.size, dtype=square.dtype)
        places = _spread(np.arange(side), self.levels, self.axes)
        self._cells[reduce(np.bitwise_or, np.ix_(*(places << axis for axis in range(self.axes))))] = square

    def cells_in(self, level: int) -> int:
        """Number of cells of a block of `level`."""
        return 1 << self.axes * (self.levels - level)

    @cached_property
    def _extremes(self) -> list[tuple[Ints, Ints]]:
        """The least and greatest method of every block, level by level."""
        pyramid = [(self._cells, self._cells)]
        for _ in range(self.levels):
            low, high = pyramid[-1]
            pyramid.append((self._parts(np.minimum, low), self._parts(np.maximum, high)))
        return pyramid[::-1]

    def _parts(self, combine: np.ufunc, values: Ints) -> Ints:
        """Combine the parts of each block; strides are several times faster than reducing a short axis."""
        count = 1 << self.axes
        return np.asarray(reduce(combine, (values[part::count] for part in range(count))))

    def uniform(self, level: int, blocks: IntArray) -> BoolArray:
        """Tell which of `blocks` are of one method."""
        low, high = self._extremes[level]
        return np.asarray(low[blocks] == high[blocks])

    def first_methods(self, level: int, blocks: IntArray) -> Int32:
        """Give the method of the first cell of each block: *the* method where it is uniform."""
        return self._present[self._cells[blocks * self.cells_in(level)]]

    def prevalent(self, level: int, blocks: IntArray) -> tuple[Int32, IntArray]:
        """Give the prevalent method of each block, and in how many of its cells it is.

        Of several equally frequent ones it is that of the upper-right cell (the largest size on each axis) if it is
        among them, else the smallest index (dissertation, 5.3.2).
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
            counts = counts.reshape(-1, 1 << self.axes, methods).sum(axis=1)
            counts_of[above] = counts
        return counts_of


class Halving:
    """Builds any number of trees of which each split halves all axes, by number of rows, columns and layers.

    Parameters
    ----------
    grid
        As for `Blocks`.
    sizes
        Of each axis, ascending.
    names
        Attributes of the axes, which splits test.
    decided
        Gives the decision function of a tree and of the options that it was built by.

    Attributes
    ----------
    levels
        k: the depth that an exact tree cannot exceed.
    """

    def __init__(self, grid: Ints, sizes: Sequence[Ints], names: tuple[str, ...], decided: Decided) -> None:
        self._blocks, self._names, self._decided = Blocks(grid), names, decided
        self.levels: int = self._blocks.levels
        self._cuts = [_cuts_before(each, 1 << self.levels) for each in sizes]

    def build(
        self, *, max_depth: int | None = None, threshold: float = 1.0, progress: Progress | None = None
    ) -> DecisionFunction:
        """Build one tree.

        Parameters
        ----------
        max_depth, threshold
            As `MAX_DEPTH` and `THRESHOLD` say.
        progress
            Called at each level.

        Raises
        ------
        OptionError
            When an option is outside its range.
        """
        options = {"max_depth": MAX_DEPTH.checked(max_depth), "threshold": THRESHOLD.checked(threshold)}
        limit = self.levels if max_depth is None else min(options["max_depth"], self.levels)
        return self._decided(self._grown(limit, options["threshold"], progress), options)

    def _grown(self, limit: int, threshold: float, progress: Progress | None) -> FlatTree:
        codes: list[Int32] = []
        cuts: list[FloatArray] = []
        blocks, places = np.zeros(1, dtype=np.int64), [np.zeros(1, dtype=np.int64) for _ in self._names]
        splits = 0
        child = np.arange(1 << len(self._names))
        for level in range(limit + 1):
            if progress is not None:
                progress(level / (limit + 1), f"level {level} of at most {limit}")
            methods, leaf = self._leaves(level, blocks, threshold, last=level == limit)
            inner = ~leaf
            count = int(inner.sum())
            methods[inner] = -1 - splits - np.arange(count, dtype=np.int32)
            codes.append(methods)
            splits += count
            if not count:
                break
            half = (1 << (self.levels - level)) // 2
            places = [place[inner] for place in places]
            middles = zip(self._cuts, places, strict=True)
            cuts.append(np.stack([table[(place * 2 + 1) * half] for table, place in middles], axis=1))
            blocks = _children(blocks[inner], child.size, child)
            places = [_children(place, 2, child >> axis & 1) for axis, place in enumerate(places)]
        if not cuts:
            return FlatTree.of_leaf(int(codes[0][0]))
        axes = len(self._names)
        tested = np.broadcast_to(np.arange(axes, dtype=np.int16), (splits, axes))
        widths = np.full(splits, axes, dtype=np.int8)
        return FlatTree(np.concatenate(codes), self._names, tested, np.concatenate(cuts), widths)

    def _leaves(self, level: int, blocks: IntArray, threshold: float, *, last: bool) -> tuple[Int32, BoolArray]:
        """The method that each block would have as a leaf, and whether it is one."""
        leaf = self._blocks.uniform(level, blocks)
        methods = self._blocks.first_methods(level, blocks)
        if leaf.all() or (threshold == 1 and not last):
            return methods, leaf
        mixed = np.flatnonzero(~leaf)
        methods[mixed], count = self._blocks.prevalent(level, blocks[mixed])
        leaf[mixed] = last or count >= threshold * self._blocks.cells_in(level)
        return methods, leaf


def _cuts_before(sizes: Ints, side: int) -> FloatArray:
    """For each place on an axis the last size before it: the cut of a split there, infinite in the padding."""
    cuts = np.full(side + 1, math.inf)
    cuts[1 : sizes.size] = sizes[:-1]
    return cuts


def _children(values: IntArray, factor: int, steps: IntArray) -> IntArray:
    return np.asarray((values[:, None] * factor + steps).ravel(), dtype=np.int64)


def _spread(values: IntArray, bits: int, axes: int) -> IntArray:
    """Put zero bits between the bits, so that the numbers of all axes interleave to a place on the Z curve."""
    return np.asarray(sum((values >> bit & 1) << axes * bit for bit in range(bits)) + np.zeros_like(values))


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
