"""The best trees of at most K leaves, for all K at once, proven best.

Trees of at most K leaves have no convex frontier, so prices per leaf alone do not find all of them; but they
bound them. `priced` gives for a price the least cost + price × leaves of any tree, hence a lower bound on the
cost of K leaves (Lagrangian relaxation; Everett, Operations Research 11, 1963), and with it the least that a
tree with a certain cut can be worth (`candidates`). A tree that is at hand, on the other hand, is an upper
bound. The cuts that are not ruled out by both together are so few that dynamic programming over rectangles and
numbers of leaves takes no time. Whatever it finds is the upper bound of the next round, and is proven best
when it lies no further above the lower bound than the cuts were kept for.
"""

import itertools
from functools import cached_property

import numpy as np

from dashboard.decisions.grown.optimal.candidates import CHUNK, Cuts, candidates
from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.depth import followed
from dashboard.decisions.grown.optimal.prices import Tick, part_of, priced
from dashboard.decisions.grown.optimal.rectangles import Rectangles
from dashboard.decisions.grown.optimal.tree import Tree, grown
from dashboard.domain.arrays import FloatArray, IntArray

TOGETHER = 16
"""Prices that are tried in one pass."""

BYTES = 384 << 20
"""Most memory for what one pass finds."""

SLACK = 0.5
"""How far above the lower bound, in prices per leaf, trees are looked for at first."""

MOST_CUTS = 250_000
"""Cuts that are kept at most; beyond, the trees found are not proven best."""

FEWEST_CUTS = 20_000
"""That many are kept even where there are so many leaves that they need more memory."""


