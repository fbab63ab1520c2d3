"""A decision tree as arrays, level by level, so that millions of nodes build and predict fast."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.nodes import Leaf, Node, Split, Test
from dashboard.domain.arrays import BoolArray, FloatArray, Int32, IntArray

T = TypeVar("T")

_TOP = np.iinfo(np.int64).max
_BOTTOM = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Level:
    """The nodes at one depth, with what the tests above say of each."""

    #: Levels below the root.
    depth: int
    #: As `FlatTree.codes`, of these nodes.
    codes: Int32
    #: ``(nodes, attributes)`` int64: ``low < value <= high`` holds at the node; the extreme int64 values stand for "no
    #: bound".
    low: IntArray
    high: IntArray

    @property
    def reachable(self) -> BoolArray:
        """Whether any values lead to the node."""
        return np.asarray((self.low < self.high).all(axis=1))


@dataclass(frozen=True, eq=False)
class FlatTree:
    """A tree of splits and leaves in breadth-first order, the root first."""

    #: One per node, int32: the method at a leaf, ``-1 - s`` at split number s. Splits are numbered in the same order,
    #: so the children of split s follow those of split s - 1.
    codes: Int32
    #: Names of the attributes that are tested.
    attributes: tuple[str, ...]
    #: ``(splits, tests)`` int16: position in `attributes` of each test. A split with fewer tests than the widest one
    #: has tests with an infinite cut at its end.
    tested: npt.NDArray[np.int16]
    #: ``(splits, tests)`` float64.
    cuts: FloatArray
    #: ``(splits,)`` int8: number of tests of each split.
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
        """Build the tree of `Leaf` and `Split`; `parts` by place instead of some leaves."""
        leaves = {int(method): Leaf(int(method)) for method in np.unique(self.codes[self.codes >= 0])}
        names, instead = self.attributes, parts or {}
        return self.folded(
            lambda place, method: instead.get(place, leaves[method]),
            lambda _, tests, below: Split(tuple([Test(names[at], cut) for at, cut in tests]), tuple(below)),
            self.cuts,
        )

    def folded(
        self,
        leaf: Callable[[int, int], T],
        split: Callable[[int, list[tuple[int, Any]], list[T]], T],
        cuts: npt.NDArray[Any] | None = None,
    ) -> T:
        """Make something of the tree, from the last node up to the root, so that depth does not matter.

        Parameters
        ----------
        leaf
            Makes it of a leaf: place among the nodes, and method.
        split
            Makes it of a split: place among the nodes, tests as positions of their attributes and cuts, and what was
            made of the children.
        cuts
            What tests have: by itself `limits`, the cuts as whole numbers.
        """
        tested, widths, first = self.tested.tolist(), self.widths.tolist(), self.first_child.tolist()
        limits = (self.limits if cuts is None else cuts).tolist()
        built: list[Any] = self.codes.tolist()
        for place in range(len(built) - 1, -1, -1):
            number = -1 - built[place]
            if number < 0:
                built[place] = leaf(place, built[place])
            else:
                tests = list(zip(tested[number], limits[number], strict=True))[: widths[number]]
                built[place] = split(place, tests, built[first[number] : first[number] + (1 << widths[number])])
        made: T = built[0]
        return made

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

    def cuts_on(self, name: str) -> IntArray:
        """All different whole cuts on one attribute, ascending, but those that are always true or always false."""
        if name not in self.attributes:
            return np.empty(0, dtype=np.int64)
        cuts = np.unique(self.limits[self.tested == self.attributes.index(name)])
        return cuts[(cuts > _BOTTOM) & (cuts < _TOP)]

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

        def chosen(_: int, tests: list[tuple[int, Any]], outcomes: list[Any]) -> Any:
            for test in tests:
                outcomes = [(*test, yes, no) for yes, no in zip(outcomes[::2], outcomes[1::2], strict=True)]
            return outcomes[0]

        return self.folded(lambda _, method: method, chosen)

    def levels(self, lowest: Sequence[int], highest: Sequence[int]) -> Iterator[Level]:
        """Go down the tree with the bounds that the tests set on each attribute.

        Parameters
        ----------
        lowest, highest
            For each of `attributes`, bounds that hold at the root (exclusive, inclusive).
        """
        low, high = np.array([lowest], dtype=np.int64), np.array([highest], dtype=np.int64)
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

    def walk(self, values: npt.ArrayLike) -> IntArray:
        """Find the leaf (its position among the nodes) for each call.

        Parameters
        ----------
        values
            int64 ``(attribute, call)``: those of `attributes` first.

        Returns
        -------
        int64 ``(call,)``
        """
        table = np.asarray(values)
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
