"""What no tree of a large grid costs less than: cuts known only to the window that they are in.

Places where cuts can be are gathered in windows of a few each. A tree of the grid becomes one of windows, whose
leaves may choose their own places within the windows: sides of one cut may overlap or leave cells out, so that no
tree costs less than the best of these. What that would gain is taken away by a toll for each cell: as every cell of
a tree is in one leaf, tolls that leaves are let off and that are added once for all cells change no tree's cost, but
those of leaves that overlap or leave cells out (Lagrangian relaxation; Held and Karp, Operations Research 18, 1970).
Tolls begin with what the cells cost in a tree that is known, and go up where cells were left out, down where leaves
overlap. Number of leaves and price per leaf belong together as in `leaves`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.decisions.grown.optimal.depth import followed, levels_of
from dashboard.decisions.grown.optimal.prices import priced
from dashboard.decisions.grown.optimal.rectangles import Rectangles, lines_of
from dashboard.decisions.grown.optimal.tree import Spot
from dashboard.domain.arrays import FloatArray, IntArray

STAGES = ((400_000, 14), (1_600_000, 4))
"""Rectangles of windows, and how often tolls are changed with so many."""

CLOSE = 0.01
"""A bound this share below the tree is not made better."""

EXACT = 2.0**-44
"""More than sums of so many cells lose by rounding, as a share of the greatest."""


@dataclass(frozen=True)
class Goal:
    """What trees the bound is for."""

    #: What the best tree that is known is worth, with its price (percent, as `Costs.cells`).
    value: float
    #: The most leaves that a tree worth so little can have.
    leaves: int
    #: Prices per leaf to try.
    prices: FloatArray
    #: The price per leaf that is part of what trees are worth.
    charged: float = 0.0
    #: Most levels below the root; None for any.
    depth: int | None = None


@dataclass(frozen=True, eq=False)
class Windows:
    """Places along one axis, from 0 to its number of cells, gathered."""

    #: First place of each window and, at last, the number of places.
    starts: IntArray
    #: For each place the window that it is in.
    of: IntArray

    @classmethod
    def along(cls, extent: int, count: int, cuts: IntArray) -> Windows:
        """Gather in about `count` windows; the ends have their own, and the cuts of a known tree if these are few."""
        own = np.unique(np.concatenate([[0, extent], cuts if 4 * cuts.size <= count else cuts[:0]]))
        width = -(-(extent - 1) // max(1, count + 1 - 2 * own.size))
        starts = np.unique(np.concatenate([np.arange(1, extent, max(1, width)), own, own + 1]))
        return cls(starts, np.repeat(np.arange(starts.size - 1), np.diff(starts)))

    def __len__(self) -> int:
        return self.starts.size - 1

    def places(self, window: int) -> slice:
        """The places of one window."""
        return slice(int(self.starts[window]), int(self.starts[window + 1]))


class Relaxed:
    """The best of what trees of windows cost less tolls.

    Parameters
    ----------
    cells
        ``(method, row, column)``: what methods cost.
    tolls
        ``(row, column)``, in the same unit.
    rows, columns
        Windows along the two axes.
    """

    def __init__(self, cells: FloatArray, tolls: FloatArray, rows: Windows, columns: Windows) -> None:
        from dashboard.decisions.grown.optimal.kernel import fold  # noqa: PLC0415 - takes a second to import

        self._rows, self._columns = rows, columns
        self.rectangles = Rectangles(len(rows) - 1, len(columns) - 1)
        extents = cells.shape[1] + 1, cells.shape[2] + 1
        self._sums = np.zeros((*extents, len(cells)))
        left = (cells - tolls).transpose(1, 2, 0)
        np.cumsum(np.cumsum(left, axis=0), axis=1, out=self._sums[1:, 1:])
        self.loss = EXACT * float(np.abs(self._sums).max(initial=0.0)) + EXACT * float(np.abs(tolls).sum())
        self.leaves = np.full(self.rectangles.count, np.inf)
        thin = np.zeros(4, dtype=np.int64)
        # Leaves inside of one window are in no tree of windows: what the least of them costs is known by itself.
        self.thinnest = fold(self._sums, rows.of, columns.starts, self.rectangles.offset, self.leaves, thin)
        self.thin: IntArray = thin

    def levels(self, prices: FloatArray, depth: int | None) -> list[FloatArray]:
        """``(rectangle, price)`` what trees of at most so many levels cost with their price, by `followed`'s order."""
        if depth is None:
            return [priced(self.leaves, self.rectangles, prices)]
        return levels_of(self.leaves[:, None] + prices, self.rectangles, depth)

    def covered(self, levels: list[FloatArray], place: int, price: float) -> FloatArray:
        """``(row, column)``: how many leaves of the best tree at one of the prices each cell is in."""
        tree = followed([level[:, place : place + 1] for level in levels], self.leaves + price, self.rectangles)
        shape = self._sums.shape
        counts = np.zeros((shape[0] - 1, shape[1] - 1))
        for spot in tree.ends():
            top, left, bottom, right = self._placed(spot)
            counts[top:bottom, left:right] += 1
        return counts

    def _placed(self, spot: Spot) -> tuple[int, int, int, int]:
        """The places within its windows where a leaf costs least."""
        top, left, height, width = spot
        rows, columns = self._rows.places(top), self._columns.places(left)
        below, beyond = self._rows.places(top + height), self._columns.places(left + width)
        bands = self._sums[below][None] - self._sums[rows][:, None]
        ends, starts = bands[:, :, beyond], bands[:, :, columns]
        worth = ends.min(axis=2) - starts.max(axis=2)
        upper, lower, method = np.unravel_index(int(worth.argmin()), worth.shape)
        first = int(starts[upper, lower, :, method].argmax())
        last = int(ends[upper, lower, :, method].argmin())
        return rows.start + int(upper), columns.start + first, below.start + int(lower), beyond.start + last


