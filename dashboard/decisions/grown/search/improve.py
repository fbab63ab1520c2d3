"""Good trees to start a search from: the better the tree, the more of the search can be passed over."""

import numpy as np

from dashboard.decisions.grown.search.branching import BY_TABLE, Search, Watch
from dashboard.decisions.grown.search.cells import Tree, leaves_of, places_of
from dashboard.domain.arrays import IntArray

HEIGHTS = (BY_TABLE, BY_TABLE + 1)
"""Branches of so many levels are replaced by the best ones."""


def stacked(search: Search, cells: IntArray, depth: int) -> Tree:
    """Put the best trees of two levels on top of each other, each for the cells of a leaf."""
    _, tree = search.solve(cells, min(depth, BY_TABLE), 1 << min(depth, BY_TABLE), np.inf)
    assert tree is not None  # noqa: S101 - every tree loses less than infinity
    return tree if depth <= BY_TABLE or isinstance(tree, int) else _extended(search, tree, cells, depth)


def _extended(search: Search, tree: Tree, cells: IntArray, depth: int) -> Tree:
    if isinstance(tree, int):
        lost, _ = search.cells.leaf(cells)
        return stacked(search, cells, depth) if lost > search.cells.tolerance else tree
    attribute, rank, yes, no = tree
    holds, others = search.cells.sides(cells, attribute, rank)
    return (attribute, rank, _extended(search, yes, holds, depth - 1), _extended(search, no, others, depth - 1))


def improve(search: Search, watch: Watch, depth: int, leaves: int) -> None:
    """Replace branches of the tree in `watch` by the best ones of their height, as long as that gains anything.

    Raises
    ------
    OutOfTime
        When time is up; what was gained until then is in `watch`.
    """
    for height in HEIGHTS:
        gained = True
        while gained:
            gained = False
            for path, level in list(places_of(watch.tree)):
                if depth - level <= height and _replaced(search, watch, path, depth - level, leaves):
                    gained = True
                    break


def _replaced(search: Search, watch: Watch, path: tuple[int, ...], depth: int, leaves: int) -> bool:
    """Replace one branch if there is a better one."""
    branch, cells = watch.tree, search.cells.all
    for side in path:
        assert not isinstance(branch, int)  # noqa: S101 - the path is one of this tree
        attribute, rank, *branches = branch
        cells = search.cells.sides(cells, attribute, rank)[side]
        branch = branches[side]
    allowed = leaves - leaves_of(watch.tree) + leaves_of(branch)
    old = search.cells.lost(branch, cells)
    lost, better = search.solve(cells, depth, allowed, old)
    if better is None:
        return False
    watch.tree = _with(watch.tree, path, better)
    watch.lost += lost - old
    return True


def _with(tree: Tree, path: tuple[int, ...], branch: Tree) -> Tree:
    """The tree with another branch at the end of `path`."""
    if not path or isinstance(tree, int):
        return branch
    attribute, rank, yes, no = tree
    if path[0] == 0:
        return attribute, rank, _with(yes, path[1:], branch), no
    return attribute, rank, yes, _with(no, path[1:], branch)
