"""Grids too large for all their rectangles: cuts at some lines only, and how far that can be from the best.

The trees found are best among those that cut at some of the grid lines; these are chosen evenly at first, then
around the cuts of the tree found. What no tree at all falls below is known from thinned grids: the rows taken
every so many, and the columns likewise, share the cells out to several small grids. A tree of the large grid is,
on each of them, a tree of no more leaves and levels, and its cost is the sum of what it costs on each. So the
sum of their lowest costs, each bounded by prices per leaf, is a lower bound.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.depth import DepthSearch
from dashboard.decisions.grown.optimal.leaves import LeafSearch, lower_hull
from dashboard.decisions.grown.optimal.prices import Tick, priced
from dashboard.decisions.grown.optimal.rectangles import Rectangles
from dashboard.decisions.grown.optimal.tree import Tree

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LARGEST = 5_000_000
"""Rectangles of the largest grids that are searched with all their lines: somewhat more than of 64 × 64 cells."""

MOST_CUTS = 128 * LARGEST
"""Rectangles times rows and columns of such grids: long and narrow ones have more cuts."""

COARSE = 1_000_000
"""Rectangles of the grids of some lines."""

LONGEST = 500
"""Rows (columns) of such grids."""

THIN = 50
"""Rows and columns of a thinned grid."""

MOST_BOUNDED = 36
"""Thinned grids that are bounded: beyond 300 × 300 not all of them, which lowers the bound but ends in time."""

ROUNDS = 3
"""How often lines are chosen."""

BOUND_PRICES = 8


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
        self.bound = np.minimum(leaves_bound(costs, self.least, tick), self.least)
        self.proven = self.least <= self.bound

    def tree(self, leaves: int) -> Tree:
        """Give the tree found of at most so many leaves."""
        leaves = min(leaves, self.most)
        searched, starts = self._rounds[int(self._best[leaves - 1])]
        return searched.tree(leaves).spread(*starts)


class RestrictedTree:
    """The best tree that a search finds with some lines of a grid.

    Parameters
    ----------
    costs
        What leaves cost.
    search
        Gives the best tree of a grid.
    price
        Per leaf, in percent (of one cell of weight 1).
    lowest
        What no tree of a thinned grid costs less than, given its share of the price.
    tick
        Told the share done.

    Attributes
    ----------
    tree
        Over the cells of `costs`.
    bound
        What no tree costs less than, with its price; None when it is proven that this one is best.
    """

    def __init__(
        self,
        costs: Costs,
        search: Callable[[Costs, Tick], Tree],
        price: float,
        lowest: Callable[[Costs, float], float],
        tick: Tick | None = None,
    ) -> None:
        trees: list[tuple[float, Tree]] = []

        def worth(kept: Costs, starts: list[IntArray], part: Tick) -> tuple[Tree, float]:
            tree = search(kept, part)
            ends = tree.ends()
            value = sum(kept.cost(spot)[0] for spot in ends) + price * len(ends)
            trees.append((value, tree.spread(*starts)))
            return tree, value

        _choose_lines(costs, worth, tick)
        value, self.tree = min(trees, key=lambda pair: pair[0])
        parts = list(_thinned(costs))
        total = 0.0
        for thin in _sample(parts, tick):
            total += lowest(thin, price / len(parts))
        self.bound: float | None = None if value <= total else total


def _choose_lines(
    costs: Costs, search: Callable[[Costs, list[IntArray], Tick], tuple[Tree, float]], tick: Tick | None
) -> None:
    """Search with lines chosen anew around the cuts of the last tree, until that is no use."""
    counts = lines_of(*costs.shape)
    starts = [_evenly(extent, count) for extent, count in zip(costs.shape, counts, strict=True)]
    last = np.inf
    for number in range(ROUNDS):
        blocks = costs.blocks(starts[0][:-1], starts[1][:-1])
        tree, value = search(blocks, starts, _part(tick, 0.6 * number / ROUNDS, 0.6 / ROUNDS))
        if not value < last * 0.999:
            return
        last = value
        spots = np.array(tree.spread(*starts).ends())
        starts = [
            _around(np.unique(spots[:, axis]), starts[axis], extent, counts[axis])
            for axis, extent in enumerate(costs.shape)
        ]


def lines_of(rows: int, columns: int) -> tuple[int, int]:
    """How many rows and columns of blocks have no more than `COARSE` rectangles: of a short axis all."""
    side = int(np.sqrt(2 * np.sqrt(COARSE)))
    few, many = sorted((rows, columns))
    few = min(few, side)
    many = min(many, LONGEST, int(np.sqrt(2 * COARSE / (few * (few + 1) / 2))))
    return (few, many) if rows <= columns else (many, few)


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


def _thinned(costs: Costs) -> Iterator[Costs]:
    """Share the cells out to grids of at most `THIN` rows and columns."""
    rows, columns = (-(-extent // THIN) for extent in costs.shape)
    for row in range(rows):
        for column in range(columns):
            yield costs.part(slice(row, None, rows), slice(column, None, columns))


def _sample(parts: list[Costs], tick: Tick | None) -> Iterator[Costs]:
    """At most `MOST_BOUNDED` of them; no cell costs less than nothing, so those left out only lower the bound."""
    places = np.unique(np.linspace(0, len(parts) - 1, MOST_BOUNDED).round().astype(int))
    for number, place in enumerate(places):
        if tick is not None:
            tick(0.6 + 0.4 * number / places.size)
        yield parts[place]


def leaves_bound(costs: Costs, least: FloatArray, tick: Tick | None = None) -> FloatArray:
    """What no tree of at most 1, 2, … leaves costs less than.

    Parameters
    ----------
    costs
        What leaves cost.
    least
        What trees of so many leaves are known to cost; prices per leaf are chosen by it.
    tick
        Told the share done, from 0.6 on.
    """
    counts = np.arange(1, least.size + 1)
    known = np.isfinite(least)
    corners = lower_hull(list(zip(counts[known].tolist(), least[known].tolist(), strict=True)))
    slopes = [(a - b) / (n - m) for (m, a), (n, b) in itertools.pairwise(corners)] or [0.0]
    places = np.unique(np.linspace(0, len(slopes) - 1, BOUND_PRICES).round().astype(int))
    parts = list(_thinned(costs))
    prices = np.array(slopes)[places] / len(parts)
    total = np.zeros(least.size)
    for thin in _sample(parts, tick):
        worth, charged = _worth(thin, prices)
        total += np.maximum((worth[:, None] - charged[:, None] * counts).max(axis=0), 0.0)
    return total


def _worth(costs: Costs, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What no tree is worth less than at each price, and the prices as they were charged."""
    rectangles = Rectangles(*costs.shape)
    charge = np.rint(np.minimum(prices * costs.unit, costs.highest_price))
    worth = priced(costs.leaves(rectangles), rectangles, charge)[-1]
    # Costs were rounded up, by less than a step in each cell.
    return (worth - costs.step * costs.step) / costs.unit, charge / costs.unit


def price_bound(costs: Costs, price: float) -> float:
    """What no tree of a thinned grid costs less than, with its price per leaf."""
    worth, _ = _worth(costs, np.array([price]))
    return max(0.0, float(worth[0]))


def depth_bound(costs: Costs, max_depth: int) -> float:
    """What no tree of a thinned grid of at most so many levels costs less than."""
    return sum(costs.cost(spot)[0] for spot in DepthSearch(costs, max_depth).tree.ends())


def _part(tick: Tick | None, begun: float, share: float) -> Tick:
    return lambda done: None if tick is None else tick(begun + share * done)
