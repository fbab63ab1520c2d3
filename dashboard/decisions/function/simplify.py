"""Trees of the same decisions with fewer tests, each test by itself."""

from collections.abc import Sequence

import numpy as np

from dashboard.decisions.function.attributes import attribute
from dashboard.decisions.function.bounds import bounded_levels
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import Leaf, Node, Split, Test

NOWHERE = -1
"""Stands for the tree of a place that no call reaches."""

REORDERED_TESTS = 3
"""Splits of up to so many tests are tried with each of them first; k tests have k! orders."""


def simplify(tree: FlatTree) -> Node:
    """Give an equivalent tree of binary splits.

    Every split of several tests becomes splits of one, in the order that gives fewer leaves. Tests
    that are decided by those above them or by what the attribute can be are left out, so are splits
    whose two sides decide alike: equal sides, and a side that the other one already contains. What no
    call reaches is left out first, also where only derived attributes tell so (`dashboard.decisions.function.reach`).

    Notes
    -----
    Works from the last node up to the root, so that a side is as simple as it gets before it is
    compared. Cuts become whole numbers, which for whole attributes is the same test.
    """
    pool = _Pool(tree.attributes)
    reached = np.concatenate([level.reachable for level in bounded_levels(tree)]).tolist()
    root = tree.folded(
        lambda place, method: pool.leaf(method) if reached[place] else NOWHERE,
        lambda place, tests, children: pool.ordered(tests, children) if reached[place] else NOWHERE,
    )
    return pool.node(root)


class _Pool:
    """Binary trees in which equal subtrees are one, so that comparing two is comparing two numbers.

    A tree is an index. For each: what it is (the method of a leaf, or test and sides), its number of leaves, and for
    each attribute the least and greatest cut in it.
    """

    def __init__(self, attributes: Sequence[str]) -> None:
        self._names = attributes
        ends = np.iinfo(np.int64)
        known = [attribute(name) for name in attributes]
        self._minimum, self._maximum = [each.minimum for each in known], [each.maximum for each in known]
        self._no_cuts = ((ends.max, ends.min),) * len(known)
        self._index: dict[tuple[int, ...], int] = {}
        self._trees: list[tuple[int, ...]] = []
        self._leaves: list[int] = []
        self._cuts: list[tuple[tuple[int, int], ...]] = []

    def leaf(self, method: int) -> int:
        """Give the tree that is one leaf."""
        number = self._index.get((method,))
        return self._add((method,), 1, self._no_cuts) if number is None else number

    def ordered(self, tests: list[tuple[int, int]], children: list[int]) -> int:
        """Give the tree for tests made together, trying which to make first."""
        if not tests:
            return children[0]
        if set(children) == {NOWHERE}:
            return NOWHERE
        best = -1
        for position in range(len(tests) if len(tests) <= REORDERED_TESTS else 1):
            others = tests[:position] + tests[position + 1 :]
            yes = [child for place, child in enumerate(children) if not place >> position & 1]
            no = [child for place, child in enumerate(children) if place >> position & 1]
            tried = self.split(*tests[position], self.ordered(others, yes), self.ordered(others, no))
            if best < 0 or self._leaves[tried] < self._leaves[best]:
                best = tried
        return best

    def split(self, name: int, cut: int, yes: int, no: int) -> int:
        """Give the simplest tree found that is `yes` where ``attribute <= cut``, else `no`."""
        if cut >= self._maximum[name]:
            return yes
        if cut < self._minimum[name]:
            return no
        if NOWHERE in (yes, no):
            return yes if no == NOWHERE else no
        yes = self._restricted(yes, name, cut, above=False)
        no = self._restricted(no, name, cut, above=True)
        if self._leaves[yes] <= self._leaves[no] and self._restricted(no, name, cut, above=False) == yes:
            return no
        if self._leaves[no] <= self._leaves[yes] and self._restricted(yes, name, cut, above=True) == no:
            return yes
        return self._joined(name, cut, yes, no)

    def node(self, root: int) -> Node:
        """Build a tree of `Leaf` and `Split`; equal subtrees are the same object."""
        built: dict[int, Node] = {}
        wanted = {root}
        for index in range(root, -1, -1):  # sides have smaller indices than what they are sides of
            if index in wanted:
                wanted.update(self._trees[index][2:])
        for index in sorted(wanted):
            first, *others = self._trees[index]
            if not others:
                built[index] = Leaf(first)
            else:
                cut, yes, no = others
                built[index] = Split((Test(self._names[first], float(cut)),), (built[yes], built[no]))
        return built[root]

    def _joined(self, name: int, cut: int, yes: int, no: int) -> int:
        if yes == no:
            return yes
        key = (name, cut, yes, no)
        number = self._index.get(key)
        if number is not None:
            return number
        cuts = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(self._cuts[yes], self._cuts[no], strict=True)]
        cuts[name] = (min(cuts[name][0], cut), max(cuts[name][1], cut))
        return self._add(key, self._leaves[yes] + self._leaves[no], tuple(cuts))

    def _add(self, tree: tuple[int, ...], leaves: int, cuts: tuple[tuple[int, int], ...]) -> int:
        self._index[tree] = number = len(self._trees)
        self._trees.append(tree)
        self._leaves.append(leaves)
        self._cuts.append(cuts)
        return number

    def _restricted(self, root: int, name: int, cut: int, *, above: bool) -> int:
        """Leave out the tests that are decided where ``attribute > cut`` (`above`) or ``<= cut``.

        Goes by a list of what is open instead of calling itself: trees may be deeper than Python's stack.
        """
        done: dict[int, int] = {}
        waiting = [root]
        while waiting:
            index = waiting[-1]
            least, greatest = self._cuts[index][name]
            tree = self._trees[index]
            if len(tree) == 1 or (least > cut if above else greatest < cut):
                done[index] = index
            else:
                own, own_cut, yes, no = tree
                if own == name and (own_cut <= cut if above else own_cut >= cut):
                    sides = [no if above else yes]
                else:
                    sides = [yes, no]
                missing = [side for side in sides if side not in done]
                if missing:
                    waiting.extend(missing)
                    continue
                kept = [done[side] for side in sides]
                done[index] = kept[0] if len(kept) == 1 else self._joined(own, own_cut, kept[0], kept[1])
            waiting.pop()
        return done[root]
