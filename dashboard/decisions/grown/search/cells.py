"""What a search looks at: cells as ranks of their attributes, what each method loses there, and trees over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dashboard.decisions.function.nodes import Leaf, Node, Split, Test
from dashboard.decisions.measured.cases import Cases
from dashboard.decisions.measured.losses import counted, losses
from dashboard.domain.arrays import FloatArray, IntArray

Tree = int | tuple[int, int, "Tree", "Tree"]
"""A method (as number of a column of the table), or attribute, last rank where the test holds, and both sides."""

_ROUNDING = 1e-12
"""Share of the largest sum that rounding may make of sums and their differences."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells to decide on, those that no attribute tells apart taken together."""

    #: Names of what may be tested.
    attributes: tuple[str, ...]
    #: For each the values that occur.
    distinct: tuple[IntArray, ...]
    #: ``(cell, attribute)`` positions among these.
    ranks: IntArray
    #: ``(cell, column)`` what is lost, as `losses` has it; without methods that lose nowhere less than some other one.
    table: FloatArray
    #: ``(column,)`` index of the method.
    methods: IntArray
    #: What an unmeasured cell loses.
    unmeasured: float
    #: Sum of the weights of all cells.
    weight: float

    @classmethod
    def of(cls, cases: Cases) -> Cells:
        """Prepare training cases."""
        kept = counted(cases)
        table, unmeasured = losses(cases)
        ranked = [np.unique(column, return_inverse=True) for column in cases.values[kept].T]
        ranks = np.stack([place for _, place in ranked], axis=1).astype(np.int64)
        ranks, same = np.unique(ranks, axis=0, return_inverse=True)
        joined = np.zeros((len(ranks), table.shape[1]))
        np.add.at(joined, same.ravel(), table[kept])
        methods = _useful(joined)
        return cls(
            cases.attributes,
            tuple(values for values, _ in ranked),
            ranks,
            np.ascontiguousarray(joined[:, methods]),
            methods,
            unmeasured,
            float(cases.weights[kept].sum()),
        )

    @cached_property
    def tolerance(self) -> float:
        """Losses that differ by less are equal."""
        return _ROUNDING * float(self.table.sum(axis=0).max())

    def capped(self, lost: float) -> Cells:
        """The same for trees that lose less than `lost` in all.

        They lose less in each cell as well, so there is no need to know how much more others do; and sums
        stay small enough to be exact where some method is slower than the others by orders of magnitude.
        """
        return replace(self, table=np.minimum(self.table, lost))

    @property
    def all(self) -> IntArray:
        """Every cell."""
        return np.arange(len(self.ranks), dtype=np.int64)

    @property
    def sums(self) -> int:
        """Size of the largest table that `dashboard.decisions.grown.search.kernel` makes."""
        return _sums([values.size for values in self.distinct]) * len(self.methods)

    def coarse(self, most: int) -> Cells:
        """Leave out cuts until there are at most so many `sums`; the same cells where nothing needs to be."""
        distinct, divisors = list(self.distinct), [1] * len(self.distinct)
        while _sums([values.size for values in distinct]) * len(self.methods) > max(most, len(self.methods)):
            most_values = int(np.argmax([values.size for values in distinct]))
            # Bins of two: their cuts are those after every second value.
            distinct[most_values] = np.append(distinct[most_values][1:-1:2], distinct[most_values][-1])
            divisors[most_values] *= 2
        if max(divisors) == 1:
            return self
        ranks, same = np.unique(self.ranks // np.array(divisors), axis=0, return_inverse=True)
        table = np.zeros((len(ranks), self.table.shape[1]))
        np.add.at(table, same.ravel(), self.table)
        return replace(self, distinct=tuple(distinct), ranks=ranks, table=table)

    def sides(self, cells: IntArray, attribute: int, rank: int) -> tuple[IntArray, IntArray]:
        """Divide cells by a test."""
        holds = self.ranks[cells, attribute] <= rank
        return cells[holds], cells[~holds]

    def leaf(self, cells: IntArray) -> tuple[float, int]:
        """What the best leaf loses, and its method's column."""
        totals = self.table[cells].sum(axis=0)
        column = int(totals.argmin())
        return float(totals[column]), column

    def lost(self, tree: Tree, cells: IntArray) -> float:
        """What a tree loses on these cells."""
        if isinstance(tree, int):
            return float(self.table[cells, tree].sum())
        attribute, rank, yes, no = tree
        holds, others = self.sides(cells, attribute, rank)
        return self.lost(yes, holds) + self.lost(no, others)

    def ranked(self, node: Node, cells: IntArray) -> Tree:
        """A decision's tree over ranks, its leaves labelled anew and splits that divide nothing left out."""
        if isinstance(node, Leaf) or not cells.size:
            return self.leaf(cells)[1] if cells.size else 0
        attribute = self.attributes.index(node.tests[0].attribute)
        rank = int(np.searchsorted(self.distinct[attribute], node.tests[0].cut, side="right")) - 1
        holds, others = self.sides(cells, attribute, rank)
        if not (holds.size and others.size):
            return self.ranked(node.children[0 if holds.size else 1], cells)
        return attribute, rank, self.ranked(node.children[0], holds), self.ranked(node.children[1], others)

    def node(self, tree: Tree) -> Node:
        """Build the tree of `Leaf` and `Split`, one leaf where both sides decide alike."""
        if isinstance(tree, int):
            return Leaf(int(self.methods[tree]))
        attribute, rank, yes, no = tree
        below, above = self.node(yes), self.node(no)
        if below == above and isinstance(below, Leaf):
            return below
        return Split((Test(self.attributes[attribute], float(self.distinct[attribute][rank])),), (below, above))


def _sums(sizes: list[int]) -> int:
    """Pairs of values that the attribute with the most of them has with all the others."""
    return max(size * max(sum(sizes) - size, 1) for size in sizes)


def leaves_of(tree: Tree) -> int:
    """Number of leaves."""
    return 1 if isinstance(tree, int) else leaves_of(tree[2]) + leaves_of(tree[3])


def places_of(tree: Tree, depth: int = 0, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every node from the root down: the way to it (0 = where the test holds, 1 = the other side), and its depth."""
    yield path, depth
    if not isinstance(tree, int):
        yield from places_of(tree[2], depth + 1, (*path, 0))
        yield from places_of(tree[3], depth + 1, (*path, 1))


def _useful(table: FloatArray) -> IntArray:
    """Columns of which no other one is as good everywhere (of equal ones the first)."""
    kept: list[int] = []
    for column in range(table.shape[1]):
        own = table[:, column]
        others = (table <= own[:, None]).all(axis=0)
        equal = (table == own[:, None]).all(axis=0)
        if not (others & (~equal | (np.arange(table.shape[1]) < column))).any():
            kept.append(column)
    return np.array(kept, dtype=np.int64)
