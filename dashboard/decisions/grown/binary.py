"""Binary trees over training cases: grown by a learner, pruned by what leaves lose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dashboard.decisions.function.flat import FlatTree
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray

_ROUNDING = 1e-12
"""Sums that differ by less than this share are equal."""


@dataclass(frozen=True, eq=False)
class BinaryTree:
    """A tree of splits into two, as arrays over its nodes; node 0 is the root."""

    #: The child where the test holds and the other one; -1 at leaves.
    yes: IntArray
    no: IntArray
    #: Position of the tested attribute.
    tested: IntArray
    #: The test is ``attribute <= cut``.
    cuts: IntArray
    #: The method of each node as a leaf.
    methods: IntArray

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The nodes of each level, the root's first; siblings stand together."""
        levels = [np.zeros(1, dtype=np.int64)]
        while True:
            above = levels[-1][self.yes[levels[-1]] >= 0]
            if not above.size:
                return tuple(levels)
            levels.append(np.stack([self.yes[above], self.no[above]], axis=1).ravel())

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return 1 + sum(level.size for level in self.levels[1:]) // 2

    def sums(self, leaf: IntArray, table: FloatArray) -> FloatArray:
        """Sum the rows of `table` up at the nodes that they pass.

        Parameters
        ----------
        leaf
            ``(case,)`` the leaf that each case ends at.
        table
            ``(case, method)``.

        Returns
        -------
        float64 ``(node, method)``
        """
        order = np.argsort(leaf, kind="stable")
        ends, starts = np.unique(leaf[order], return_index=True)
        totals = np.zeros((self.yes.size, table.shape[1]))
        totals[ends] = np.add.reduceat(table[order], starts, axis=0)
        for level in reversed(self.levels):
            inner = level[self.yes[level] >= 0]
            totals[inner] = totals[self.yes[inner]] + totals[self.no[inner]]
        return totals

    def cut_back(self, leaf: BoolArray) -> BinaryTree:
        """Give the same nodes, those of `leaf` without branches."""
        yes, no = np.where(leaf, -1, self.yes), np.where(leaf, -1, self.no)
        return BinaryTree(yes, no, self.tested, self.cuts, self.methods)

    def flat(self, attributes: tuple[str, ...]) -> FlatTree:
        """Lay the tree out as decision functions have it; `attributes` names the positions in `tested`."""
        nodes = np.concatenate(self.levels)
        inner = self.yes[nodes] >= 0
        splits = nodes[inner]
        if not splits.size:
            return FlatTree.of_leaf(int(self.methods[0]))
        used, first, position = np.unique(self.tested[splits], return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        codes = self.methods[nodes].astype(np.int32)
        codes[inner] = -1 - np.arange(splits.size)
        return FlatTree(
            codes,
            tuple(attributes[number] for number in used[order]),
            place[position][:, None].astype(np.int16),
            self.cuts[splits][:, None].astype(np.float64),
            np.ones(splits.size, dtype=np.int8),
        )


class Pruning:
    """Cuts off what does not pay of a tree.

    Parameters
    ----------
    losses
        ``(node,)`` what each node loses as a leaf.

    Notes
    -----
    Without a limit of leaves this is minimal cost-complexity pruning (Breiman, Friedman, Olshen, Stone:
    *Classification and Regression Trees*, 1984, chapter 3); with one, the best pruned tree of each number
    of leaves (Bohanec, Bratko: *Trading accuracy for simplicity in decision trees*, Machine Learning 15,
    1994), which does not have to be one of the nested ones.
    """

    def __init__(self, tree: BinaryTree, losses: FloatArray) -> None:
        self._losses = losses
        self._tree = tree
        self._tree = self.worthwhile(0.0)
        self._sizes: _Sizes | None = None

    def best(self, worth: float, max_leaves: int | None) -> tuple[float, BinaryTree]:
        """Find the pruned tree with the least sum of its leaves' losses and `worth` for each leaf.

        Returns
        -------
        score
            The sum.
        tree
            Of equally good ones the smallest found; of at most `max_leaves` leaves (None = no limit).
        """
        tree = self.worthwhile(worth) if worth else self._tree
        if max_leaves is not None and tree.leaves > max_leaves:
            tree = self._tree.cut_back(self._sized(max_leaves).leaves(worth, max_leaves))
        nodes = np.concatenate(tree.levels)
        ends = nodes[tree.yes[nodes] < 0]
        return float(self._losses[ends].sum()) + worth * ends.size, tree

    def worthwhile(self, worth: float) -> BinaryTree:
        """Prune without a limit of leaves."""
        best = self._losses + worth
        leaf = np.ones(best.size, dtype=np.bool_)
        for level in reversed(self._tree.levels):
            inner = level[self._tree.yes[level] >= 0]
            below = best[self._tree.yes[inner]] + best[self._tree.no[inner]]
            better = below < best[inner] - _ROUNDING * np.abs(best[inner])
            leaf[inner] = ~better
            best[inner] = np.where(better, below, best[inner])
        return self._tree.cut_back(leaf)

    def _sized(self, most: int) -> _Sizes:
        if self._sizes is None or self._sizes.most < most:
            # Twice what is asked for, so that a rising sequence of questions is not a sequence of searches.
            self._sizes = _Sizes(self._tree, self._losses, 2 * most)
        return self._sizes


class _Sizes:
    """The least losses of a tree pruned to each number of leaves."""

    def __init__(self, tree: BinaryTree, losses: FloatArray, most: int) -> None:
        self.most = most
        self._tree = tree
        self._best: dict[int, FloatArray] = {}
        self._left: dict[int, IntArray] = {}
        for level in reversed(tree.levels):
            for node in level.tolist():
                self._join(node, float(losses[node]), most)

    def _join(self, node: int, loss: float, most: int) -> None:
        """For 1, 2, … leaves below a node the least losses, and how many of the leaves are on the first side."""
        yes = int(self._tree.yes[node])
        if yes < 0:
            self._best[node] = np.array([loss])
            return
        first, second = self._best.pop(yes), self._best.pop(int(self._tree.no[node]))
        best = np.full(min(first.size + second.size, most), np.inf)
        left = np.zeros(best.size, dtype=np.int64)
        best[0] = loss
        short, long = (first, second) if first.size <= second.size else (second, first)
        for count, fixed in enumerate(short[: best.size - 1].tolist(), start=1):
            totals = fixed + long[: best.size - count]
            span = slice(count, count + totals.size)
            better = totals < best[span]
            best[span][better] = totals[better]
            share = count if short is first else np.arange(1, totals.size + 1)
            left[span] = np.where(better, share, left[span])
        self._best[node], self._left[node] = best, left

    def leaves(self, worth: float, most: int) -> BoolArray:
        """Which nodes become leaves of the best pruned tree when each leaf costs `worth`."""
        losses = self._best[0][:most]
        scored = losses + worth * np.arange(1, losses.size + 1)
        least = scored.min()
        waiting = [(0, 1 + int(np.argmax(scored <= least + _ROUNDING * abs(least))))]
        leaf = np.ones(self._tree.yes.size, dtype=np.bool_)
        while waiting:
            node, count = waiting.pop()
            if count > 1:
                leaf[node] = False
                left = int(self._left[node][count - 1])
                waiting += [(int(self._tree.yes[node]), left), (int(self._tree.no[node]), count - left)]
        return leaf
