"""Grids too large for all their rectangles: cuts at some lines only, and how far that can be from the best.

The trees found are best among those that cut at some of the grid lines; these are chosen evenly at first, then
around the cuts of the tree found. What no tree at all falls below is known from `windows`. Where a grid is too large
for that, too, it is thinned: the rows taken every so many, and the columns likewise, share the cells out to several
grids. A tree of the large grid is, on each of them, a tree of no more leaves and levels, and its cost is the sum of
what it costs on each; so the sum of their bounds is one.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.leaves import LeafSearch, lower_hull
from dashboard.decisions.grown.optimal.prices import Tick, part_of
from dashboard.decisions.grown.optimal.rectangles import lines_of
from dashboard.decisions.grown.optimal.tree import Tree
from dashboard.decisions.grown.optimal.windows import Goal, windows_bound
from dashboard.domain.arrays import FloatArray, IntArray

LARGEST = 5_000_000
"""Rectangles of the largest grids that are searched with all their lines: somewhat more than of 64 × 64 cells."""

MOST_CUTS = 128 * LARGEST
"""Rectangles times rows and columns of such grids: long and narrow ones have more cuts."""

COARSE = 1_000_000
"""Rectangles of the grids of some lines."""

THIN = 256
"""Rows and columns of a thinned grid."""

MOST_BOUNDED = 36
"""Thinned grids that are bounded: of more not all, which lowers the bound but ends in time."""

ROUNDS = 3
"""How often lines are chosen."""

TARGETS = (1, 2, 4)
"""Of the most leaves that are asked for, the whole and these parts have bounds made good: the smaller, the less."""

AROUND = np.array([0.5, 0.7, 1.0, 1.4, 2.0])
"""Prices that bounds are looked for with, in what one leaf more saves."""


class RestrictedLeaves:
    """As `LeafSearch`, for any grid."""

    def __init__(self, costs: Costs, max_leaves: int, tick: Tick | None = None) -> None:
        self._rounds: list[tuple[LeafSearch, list[IntArray]]] = []

        def search(kept: Costs, starts: list[IntArray], part: Tick) -> tuple[Tree, float]:
            searched = LeafSearch(kept, max_leaves, part)
            self._rounds.append((searched, starts))
            return searched.tree(searched.most), float(searched.least[-1])

        _choose_lines(costs, search, tick)
        self.most = min(searched.most for searched, _ in self._rounds)
        every = np.stack([searched.least[: self.most] for searched, _ in self._rounds])
        self._best = every.argmin(axis=0)
        self.least: FloatArray = every.min(axis=0)
        self.bound = np.minimum(self._bounds(costs, tick), self.least)
        self.proven = self.least <= self.bound

    def _bounds(self, costs: Costs, tick: Tick | None) -> FloatArray:
        """What no tree of at most 1, 2, … leaves costs less than: of several numbers of leaves made good."""
        counts = np.arange(1, self.most + 1)
        bounds = np.zeros(self.most)
        slopes = _slopes(self.least)
        for number, target in enumerate(TARGETS):
            leaves = max(1, self.most // target)
            if slopes.size:
                prices = np.append(slopes[min(leaves, slopes.size) - 1] * AROUND, slopes[:: -(-slopes.size // 4)])
                goal = Goal(float(self.least[leaves - 1]), leaves, np.unique(prices))
                bounds = np.maximum(bounds, thinned_bound(costs, self.tree(leaves), goal, counts, target))
            if tick is not None:
                tick(0.6 + 0.4 * (number + 1) / len(TARGETS))
        return bounds

    def tree(self, leaves: int) -> Tree:
        """Give the tree found of at most so many leaves."""
        leaves = min(leaves, self.most)
        searched, starts = self._rounds[int(self._best[leaves - 1])]
        return searched.tree(leaves).spread(*starts)


def restricted_tree(
    costs: Costs,
    search: Callable[[Costs, Tick], Tree],
    price: float,
    depth: int | None = None,
    tick: Tick | None = None,
) -> tuple[Tree, float | None]:
    """Find the best tree that a search finds with some lines of a grid.

    Parameters
    ----------
    search
        Gives the best tree of a grid.
    price
        Per leaf, in percent (of one cell of weight 1).
    depth
        Most levels of the trees; None for any.

    Returns
    -------
    tree
        Over the cells of `costs`.
    bound
        What no tree costs less than, with its price; None when it is proven that this one is best.
    """
    trees: list[tuple[float, Tree]] = []

    def worth(kept: Costs, starts: list[IntArray], part: Tick) -> tuple[Tree, float]:
        tree = search(kept, part)
        ends = tree.ends()
        value = sum(kept.cost(spot)[0] for spot in ends) + price * len(ends)
        trees.append((value, tree.spread(*starts)))
        return tree, value

    _choose_lines(costs, worth, tick)
    value, tree = min(trees, key=lambda pair: pair[0])
    cells = costs.cells[0].size
    if depth is None:
        leaves = cells if price == 0 else min(cells, int(value / price) + 1)
        goal = Goal(value, leaves, np.array([price]), price)
    else:
        leaves = min(cells, 2**depth)
        goal = Goal(value, leaves, value / leaves * np.array([0.0, 0.1, 0.5]), 0.0, depth)
    bound = float(thinned_bound(costs, tree, goal, np.array([leaves]), 1)[0])
    if tick is not None:
        tick(1.0)
    return tree, None if value <= bound else bound


def _choose_lines(
    costs: Costs, search: Callable[[Costs, list[IntArray], Tick], tuple[Tree, float]], tick: Tick | None
) -> None:
    """Search with lines chosen anew around the cuts of the last tree, until that is no use."""
    counts = lines_of(*costs.shape, COARSE)
    starts = [_evenly(extent, count) for extent, count in zip(costs.shape, counts, strict=True)]
    last = np.inf
    for number in range(ROUNDS):
        blocks = costs.blocks(starts[0][:-1], starts[1][:-1])
        tree, value = search(blocks, starts, part_of(tick, 0.6 * number / ROUNDS, 0.6 / ROUNDS))
        if not value < last * 0.999:
            return
        last = value
        spots = np.array(tree.spread(*starts).ends())
        starts = [
            _around(np.unique(spots[:, axis]), starts[axis], extent, counts[axis])
            for axis, extent in enumerate(costs.shape)
        ]


def _evenly(extent: int, count: int) -> IntArray:
    """First row of each of `count` blocks, and the number of rows."""
    return np.asarray(np.unique(np.linspace(0, extent, count + 1).round()), dtype=np.int64)


def _around(cuts: IntArray, before: IntArray, extent: int, count: int) -> IntArray:
    """The cuts, lines evenly between them and the lines next to them before, and lines evenly over the rest."""
    cuts = cuts[cuts > 0]
    each = max(1, count // (4 * max(1, cuts.size)))
    places = np.searchsorted(before, cuts)
    shares = np.arange(1, each + 1) / (each + 1)
    sides = [(cuts + shares[:, None] * (before[places + way] - cuts)).ravel() for way in (-1, 1)]
    near = np.setdiff1d(np.concatenate(sides).round().astype(np.int64), cuts)
    room = max(0, min(near.size, count - 1 - cuts.size))
    near = near[np.linspace(0, near.size - 1, room).round().astype(np.int64)]
    kept = np.unique(np.concatenate([[0, extent], cuts, near])).astype(np.int64)
    return np.union1d(kept, _evenly(extent, max(1, count + 1 - kept.size)))


def thinned_bound(costs: Costs, tree: Tree, goal: Goal, counts: IntArray, less: int) -> FloatArray:
    """Add up what `windows_bound` gives for grids of at most `THIN` rows and columns that share the cells.

    No cell costs less than nothing, so those that are left out only lower the bound.
    """
    tolls, spots = tolls_of(costs, tree), np.array(tree.ends())
    every = tuple(-(-extent // THIN) for extent in costs.shape)
    parts = list(itertools.product(*map(range, every)))
    total = np.zeros(counts.size)
    for place in np.unique(np.linspace(0, len(parts) - 1, MOST_BOUNDED).round().astype(int)):
        kept = [slice(start, None, step) for start, step in zip(parts[place], every, strict=True)]
        cuts = [
            np.unique(-(-(spots[:, axis] - start) // step)).clip(0)
            for axis, (start, step) in enumerate(zip(parts[place], every, strict=True))
        ]
        share = replace(
            goal,
            value=float(tolls[kept[0], kept[1]].sum()) + goal.charged * len(spots) / len(parts),
            prices=goal.prices / len(parts),
            charged=goal.charged / len(parts),
        )
        thin = costs.capped[:, kept[0], kept[1]]
        total += windows_bound(thin, tolls[kept[0], kept[1]], cuts, share, counts, less * len(parts))
    return total


def tolls_of(costs: Costs, tree: Tree) -> FloatArray:
    """What each cell costs in a tree."""
    tolls = np.zeros(costs.shape)
    for spot in tree.ends():
        top, left, height, width = spot
        here = slice(top, top + height), slice(left, left + width)
        tolls[here] = costs.capped[costs.cost(spot)[1]][here]
    return tolls


def _slopes(least: FloatArray) -> FloatArray:
    """What one leaf more saves, on the convex hull of what trees of 1, 2, … leaves cost."""
    corners = lower_hull(list(enumerate(least.tolist(), 1)))
    slopes = [np.full(n - m, (a - b) / (n - m)) for (m, a), (n, b) in itertools.pairwise(corners)]
    return np.concatenate([np.zeros(0), *slopes])
