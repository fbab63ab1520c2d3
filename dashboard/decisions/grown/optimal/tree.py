"""From what a search found to a tree of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.nodes import Leaf, Node, Split, Test
from dashboard.decisions.grown.optimal.costs import Costs

Spot = tuple[int, int, int, int]
State = TypeVar("State")
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree over the rectangles of a grid."""

    #: ``(top, left, height, width)``.
    spot: Spot
    #: The two trees of a split, that of smaller sizes first; none for a leaf.
    sides: tuple[Tree, ...] = ()

    def nodes(self) -> Iterator[Tree]:
        """Go through the tree and all below it, each before its sides, however deep it is."""
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            waiting.extend(tree.sides[::-1])
            yield tree

    def ends(self) -> list[Spot]:
        """Give the rectangles of the leaves."""
        return [tree.spot for tree in self.nodes() if not tree.sides]

    def folded(self, made: Callable[[Tree, tuple[Made, ...]], Made]) -> Made:
        """Make something of each tree and of what was made of its sides, the last leaf first."""
        built: list[Made] = []
        for tree in reversed([*self.nodes()]):
            below = tuple(built.pop() for _ in tree.sides)
            built.append(made(tree, below))
        return built[0]

    def spread(self, row_starts: npt.NDArray[np.int64], column_starts: npt.NDArray[np.int64]) -> Tree:
        """The same tree over the cells of a finer grid, of which this one's cells are blocks.

        Both are the first row (column) of each block and, at last, the number of rows (columns).
        """

        def spread(spot: Spot) -> Spot:
            (top, down), (left, right) = (
                (int(starts[spot[axis]]), int(starts[spot[axis] + spot[2 + axis]]))
                for axis, starts in enumerate((row_starts, column_starts))
            )
            return top, left, down - top, right - left

        return self.folded(lambda tree, sides: Tree(spread(tree.spot), sides))


def grown(root: State, sides: Callable[[State], tuple[State, ...]], spot: Callable[[State], Spot]) -> Tree:
    """Build a tree from the root down by what `sides` gives for each state (nothing for a leaf)."""
    order: list[tuple[Spot, int]] = []
    waiting = [root]
    while waiting:
        state = waiting.pop()
        below = sides(state)
        order.append((spot(state), len(below)))
        waiting.extend(below[::-1])
    built: list[Tree] = []
    for place, count in reversed(order):
        below_it = tuple(built.pop() for _ in range(count))
        built.append(Tree(place, below_it))
    return built[0]


def to_node(tree: Tree, costs: Costs, sizes: tuple[Any, Any], methods: npt.NDArray[np.int64]) -> tuple[Node, float]:
    """Put tests and methods into a tree.

    Parameters
    ----------
    tree
        Over the cells of `costs`.
    costs
        What methods cost; each leaf gets the first one of the least sum.
    sizes
        Communicator sizes and message sizes of the grid.
    methods
        For each method of `costs` its index in the decision function.

    Returns
    -------
    node
        A cut is at the last size of its lower side.
    cost
        Sum over the leaves.
    """
    costs_of_leaves: list[float] = []

    def made(rectangle: Tree, below: tuple[Node, ...]) -> Node:
        if not below:
            cost, method = costs.cost(rectangle.spot)
            costs_of_leaves.append(cost)
            return Leaf(int(methods[method]))
        axis = 0 if rectangle.sides[0].spot[2] < rectangle.spot[2] else 1
        last = rectangle.sides[1].spot[axis] - 1
        return Split((Test(SIZES[axis], float(sizes[axis][last])),), below)

    return tree.folded(made), sum(costs_of_leaves)
