"""A tree of the two sizes as a table over its cuts: one look-up decides, however deep the tree."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

import numpy as np

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, SIZES
from dashboard.decisions.function.bounds import bounded_levels
from dashboard.decisions.function.flat import FlatTree
from dashboard.domain.arrays import Int32, IntArray

MOST_CELLS = 1 << 24
"""Larger tables would cost more memory than walking the tree costs time."""


class SizeTable:
    """Which leaf each rectangle between neighbouring cuts leads to.

    Parameters
    ----------
    tree
        A tree that tests no other attributes than the two sizes.
    comm_cuts, message_cuts
        All whole cuts of the tree, ascending and different.
    """

    def __init__(self, tree: FlatTree, comm_cuts: IntArray, message_cuts: IntArray) -> None:
        self._codes = tree.codes
        self._cuts = (comm_cuts, message_cuts)
        self._comm: list[int] = comm_cuts.tolist()
        self._message: list[int] = message_cuts.tolist()
        self._width = message_cuts.size + 1
        self._nodes = _paint(tree, self._cuts)

    @classmethod
    def of(cls, tree: FlatTree) -> SizeTable | None:
        """Tabulate `tree`; None when it tests other attributes or the table would be too large."""
        if not set(tree.attributes) <= set(SIZES):
            return None
        cuts = [tree.cuts_on(name) for name in SIZES]
        if (cuts[0].size + 1) * (cuts[1].size + 1) > MOST_CELLS:
            return None
        return cls(tree, cuts[0], cuts[1])

    def leaves(self, comm_size: IntArray, message_size: IntArray) -> IntArray:
        """Give the leaf (position among the nodes) for arrays of sizes that broadcast together."""
        rows = np.searchsorted(self._cuts[0], comm_size)
        columns = np.searchsorted(self._cuts[1], message_size)
        return np.asarray(self._nodes[rows, columns], dtype=np.int64)

    def method(self, comm_size: int, message_size: int) -> int:
        """Give the method for one call."""
        return self._methods[
            bisect_left(self._comm, comm_size) * self._width + bisect_left(self._message, message_size)
        ]

    @cached_property
    def _methods(self) -> memoryview[int]:
        # A memoryview gives plain ints about twice as fast as an array gives its scalars.
        return np.ascontiguousarray(self._codes[self._nodes].ravel()).data.cast("B").cast("i")


def _paint(tree: FlatTree, cuts: tuple[IntArray, IntArray]) -> Int32:
    """Write each leaf's position among the nodes into the rectangle of the table that it covers."""
    table = np.zeros((cuts[0].size + 1, cuts[1].size + 1), dtype=np.int32)
    for level in bounded_levels(tree):
        kept = np.flatnonzero((level.codes >= 0) & level.reachable)
        nodes = (tree.level_starts[level.depth] + kept).astype(np.int32)
        starts, spans = [], []
        for name, ticks in zip((COMM_SIZE, MESSAGE_SIZE), cuts, strict=True):
            if name not in tree.attributes:
                starts.append(np.zeros(kept.size, dtype=np.int64))
                spans.append(np.ones(kept.size, dtype=np.int64))
                continue
            column = tree.attributes.index(name)
            start = np.searchsorted(ticks, level.low[kept, column], side="right")
            starts.append(start)
            spans.append(np.searchsorted(ticks, level.high[kept, column], side="left") + 1 - start)
        _paint_rectangles(table, nodes, starts, spans)
    return table


def _paint_rectangles(table: Int32, nodes: Int32, starts: list[IntArray], spans: list[IntArray]) -> None:
    """Paint rectangles of one shape together: a quadtree has few shapes but may have millions of leaves."""
    shapes = spans[0] * (table.shape[1] + 1) + spans[1]
    order = np.argsort(shapes, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(shapes[order])) + 1) if order.size else []:
        height, width = int(spans[0][group[0]]), int(spans[1][group[0]])
        rows = starts[0][group][:, None, None] + np.arange(height)[:, None]
        columns = starts[1][group][:, None, None] + np.arange(width)
        table[rows, columns] = nodes[group][:, None, None]