class LeafSearch:
    """The best trees of at most 1, 2, … leaves.

    Parameters
    ----------
    max_leaves
        The greatest number of leaves that is asked for.

    Attributes
    ----------
    least
        ``(leaves - 1,)`` least cost found of at most so many leaves (percent, as `Costs.cells`).
    bound
        What no tree of so many leaves falls below.
    proven
        Where `least` is the least there is.
    """

    def __init__(self, costs: Costs, max_leaves: int, tick: Tick | None = None) -> None:
        self.costs = costs
        self.most = min(max_leaves, costs.shape[0] * costs.shape[1])
        self.rectangles = Rectangles(*costs.shape)
        self._leaves = costs.leaves(self.rectangles)
        self._tick = tick or (lambda _share: None)
        self._share = 0.0
        self._cuts = Cuts.joined([])
        self._prices = np.zeros(0)
        self._worth = np.zeros(0)
        self._slack = np.zeros(0)
        self._most_cuts = int(min(MOST_CUTS, max(FEWEST_CUTS, (BYTES // 8) // self.most)))
        self._exhausted: set[float] = set()
        self._corners: dict[int, float] = {}
        self._search()

    def _search(self) -> None:
        counts = np.arange(1, self.most + 1)
        prices = self._first_prices()
        self._try(prices, SLACK * prices)
        while True:
            self._states = _States(self._cuts, self._leaves, self.most)
            self.least = self._states.best
            lines = self._worth[:, None] - self._prices[:, None] * counts
            # Costs are whole steps, so what they cannot fall below is one, too.
            self.bound = np.ceil(np.maximum(lines.max(axis=0), 0.0) / self.costs.step) * self.costs.step
            gap = self.least - lines
            self.proven = (gap <= self._slack[:, None]).any(axis=0) | (self.least <= self.bound)
            open_counts = counts[~self.proven]
            if not open_counts.size:
                break
            prices = self._between(open_counts)
            if prices.size:
                self._try(prices, SLACK * prices)
            elif not self._reopen(open_counts, gap):
                break
        unit = self.costs.unit
        self.bound = np.where(self.proven, self.least, self.bound) / unit
        self.least = self.least / unit
        self._tick(1.0)

    def _first_prices(self) -> FloatArray:
        """From one that lets no leaf pay to one that lets every leaf pay."""
        top = self.costs.highest_price
        return self._snapped(np.append(np.geomspace(max(top, 1.0), max(top * 1e-5, 1.0), TOGETHER - 1), 0.0))

    def _snapped(self, prices: FloatArray) -> FloatArray:
        """Whole prices that leave 1 on division by the step, each once, without those tried."""
        step = self.costs.step
        multiples = np.unique(np.rint(np.minimum(prices, self.costs.highest_price) / step) * step + 1)
        return np.setdiff1d(multiples, self._prices)

    def _try(self, prices: FloatArray, slack: FloatArray) -> None:
        """Take up the cuts of all trees that are worth within `slack` of the best one at each price."""
        together = int(max(1, min(TOGETHER, BYTES // (8 * self.rectangles.count))))
        for start in range(0, prices.size, together):
            batch = prices[start : start + together]
            values = priced(self._leaves, self.rectangles, batch, self._ticks())
            self._take_up(values, batch, slack[start : start + together])

    def _take_up(self, values: FloatArray, prices: FloatArray, slack: FloatArray) -> None:
        best = values[-1]
        leaves = best % self.costs.step
        # Trees far larger than is asked for say what a price bounds, no more, unless that is not enough.
        slack = np.where(np.isin(prices, self._prices) | (leaves <= 2 * self.most), slack, -1.0)
        cuts = candidates(values, self.rectangles, best + slack, self._most_cuts, self._alive)
        if cuts is None and prices.size > 1:
            for column in range(prices.size):
                self._take_up(values[:, column : column + 1], prices[column : column + 1], slack[column : column + 1])
            return
        if cuts is None:
            self._exhausted.add(float(prices[0]))
            slack = slack / 8
            cuts = candidates(values, self.rectangles, best + slack, self._most_cuts, self._alive)
        if cuts is None:
            slack = np.array([-1.0])
            cuts = Cuts.of(followed([values], self._leaves + prices, self.rectangles), self.rectangles)
        self._cuts = Cuts.joined([self._cuts, cuts])
        kept = ~np.isin(self._prices, prices)
        self._prices = np.append(self._prices[kept], prices)
        self._worth = np.append(self._worth[kept], best)
        self._slack = np.append(self._slack[kept], slack)
        for count, cost in zip(leaves.astype(int).tolist(), (best - leaves * prices).tolist(), strict=True):
            self._corners[count] = cost

    def _between(self, open_counts: IntArray) -> FloatArray:
        """Prices not tried yet at which the trees next below and above `open_counts` leaves are worth the same."""
        corners = lower_hull(sorted({**self._corners, **dict(enumerate(self.least.tolist(), 1))}.items()))
        prices = [
            (cost - next_cost) / (next_count - count)
            for (count, cost), (next_count, next_cost) in itertools.pairwise(corners)
            if ((open_counts >= count) & (open_counts <= next_count)).any()
        ]
        return self._snapped(np.array(prices))

    def _reopen(self, open_counts: IntArray, gap: FloatArray) -> bool:
        """Look further above the best bound of each of `open_counts`; False when that is no use any more."""
        nearest = gap[:, open_counts - 1].argmin(axis=0)
        rows = np.array([row for row in np.unique(nearest) if self._prices[row] not in self._exhausted], dtype=np.int64)
        if not rows.size:
            return False
        wanted = np.array([gap[row, open_counts[nearest == row] - 1].max() for row in rows])
        self._try(self._prices[rows], np.minimum(wanted, np.maximum(2 * self._slack, self._prices)[rows]))
        return True

    def _alive(self) -> None:
        self._tick(self._share)

    def _ticks(self) -> Tick:
        """How far the next pass brings the whole: nobody knows how many follow."""
        begun, left = self._share, (1 - self._share) / 3
        self._share += left
        return part_of(self._tick, begun, left)

    def tree(self, leaves: int) -> Tree:
        """Give the tree found of at most so many leaves; the fewest of those that cost as little."""
        return self._states.tree(min(leaves, self.most), self.rectangles)


class _States:
    """The best trees below rectangles for each number of leaves, by given cuts.

    Parameters
    ----------
    cuts
        Small parents first.
    leaves
        Cost of every rectangle as a leaf.
    """

    def __init__(self, cuts: Cuts, leaves: FloatArray, most: int) -> None:
        root = leaves.size - 1
        self._numbers = np.unique(np.concatenate([[root], cuts.parent, cuts.first, cuts.second]))
        self._alone = leaves[self._numbers]
        self._parent, self._first, self._second = (
            np.searchsorted(self._numbers, side) for side in (cuts.parent, cuts.first, cuts.second)
        )
        self._table = np.repeat(self._alone[:, None], most, axis=1)
        self._useful = np.ones(self._numbers.size, dtype=np.int64)
        ends = np.flatnonzero(np.diff(cuts.size, append=-1)) + 1
        for start, end in itertools.pairwise([0, *ends.tolist()]):
            for place in range(start, end, CHUNK // most + 1):
                self._combine(slice(place, min(end, place + CHUNK // most + 1)))

    def _combine(self, cuts: slice) -> None:
        parent = self._parent[cuts]
        first, second = self._table[self._first[cuts]], self._table[self._second[cuts]]
        best: FloatArray = np.full_like(first, np.inf)
        most = first.shape[-1]
        most_first, most_second = (
            int(self._useful[self._first[cuts]].max()),
            int(self._useful[self._second[cuts]].max()),
        )
        for count in range(1, min(most_first, most - 1) + 1):
            last = min(count + most_second, most)
            sums = first[:, count - 1, None] + second[:, : last - count]
            np.minimum(best[:, count:last], sums, out=best[:, count:last])
        starts = np.flatnonzero(np.diff(parent, prepend=-1))
        rows = parent[starts]
        lowest = np.minimum(self._table[rows], np.minimum.reduceat(best, starts))
        self._table[rows] = np.minimum.accumulate(lowest, axis=1)
        self._useful[rows] = 1 + (self._table[rows] > self._table[rows][:, -1:]).sum(axis=1)

    @property
    def best(self) -> FloatArray:
        """Least cost of the whole grid for each number of leaves."""
        best: FloatArray = self._table[-1]
        return best

    @cached_property
    def _cuts_of(self) -> dict[int, IntArray]:
        order = np.argsort(self._parent, kind="stable")
        parents, starts = np.unique(self._parent[order], return_index=True)
        return dict(zip(parents.tolist(), np.split(order, starts[1:]), strict=True))

    def tree(self, leaves: int, rectangles: Rectangles) -> Tree:
        """Follow the choices down from the whole grid."""

        def sides(state: tuple[int, int]) -> tuple[tuple[int, int], ...]:
            """Both halves with the leaves of each; none where one leaf is as good."""
            number, count = state
            cost = self._table[number, count - 1]
            if cost == self._alone[number]:
                return ()
            count = int(np.searchsorted(-self._table[number], -cost)) + 1
            cuts = self._cuts_of[number]
            sums = self._table[self._first[cuts], : count - 1] + self._table[self._second[cuts], : count - 1][:, ::-1]
            cut, fewer = divmod(int((sums == cost).argmax()), sums.shape[1])
            place = cuts[cut]
            return (int(self._first[place]), fewer + 1), (int(self._second[place]), count - fewer - 1)

        return grown(
            (self._numbers.size - 1, leaves), sides, lambda state: rectangles.spot(int(self._numbers[state[0]]))
        )


def lower_hull(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Of points that ascend in their first value those on the convex hull from below."""
    hull: list[tuple[int, float]] = []
    for count, cost in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (count - hull[-2][0]) >= (cost - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((count, cost))
    return hull
