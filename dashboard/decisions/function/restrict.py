"""Trees for calls of which something is fixed, such as the collective or the processes per node."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from dashboard.decisions.function.attributes import COLLECTIVE, SIZES, attribute, compute_one
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import Leaf, Node, Split, Test

_TOP = 2**63 - 1
_BOTTOM = -(2**63)


def restrict(tree: FlatTree, given: Mapping[str, int]) -> Node:
    """Give a tree that decides as `tree` where the attributes in `given` have these values.

    No test of them is left. A test of an attribute that derives from one of them becomes a test of the
    other one that it derives from: at 4 processes per node, ``nodes <= 8`` is ``comm_size <= 32``.

    Notes
    -----
    Cuts are float64, so that such a cut is exact up to 2**53 and rounded down to 53 bits beyond.
    """

    @cache
    def settled(name: int, limit: int) -> tuple[Test, bool] | bool:
        return _fixed(tree.attributes[name], limit, given)

    def split(_: int, made: list[tuple[int, int]], children: list[Node]) -> Node:
        """What is left of a split and its children once some tests are settled."""
        kept: list[Test] = []
        for name, limit in made:
            # The tests before are kept or gone, so that this one is bit len(kept) of a child's position.
            fixed, bit = settled(name, limit), 1 << len(kept)
            if isinstance(fixed, bool):
                children = [child for index, child in enumerate(children) if bool(index & bit) != fixed]
            else:
                test, turned = fixed
                kept.append(test)
                children = [children[index ^ bit] for index in range(len(children))] if turned else children
        return Split(tuple(kept), tuple(children)) if kept else children[0]

    return tree.folded(lambda _, method: Leaf(method), split)


def remembered(provenance: Mapping[str, Any], given: Mapping[str, int]) -> dict[str, Any]:
    """What a decision function remembers of its measurements once `given` is fixed."""
    gone = {COLLECTIVE, *(f"{name}s" for name in given)}  # ppns, collectives: what there was to choose from
    facts = {name: value for name, value in provenance.items() if name not in gone}
    values = {name: [value, value] if name in SIZES else value for name, value in given.items() if name not in gone}
    return {**facts, **values}


def _fixed(name: str, limit: int, given: Mapping[str, int]) -> tuple[Test, bool] | bool:
    """The test ``name <= limit`` once `given` is: its answer, or a test of what is left and whether it is turned."""
    base = attribute(name).base
    left = [size for size in base if size not in given]
    if name in given or (base and not left):
        return compute_one(name, given) <= limit
    if len(left) != 1 or not attribute(name).monotone or limit == _TOP:
        return Test(name, math.inf if limit == _TOP else float(limit)), False

    def below(value: int) -> bool:
        return compute_one(name, {**given, left[0]: value}) <= limit

    least, greatest = below(_BOTTOM), below(_TOP)
    if least == greatest:
        return least
    low, high = _BOTTOM, _TOP
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(middle) == least else (low, middle)
    return Test(left[0], _cut(low)), not least


def _cut(limit: int) -> float:
    """The greatest float that is not above `limit`."""
    cut = float(limit)
    return cut if cut <= limit else math.nextafter(cut, -math.inf)
