"""Trees that may ask whether the communicator size is a power of two, or even: of rows in another order.

Rows are laid out by the attribute first, then by size. A cut between the two parts is then a test of the attribute,
and the search over rectangles finds such trees as it finds others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.nodes import Leaf, Node, Split, Test
from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.tree import Tree
from dashboard.decisions.surfaces.lines import ALIKE, kind_of
from dashboard.domain.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Order:
    """Rows and columns of a grid of sizes."""

    #: What the rows are laid out by, of `surfaces.lines.KINDS`.
    kind: str
    #: For each row its place among the communicator sizes, ascending.
    places: IntArray
    #: The sizes of rows and columns.
    comm_sizes: IntArray
    message_sizes: IntArray
    #: First row of which the attribute holds; 0 where rows ascend.
    boundary: int

    @classmethod
    def of(cls, kind: str, comm_sizes: IntArray, message_sizes: IntArray) -> Order | None:
        """Lay rows out; None where the attribute is the same of all."""
        kinds = kind_of(comm_sizes, kind)
        places = np.lexsort((comm_sizes, kinds))
        boundary = int((kinds == 0).sum()) if kind != ALIKE else 0
        if kind != ALIKE and boundary in (0, comm_sizes.size):
            return None
        return cls(kind, places, comm_sizes[places], message_sizes, boundary)

    def node(self, tree: Tree, costs: Costs, methods: IntArray) -> Node:
        """Put tests and methods into a tree over the cells of `costs`.

        A cut of rows of one kind beside all of the other is two tests, so there may be more leaves than `tree` has.
        """
        return self._node(tree, costs, methods, 0, self.comm_sizes.size)

    def _node(self, tree: Tree, costs: Costs, methods: IntArray, low: int, high: int) -> Node:
        """The part of a tree over the rows from `low` to before `high`."""
        top, left, height, width = tree.spot
        first, last = max(top, low), min(top + height, high)
        if not tree.sides:
            return Leaf(int(methods[costs.cost((first, left, last - first, width))[1]]))
        below, above = tree.sides
        if below.spot[2] == height:
            cut = kind_number(int(self.message_sizes[above.spot[1] - 1]), int(self.message_sizes[above.spot[1]]))
            sides = tuple(self._node(side, costs, methods, low, high) for side in tree.sides)
            return Split((Test(MESSAGE_SIZE, cut),), sides)
        at = above.spot[0]
        if not first < at < last:
            return self._node(below if at >= last else above, costs, methods, low, high)
        if first < self.boundary < last:
            # Where the cut is inside of one kind, the other one lies on one side of it as a whole.
            sides = (
                self._node(tree, costs, methods, low, self.boundary),
                self._node(tree, costs, methods, self.boundary, high),
            )
            return Split((Test(self.kind, 0.0),), sides)
        cut = kind_number(int(self.comm_sizes[at - 1]), int(self.comm_sizes[at]))
        sides = tuple(self._node(side, costs, methods, low, high) for side in tree.sides)
        return Split((Test(COMM_SIZE, cut),), sides)


def kind_number(last: int, following: int) -> float:
    """Of the whole numbers from `last` to before `following` the one that the greatest power of two divides."""
    if last <= 0:
        return float(last)
    power = 1 << (following - 1).bit_length()
    while power:
        multiple = -(-last // power) * power
        if multiple < following:
            return float(multiple)
        power >>= 1
    return float(last)