def windows_bound(
    cells: FloatArray, tolls: FloatArray, cuts: Sequence[IntArray], goal: Goal, counts: IntArray, less: int = 1
) -> FloatArray:
    """Find what no tree of at most so many leaves costs less than.

    Parameters
    ----------
    cells
        ``(method, row, column)``: what methods cost.
    tolls
        ``(row, column)``: what cells cost in a good tree.
    cuts
        First row (column) behind each of its cuts.
    goal
        Which bound is to be made good.
    counts
        Numbers of leaves.
    less
        How many times less often tolls are changed.

    Returns
    -------
    float64 of the size of `counts`
        Lower bounds (percent, as `Costs.cells`), with the charged price.
    """
    best, kept, bounds = 0.0, tolls, np.zeros(counts.size)
    extents = cells.shape[1], cells.shape[2]
    for most, often in STAGES:
        sides = lines_of(*extents, most)
        windows = [Windows.along(*axis) for axis in zip(extents, sides, cuts, strict=True)]
        tolls = kept
        for _ in range(max(1, often // less)):
            if goal.value - best <= CLOSE * goal.value:
                return bounds
            lines, change = _stepped(Relaxed(cells, tolls, *windows), tolls, goal)
            bounds = np.maximum(bounds, (lines[0, :, None] - lines[1, :, None] * counts).max(axis=0))
            reached = float((lines[0] - lines[1] * goal.leaves).max())
            if reached > best:
                best, kept = reached, tolls
            tolls = tolls + change * ((goal.value - reached) / max(1.0, float((change * change).sum())))
    return bounds


def _stepped(relaxed: Relaxed, tolls: FloatArray, goal: Goal) -> tuple[FloatArray, FloatArray]:
    """Bounds at these tolls, and the way to better ones.

    Returns
    -------
    lines
        ``(2, price)``: a tree of `n` leaves costs no less than the first minus `n` times the second.
    change
        ``(row, column)``: 1 for cells that were left out, below 0 for those that were taken several times.
    """
    levels = relaxed.levels(goal.prices, goal.depth)
    # All leaves of a tree but one may be inside of a window.
    gains = np.maximum(0.0, -(goal.prices + relaxed.thinnest))
    lines = np.stack([float(tolls.sum()) - relaxed.loss + levels[-1][-1] + gains, goal.prices - goal.charged + gains])
    place = int((lines[0] - lines[1] * goal.leaves).argmax())
    change = 1.0 - relaxed.covered(levels, place, float(goal.prices[place]))
    if gains[place] > 0:
        top, left, bottom, right = relaxed.thin.tolist()
        change[top:bottom, left:right] -= goal.leaves - 1
    return lines, change
