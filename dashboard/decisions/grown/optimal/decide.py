"""The best possible trees over the two sizes, as decision functions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.depth import best_at_price, best_of_depth
from dashboard.decisions.grown.optimal.leaves import LeafSearch
from dashboard.decisions.grown.optimal.lines import LARGEST, MOST_CUTS, RestrictedLeaves, restricted_tree
from dashboard.decisions.grown.optimal.rectangles import Rectangles
from dashboard.decisions.grown.optimal.tree import Tree, to_node
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import FloatArray
from dashboard.domain.errors import OptionError

DEPTH_BYTES = 1 << 30
"""Most memory for what a search by depth keeps of all levels."""


class OptimalFrontier:
    """The best trees of at most 1, 2, … leaves, from one search.

    Parameters
    ----------
    max_leaves
        The greatest number of leaves, from 1.
    progress
        Told how far it is; may raise `Cancelled`.

    Attributes
    ----------
    leaves
        1, 2, … `max_leaves`, or as many as there are cells where these are fewer: more leaves are no use.
    total, mean
        Least penalty for each: the sum over cells (percent, times weights) and the mean in percent.
    lower_bound
        Mean penalty that no tree of so many leaves falls below; `mean` where that is proven best.
    proven
        Where no tree of so many leaves is better.
    """

    def __init__(self, problem: Problem, max_leaves: int, progress: Progress | None = None) -> None:
        max_leaves = _whole_number("leaves", max_leaves, 1)
        self._deciding = _Deciding(problem)
        costs = self._deciding.costs
        search = LeafSearch if _small(costs, LARGEST) else RestrictedLeaves
        self._search = search(costs, max_leaves, _ticks(progress, f"best trees of up to {max_leaves} leaves"))
        self._asked = max_leaves
        self.leaves = np.arange(1, self._search.most + 1)
        self.total: FloatArray = self._search.least
        self.mean: FloatArray = self.total / costs.weight
        self.lower_bound: FloatArray = self._search.bound / costs.weight
        self.proven = self._search.proven
        self._decisions: dict[int, DecisionFunction] = {}

    def decision(self, leaves: int) -> DecisionFunction:
        """Give the best tree of at most so many leaves; of equally good ones one of the fewest.

        Raises
        ------
        OptionError
            When so many leaves were not asked for.
        """
        leaves = _whole_number("leaves", leaves, 1)
        if leaves > self._asked:
            raise OptionError(f"leaves is {leaves}, expected 1 to {self._asked} (what was asked for)")
        if leaves not in self._decisions:
            place = min(leaves, self._search.most) - 1
            bound = None if self._search.proven[place] else float(self._search.bound[place])
            tree = self._search.tree(leaves)
            self._decisions[leaves] = self._deciding.function(tree, bound, {"leaves": leaves})
        return self._decisions[leaves]


def optimal(problem: Problem, *, leaves: int = 8, progress: Progress | None = None) -> DecisionFunction:
    """Find the tree of at most so many leaves that has the least mean penalty.

    Parameters
    ----------
    problem
        What to decide on: one table of sizes. With a workload the weighted mean counts.
    leaves
        Most leaves, from 1.
    progress
        Told how far it is; may raise `Cancelled`.

    Returns
    -------
    DecisionFunction
        Binary splits on the two sizes between measured ones, at the last measured size of the lower side. Of equally
        good trees it is one of the fewest leaves. ``provenance["optimal"]`` has ``proven``, ``lower_bound`` (mean
        penalty in percent that no such tree falls below) and ``gap`` (percent of its own mean penalty that it is above
        that).

    Raises
    ------
    OptionError
        When there are several tables.
    NothingMeasuredError
        When the workload calls none of the measured sizes.
    """
    return OptimalFrontier(problem, leaves, progress).decision(leaves)


def optimal_frontier(problem: Problem, max_leaves: int, progress: Progress | None = None) -> OptimalFrontier:
    """Find the best trees of every number of leaves up to `max_leaves` in one search; see `OptimalFrontier`."""
    return OptimalFrontier(problem, max_leaves, progress)


def optimal_depth(problem: Problem, max_depth: int, progress: Progress | None = None) -> DecisionFunction:
    """Find the tree of at most so many levels below the root that has the least mean penalty.

    Otherwise as `optimal`.
    """
    max_depth = _whole_number("max_depth", max_depth, 0)
    deciding = _Deciding(problem)
    costs, ticks = deciding.costs, _ticks(progress, f"best tree of depth {max_depth}")
    if _small(costs, min(LARGEST, DEPTH_BYTES // (8 * max(max_depth, 1)))):
        result: tuple[Tree, float | None] = best_of_depth(costs, max_depth, ticks), None
    else:
        result = restricted_tree(costs, lambda kept, part: best_of_depth(kept, max_depth, part), 0.0, max_depth, ticks)
    return deciding.function(*result, {"max_depth": max_depth})


def optimal_price(problem: Problem, price: float, progress: Progress | None = None) -> DecisionFunction:
    """Find the tree of the least mean penalty plus `price` times leaves.

    Parameters
    ----------
    problem, progress
        As for `optimal`.
    price
        Points of mean penalty (percent) that a leaf must save to be worth it; 0 or more.

    Returns
    -------
    DecisionFunction
        As of `optimal`; ``lower_bound`` and ``gap`` are of the mean penalty plus `price` times leaves.
    """
    if isinstance(price, bool) or not 0 <= price < float("inf"):
        raise OptionError(f"price is {price}, expected 0 or more points of mean penalty per leaf")
    deciding = _Deciding(problem)
    costs = deciding.costs
    charge, ticks = float(price) * costs.weight, _ticks(progress, f"best tree at {price:g} per leaf")
    if _small(costs, LARGEST):
        result: tuple[Tree, float | None] = best_at_price(costs, charge, ticks), None
    else:
        result = restricted_tree(costs, lambda kept, part: best_at_price(kept, charge, part), charge, tick=ticks)
    return deciding.function(*result, {"price": float(price)}, charge)


def _small(costs: Costs, most: int) -> bool:
    rectangles = Rectangles.number_of(*costs.shape)
    return rectangles <= most and rectangles * sum(costs.shape) <= MOST_CUTS


class _Deciding:
    """Makes decision functions of trees over the only slice of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._part = problem.single("optimal")
        self.costs = Costs.of(self._part)

    def function(
        self, tree: Tree, bound: float | None, options: dict[str, Any], price: float = 0.0
    ) -> DecisionFunction:
        """Give the decision function; `bound` (a sum in percent) is None for a tree that is proven best."""
        cube = self._part.cube
        sizes = np.asarray(cube[SIZES[0]].values), np.asarray(cube[SIZES[1]].values)
        root, cost = to_node(tree, self.costs, sizes, self._part.methods)
        mean = (cost + price * len(tree.ends())) / self.costs.weight
        lower = mean if bound is None else min(bound / self.costs.weight, mean)
        facts = {
            "proven": bound is None,
            "gap": 100.0 * (mean - lower) / mean if mean > lower else 0.0,
            "lower_bound": lower,
        }
        return self._problem.decided(root, "optimal", options, optimal=facts)


def _whole_number(name: str, value: Any, low: int) -> int:
    if isinstance(value, bool) or int(value) != value or value < low:
        raise OptionError(f"{name} is {value}, expected a whole number from {low}")
    return int(value)


def _ticks(progress: Progress | None, what: str) -> Callable[[float], None] | None:
    return None if progress is None else lambda share: progress(share, what)
