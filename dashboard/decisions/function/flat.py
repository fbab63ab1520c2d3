"""A decision tree as arrays, level by level, so that millions of nodes build and predict fast."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.nodes import Leaf, Node, Split, Test
from dashboard.domain.arrays import BoolArray, FloatArray, Int32, IntArray

_TOP = np.iinfo(np.int64).max
_BOTTOM = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Level:
    """The nodes at one depth, with what the tests above say of each.

    Attributes
    ----------
    depth
        Levels below the root.
    codes
        As `FlatTree.codes`, of these nodes.
    low, high
        ``(nodes, attributes)`` int64: ``low < value <= high`` holds at the node; the extreme int64
        values stand for "no bound".
    """

    depth: int
    codes: Int32
    low: IntArray
    high: IntArray

    @property
    def reachable(self) -> BoolArray:
        """Whether any values lead to the node."""
        return np.asarray((self.low < self.high).all(axis=1))


@dataclass(frozen=True, eq=False)
class FlatTree:
    """A tree of splits and leaves in breadth-first order, the root first.

    Attributes
    ----------
    codes
        One per node, int32: the method at a leaf, ``-1 - s`` at split number s. Splits are numbered
        in the same order, so the children of split s follow those of split s - 1.
    attributes
        Names of the attributes that are tested.
    tested
        ``(splits, tests)`` int16: position in `attributes` of each test. A split with fewer tests
        than the widest one has tests with an infinite cut at its end.
    cuts
        ``(splits, tests)`` float64.
    widths
        ``(splits,)`` int8: number of tests of each split.
    """

    codes: Int32
    attributes: tuple[str, ...]
    tested: npt.NDArray[np.int16]
    cuts: FloatArray
    widths: npt.NDArray[np.int8]

    @classmethod
    def of_leaf(cls, method: int) -> FlatTree:
        """Give the tree of one leaf."""
        return cls.from_node(Leaf(method))

    @classmethod
    def from_node(cls, root: Node) -> FlatTree:
        """Lay a tree of `Leaf` and `Split` out as arrays."""
        codes: list[int] = []
        splits: list[Split] = []
        names: dict[str, int] = {}
        level: list[Node] = [root]
        while level:
            below: list[Node] = []
            for node in level:
                if isinstance(node, Leaf):
                    codes.append(node.method)
                else:
                    codes.append(-1 - len(splits))
                    splits.append(node)
                    below.extend(node.children)
                    for test in node.tests:
                        names.setdefault(test.attribute, len(names))
            level = below
        width = max((len(split.tests) for split in splits), default=1)
        tested = np.zeros((len(splits), width), dtype=np.int16)
        cuts = np.full((len(splits), width), math.inf)
        for number, split in enumerate(splits):
            for position, test in enumerate(split.tests):
                tested[number, position] = names[test.attribute]
                cuts[number, position] = test.cut
        widths = np.array([len(split.tests) for split in splits], dtype=np.int8)
        return cls(np.array(codes, dtype=np.int32), tuple(names), tested, cuts, widths)

    def to_node(self, parts: Mapping[int, Node] | None = None) -> Node:
        """Build the tree of `Leaf` and `Split`, from the last node up; `parts` by place instead of some leaves."""
        leaves = {int(method): Leaf(int(method)) for method in np.unique(self.codes[self.codes >= 0])}
        below: list[Node] = []
        codes = self.codes.tolist()
        tested = self.tested.tolist()
        cuts = self.cuts.tolist()
        widths = self.widths.tolist()
        # Children of the last split are the last nodes, so a list filled from the end serves as a
        # queue whose head always holds the children of the split that comes next.
        queue: list[Node] = []
        head = 0
        for place, code in zip(reversed(range(len(codes))), reversed(codes), strict=True):
            if code >= 0:
                queue.append(leaves[code] if parts is None else parts.get(place, leaves[code]))
                continue
            split = -1 - code
            count = 1 << widths[split]
            below = queue[head : head + count]
            head += count
            tests = tuple(
                Test(self.attributes[name], cut)
                for name, cut in zip(tested[split][: widths[split]], cuts[split], strict=False)
            )
            queue.append(Split(tests, tuple(reversed(below))))
        return queue[head]

    @cached_property
    def first_child(self) -> IntArray:
        """Position of each split's first child among the nodes."""
        counts = np.left_shift(1, self.widths.astype(np.int64))
        return np.asarray(1 + np.cumsum(counts) - counts, dtype=np.int64)

    @cached_property
    def limits(self) -> IntArray:
        """The cuts as whole numbers; attributes are whole, so ``<= floor(cut)`` is the same test."""
        floor = np.floor(self.cuts)
        top = floor >= 2.0**63
        bottom = floor < -(2.0**63)
        limits = np.where(top | bottom, 0.0, floor).astype(np.int64)
        return np.where(top, _TOP, np.where(bottom, _BOTTOM, limits))

    @cached_property
    def level_starts(self) -> tuple[int, ...]:
        """Position of the first node of each level, and the number of nodes at the end."""
        starts = [0, 1]
        while starts[-1] < self.codes.size:
            codes = self.codes[starts[-2] : starts[-1]]
            splits = -1 - codes[codes < 0]
            starts.append(starts[-1] + int(np.left_shift(1, self.widths[splits].astype(np.int64)).sum()))
        return tuple(starts)

    @property
    def depth(self) -> int:
        """Levels below the root."""
        return len(self.level_starts) - 2

    @cached_property
    def node_depths(self) -> npt.NDArray[np.int16]:
        """Depth of every node."""
        return np.repeat(np.arange(self.depth + 1, dtype=np.int16), np.diff(self.level_starts))

    @cached_property
    def nested(self) -> Any:
        """As nested tuples (attribute position, whole cut, if true, if false), leaves as int: to decide one call."""
        tested, limits = self.tested.tolist(), self.limits.tolist()
        widths, first = self.widths.tolist(), self.first_child.tolist()
        built: list[Any] = self.codes.tolist()
        for place in range(len(built) - 1, -1, -1):
            split = -1 - built[place]
            if split < 0:
                continue
            outcomes = built[first[split] : first[split] + (1 << widths[split])]
            for position in range(widths[split]):
                test = (tested[split][position], limits[split][position])
                outcomes = [(*test, yes, no) for yes, no in zip(outcomes[::2], outcomes[1::2], strict=True)]
            built[place] = outcomes[0]
        return built[0]

    def levels(self, lowest: Sequence[int] | None = None, highest: Sequence[int] | None = None) -> Iterator[Level]:
        """Go down the tree with the bounds that the tests set on each attribute.

        Parameters
        ----------
        lowest, highest
            For each of `attributes`, bounds that hold at the root (exclusive, inclusive).
        """
        count = len(self.attributes)
        low = np.full((1, count), _BOTTOM) if lowest is None else np.array([lowest], dtype=np.int64)
        high = np.full((1, count), _TOP) if highest is None else np.array([highest], dtype=np.int64)
        for depth in range(self.depth + 1):
            codes = self.codes[self.level_starts[depth] : self.level_starts[depth + 1]]
            yield Level(depth, codes, low, high)
            inner = codes < 0
            low, high = self._below(-1 - codes[inner], low[inner], high[inner])

    def _below(self, splits: Int32, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
        """Bounds of the children of `splits`, in the order of the nodes."""
        counts = np.left_shift(1, self.widths[splits].astype(np.int64))
        parents = np.repeat(np.arange(splits.size), counts)
        child = np.arange(parents.size) - np.repeat(np.cumsum(counts) - counts, counts)
        low, high = low[parents], high[parents]
        rows = np.arange(parents.size)
        for position in range(self.cuts.shape[1]):
            column = self.tested[splits, position][parents]
            limit = self.limits[splits, position][parents]
            above = (child >> position) & 1 == 1
            low[rows, column] = np.where(above, np.maximum(low[rows, column], limit), low[rows, column])
            high[rows, column] = np.where(above, high[rows, column], np.minimum(high[rows, column], limit))
        return low, high

    def walk(self, values: Sequence[IntArray]) -> IntArray:
        """Find the leaf (its position among the nodes) for each call.

        Parameters
        ----------
        values
            For each of `attributes` an int64 vector, all of one length.

        Returns
        -------
        int64 vector of that length
        """
        if not self.attributes:
            raise ValueError("a tree of one leaf has nothing to walk")
        table = np.stack(values)
        node = np.zeros(table.shape[1], dtype=np.int64)
        active = np.arange(table.shape[1]) if self.codes[0] < 0 else np.empty(0, dtype=np.int64)
        while active.size:
            split = -1 - self.codes[node[active]]
            step = self.first_child[split]
            for position in range(self.cuts.shape[1]):
                value = table[self.tested[split, position], active]
                step = step + ((value > self.limits[split, position]).astype(np.int64) << position)
            node[active] = step
            active = active[self.codes[step] < 0]
        return node
