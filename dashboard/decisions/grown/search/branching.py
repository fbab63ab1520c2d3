"""The search itself: branch and bound over tests, with what was found for each set of cells kept."""

import heapq
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dashboard.decisions.grown.search.cells import Cells, Tree, leaves_of
from dashboard.decisions.grown.search.kernel import two_levels
from dashboard.domain.arrays import IntArray

KEPT = 400_000
"""Results are kept for so many sets of cells; then all are forgotten."""

BY_TABLE = 2
"""Trees of up to so many levels are found by `two_levels`."""


class OutOfTime(Exception):
    """The time, or the number of steps, is up."""


@dataclass
class Watch:
    """The best tree so far, and what no tree can lose less than."""

    lost: float
    tree: Tree
    bound: float = 0.0


@dataclass
class Search:
    """Looks for trees that lose least.

    Notes
    -----
    What the sides of a test lose can only grow with their cells. So once a cut is evaluated, all lower
    ones leave at least as much to the other side, and all higher ones to this one; ranges of cuts for
    which both together are no better than the best tree known are passed over (Mazumder, Meng, Wang:
    *Quant-BnB*, ICML 2022; Brita, van der Linden, Demirović: ConTree, AAAI 2025). A set of cells reached by
    other tests is not searched again (Demirović et al.: MurTree, JMLR 23, 2022). Leaves may have any losses, as in
    van der Linden, de Weerdt, Demirović: *Necessary and sufficient conditions for optimal decision trees
    using dynamic programming* (STreeD), NeurIPS 2023.
    """

    #: What to decide.
    cells: Cells
    #: Called now and then; raises what is to stop the search.
    alive: Callable[[], None]
    #: In seconds of the monotonic clock.
    deadline: float = np.inf
    #: Sets of cells that may still be looked at.
    steps: float = np.inf
    _known: dict[tuple[bytes, int, int], tuple[float, Tree | None]] = field(default_factory=dict)

    def warm(self) -> None:
        """Have the compiler done with, so that it takes no time of the search."""
        self._by_table(self.cells.all[:1], 1, np.inf)

    def solve(self, cells: IntArray, depth: int, leaves: int, limit: float) -> tuple[float, Tree | None]:
        """Find the best tree for some cells.

        Parameters
        ----------
        cells
            Which cells, ascending.
        depth, leaves
            Most levels and leaves.
        limit
            Only trees that lose less are looked for.

        Returns
        -------
        lost
            What the best tree loses; without a tree, what every tree loses at least.
        tree
            None when none loses less than `limit`.
        """
        leaves = min(leaves, 1 << depth, cells.size)
        here = np.zeros(len(self.cells.ranks), dtype=np.bool_)
        here[cells] = True
        key = np.packbits(here).tobytes(), depth, leaves
        lost, tree = self._known.get(key, (0.0, None))
        if tree is not None or lost >= limit - self.cells.tolerance:
            return lost, tree if lost < limit - self.cells.tolerance else None
        self.steps -= 1
        if self.steps < 0 or time.monotonic() > self.deadline:
            raise OutOfTime
        self.alive()
        solution = (
            self._by_table(cells, leaves, limit) if depth <= BY_TABLE else self.branch(cells, depth, leaves, limit)
        )
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[key] = solution
        return solution

    def _by_table(self, cells: IntArray, leaves: int, limit: float) -> tuple[float, Tree | None]:
        sizes = np.array([values.size for values in self.cells.distinct], dtype=np.int64)
        lost, tests = two_levels(
            self.cells.ranks, self.cells.table, cells, sizes, leaves, min(limit, 1e300), self.cells.tolerance
        )
        if lost >= limit - self.cells.tolerance:
            return limit, None
        return float(lost), self._tree(cells, tests, 0)

    def _tree(self, cells: IntArray, tests: IntArray, place: int) -> Tree:
        if place >= len(tests) or tests[place, 0] < 0:
            return self.cells.leaf(cells)[1]
        attribute, low, high = (int(value) for value in tests[place])
        holds, others = self.cells.sides(cells, attribute, low)
        # A second test stands after the first one; below it (place 3 and beyond) there are only leaves.
        yes, no = (1, 2) if place == 0 else (len(tests), len(tests))
        return attribute, (low + high) // 2, self._tree(holds, tests, yes), self._tree(others, tests, no)

    def branch(
        self, cells: IntArray, depth: int, leaves: int, limit: float, watch: Watch | None = None
    ) -> tuple[float, Tree | None]:
        """Find the best tree by trying first tests; as `solve`, telling `watch` of each step."""
        best, tree = self.solve(cells, BY_TABLE, leaves, limit)
        if tree is None:
            best = limit
        ranges = _Ranges(self.cells, cells)
        while (step := ranges.next(best - self.cells.tolerance, watch)) is not None:
            attribute, rank, cut, least = step
            sides = self.cells.sides(cells, attribute, rank)
            lost, pair, bounds = self._both(sides, depth - 1, leaves, best, least)
            if pair is not None:
                best, tree = lost, (attribute, cut, *pair)
                if watch is not None:
                    watch.lost, watch.tree = best, tree
            ranges.narrow(bounds)
        return (limit if tree is None else best), tree

    def _both(
        self, sides: tuple[IntArray, IntArray], depth: int, leaves: int, limit: float, least: tuple[float, float]
    ) -> tuple[float, tuple[Tree, Tree] | None, tuple[float, float]]:
        """Find the best trees for both sides of a test.

        Returns
        -------
        lost, pair
            The best trees of less than `limit`, and what they lose together.
        bounds
            What each side loses at least, whatever leaves the other one has.
        """
        most = min(leaves - 1, 1 << depth)
        larger = int(sides[1].size > sides[0].size)  # which rather loses too much for going on with the other one
        bounds: list[float] = list(least)
        trees: dict[int, Tree] = {}
        for side in (larger, 1 - larger):
            lost, tree = self.solve(sides[side], depth, most, limit - bounds[1 - side])
            bounds[side] = max(bounds[side], lost)
            if tree is None:
                return limit, None, (bounds[0], bounds[1])
            trees[side] = tree
        first, second = trees[0], trees[1]
        if leaves_of(first) + leaves_of(second) <= leaves:
            return bounds[0] + bounds[1], (first, second), (bounds[0], bounds[1])
        lost, pair = self._shared(sides, depth, leaves, limit, (bounds[0], bounds[1]))
        return lost, pair, (bounds[0], bounds[1])

    def _shared(
        self, sides: tuple[IntArray, IntArray], depth: int, leaves: int, limit: float, least: tuple[float, float]
    ) -> tuple[float, tuple[Tree, Tree] | None]:
        """Share a limited number of leaves between both sides of a test."""
        best, pair = limit, None
        most = min(leaves - 1, 1 << depth)
        for count in range(max(1, leaves - most), most + 1):
            one_lost, first = self.solve(sides[0], depth, count, best - least[1])
            if first is None:
                continue
            two_lost, second = self.solve(sides[1], depth, leaves - count, best - one_lost)
            if second is not None:
                best, pair = one_lost + two_lost, (first, second)
        return best, pair


