"""One search from its start to what can be said of its result."""

import time
from typing import Any

from dashboard.decisions.function.nodes import Node
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.grown.search.branching import BY_TABLE, OutOfTime, Search, Watch
from dashboard.decisions.grown.search.cells import Cells, leaves_of
from dashboard.decisions.grown.search.improve import improve, stacked
from dashboard.decisions.measured.cases import Cases

COARSE = (1 << 17, 1 << 21)
"""Before all cuts are looked at, so many sums (`Cells.coarse`) are, to begin with a good tree."""

COARSE_WORK = 1 << 28
"""Sums times steps that each of these takes at most; not seconds, so that proven trees do not depend on speed."""

MOST_SUMS = 1 << 26
"""Sums that there is room for (8 bytes each)."""

_TOLD_EVERY = 0.1


class Run:
    """One search.

    Parameters
    ----------
    start
        A tree within the limits to begin with.
    depth, leaves
        Most levels and leaves.
    seconds
        Time for the search; None = until it is proven.
    progress
        Told how much of the time is used.
    """

    def __init__(
        self, cases: Cases, start: Node, depth: int, leaves: int, seconds: float | None, progress: Progress | None
    ) -> None:
        self._cells = Cells.of(cases)
        self._depth, self._leaves = depth, leaves
        self._seconds, self._progress = seconds, progress
        self._began = self._told = 0.0
        every = self._cells.all
        tree = self._cells.ranked(start, every)
        self._best = self._cells.lost(tree, every), self._cells.node(tree)
        self._bound = 0.0

    def result(self) -> tuple[Node, dict[str, Any]]:
        """Search.

        Returns
        -------
        root
            The best tree.
        facts
            ``proven``: whether no tree within the limits loses less; ``lower_bound``: mean penalty in percent that no
            tree within them falls below; ``gap``: percent of its own mean penalty that the tree is above that.
        """
        Search(self._cells, lambda: None).warm()
        self._began = self._told = time.monotonic()
        stages = [self._cells.coarse(most) for most in COARSE] + [self._cells.coarse(MOST_SUMS)]
        proven = False
        for number, cells in enumerate(stages):
            last = number == len(stages) - 1
            if not last and cells.sums == stages[number + 1].sums:
                continue
            done = self._stage(cells, last=last)
            proven = done and cells is self._cells
        if self._progress is not None:
            self._progress(1.0, "search")
        return self._judged(proven=proven)

    def _stage(self, cells: Cells, *, last: bool) -> bool:
        """Look at the cuts that `cells` has; whether all of them were looked at."""
        watch = Watch(*cells.leaf(cells.all))
        self._take(cells, watch, cells.ranked(self._best[1], cells.all))
        cells = cells.capped(watch.lost)
        search = Search(cells, lambda: self._alive(watch))
        if self._seconds is not None:
            search.deadline = self._began + self._seconds
        if not last:
            search.steps = COARSE_WORK // cells.sums
        try:
            self._better(search, watch)
            done = True
        except OutOfTime:
            done = False
        root = cells.node(watch.tree)
        lost = self._cells.lost(self._cells.ranked(root, self._cells.all), self._cells.all)
        if lost < self._best[0]:
            self._best = lost, root
        self._bound = watch.bound if last and cells.sums == self._cells.sums else 0.0
        return done

    def _take(self, cells: Cells, watch: Watch, tree: Any) -> None:
        """Go on from another tree if it is better."""
        lost = cells.lost(tree, cells.all)
        if leaves_of(tree) <= self._leaves and lost < watch.lost:
            watch.lost, watch.tree = lost, tree

    def _better(self, search: Search, watch: Watch) -> None:
        """Better the tree until none is better."""
        every = search.cells.all
        if self._depth <= BY_TABLE:
            lost, tree = search.solve(every, self._depth, self._leaves, watch.lost)
            if tree is not None:
                watch.lost, watch.tree = lost, tree
            return
        self._take(search.cells, watch, stacked(search, every, self._depth))
        improve(search, watch, self._depth, self._leaves)
        search.branch(every, self._depth, self._leaves, watch.lost, watch)

    def _alive(self, watch: Watch) -> None:
        now = time.monotonic()
        if self._progress is None or now < self._told + _TOLD_EVERY:
            return
        self._told = now
        share = 0.0 if self._seconds is None else min((now - self._began) / max(self._seconds, _TOLD_EVERY), 1.0)
        self._progress(share, f"search, {watch.lost / self._cells.weight:.3g} % so far")

    def _judged(self, *, proven: bool) -> tuple[Node, dict[str, Any]]:
        lost, root = self._best
        if lost >= self._cells.unmeasured:
            # Methods had to be taken that tables do not have: penalties alone say nothing then.
            return root, {"proven": proven, "lower_bound": None, "gap": 0.0 if proven else None}
        mean = lost / self._cells.weight
        least = mean if proven else min(self._bound, lost) / self._cells.weight
        gap = 100.0 * (mean - least) / mean if mean > least else 0.0
        return root, {"proven": proven, "lower_bound": least, "gap": gap}