class _Ranges:
    """Ranges of first cuts that are still to be looked at, the one of least bound first."""

    def __init__(self, cells: Cells, members: IntArray) -> None:
        self._values = [np.unique(column) for column in cells.ranks[members].T]
        self._order = itertools.count()
        self._heap: list[tuple[float, int, int, int, int, float, float]] = []
        self._current = (0, 0, 0, 0.0, 0.0, 0)
        for attribute, values in enumerate(self._values):
            self._push(attribute, 0, values.size - 2, 0.0, 0.0)

    def _push(self, attribute: int, low: int, high: int, left: float, right: float) -> None:
        if low <= high:
            heapq.heappush(self._heap, (left + right, next(self._order), attribute, low, high, left, right))

    def next(self, limit: float, watch: Watch | None) -> tuple[int, int, int, tuple[float, float]] | None:
        """The next cut: attribute, last rank below, rank in the middle of the cut, least losses of both sides."""
        if not self._heap or self._heap[0][0] >= limit:
            return None
        bound, _, attribute, low, high, left, right = heapq.heappop(self._heap)
        if watch is not None:
            watch.bound = max(watch.bound, bound)
        middle = (low + high) // 2
        self._current = (attribute, low, high, left, right, middle)
        rank, above = (int(self._values[attribute][place]) for place in (middle, middle + 1))
        return attribute, rank, (rank + above) // 2, (left, right)

    def narrow(self, bounds: tuple[float, float]) -> None:
        """Go on with the cuts below and above, knowing what the sides of this one lose at least."""
        attribute, low, high, left, right, middle = self._current
        self._push(attribute, low, middle - 1, left, bounds[1])
        self._push(attribute, middle + 1, high, bounds[0], right)
