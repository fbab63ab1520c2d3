"""Which cuts can be in a tree that is good enough: bounds from above meet bounds from below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dashboard.decisions.grown.optimal.rectangles import Rectangles, halves
from dashboard.decisions.grown.optimal.tree import Tree
from dashboard.domain.arrays import FloatArray, IntArray

CHUNK = 1 << 18
"""Cuts that are looked at together."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts of rectangles, each as numbers of what is cut and of its two sides."""

    #: Numbers of rectangles.
    parent: IntArray
    first: IntArray
    second: IntArray
    #: Height plus width of the parent: sides have less.
    size: IntArray

    def __len__(self) -> int:
        return int(self.parent.size)

    @classmethod
    def of(cls, tree: Tree, rectangles: Rectangles) -> Cuts:
        """The cuts of one tree."""
        places = []
        for node in tree.nodes():
            if node.sides:
                spots = np.array([node.spot, node.sides[0].spot, node.sides[1].spot]).T
                places.append([*rectangles.index(spots).tolist(), node.spot[2] + node.spot[3]])
        table = np.array(places, dtype=np.int64).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1], table[:, 2], table[:, 3])

    @classmethod
    def joined(cls, parts: list[Cuts]) -> Cuts:
        """All cuts of several, each once: small parents first, those of one parent together."""
        table = np.concatenate(
            [np.zeros((0, 4), dtype=np.int64)]
            + [np.stack([part.size, part.parent, part.first, part.second], axis=1) for part in parts]
        )
        if table.size:
            table = table[np.lexsort(table.T[::-1])]
            table = table[np.concatenate([[True], (np.diff(table, axis=0) != 0).any(axis=1)])]
        return cls(table[:, 1], table[:, 2], table[:, 3], table[:, 0])


def candidates(
    values: FloatArray, rectangles: Rectangles, highest: FloatArray, most: int, alive: Callable[[], None]
) -> Cuts | None:
    """Find the cuts that a tree over the whole grid can have which is worth at most so much.

    From the whole grid down: what a tree is worth outside a rectangle is at least the least sum of what the
    other sides are worth on any way there. Outside and inside together bound any tree with that cut.

    Parameters
    ----------
    values
        ``(rectangle, price)`` as `priced` gives them: a cut is kept if any of the prices does not rule it out.
    highest
        What the tree is worth at most, at each price.
    most
        Give up beyond so many cuts.
    alive
        Called now and then; may raise `Cancelled`.

    Returns
    -------
    Cuts, or None when there are more than `most`
    """
    open_sizes: dict[int, list[tuple[IntArray, FloatArray]]] = {}
    open_sizes[rectangles.rows + rectangles.columns] = [(rectangles.grid, np.zeros((1, highest.size)))]
    kept: list[Cuts] = []
    count = 0
    for size in range(rectangles.rows + rectangles.columns, 2, -1):
        if size not in open_sizes:
            continue
        spots, outside = _lowest(open_sizes.pop(size), rectangles)
        ways = np.cumsum(spots[2] + spots[3] - 2)
        ends = np.searchsorted(ways, np.arange(CHUNK, ways[-1], CHUNK), side="right")
        start = 0
        for end in np.unique(np.append(ends, ways.size)).tolist():
            cuts = _kept(spots[:, start:end], outside[start:end], values, rectangles, highest, open_sizes)
            start = end
            alive()
            count += len(cuts)
            if count > most:
                return None
            kept.append(cuts)
    return Cuts.joined(kept)


def _lowest(parts: list[tuple[IntArray, FloatArray]], rectangles: Rectangles) -> tuple[IntArray, FloatArray]:
    """Each rectangle once, with the least of what there is outside it."""
    spots = np.concatenate([part[0] for part in parts], axis=1)
    outside = np.concatenate([part[1] for part in parts])
    _, inverse = np.unique(rectangles.index(spots), return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.flatnonzero(np.diff(inverse[order], prepend=-1))
    return spots[:, order[starts]], np.minimum.reduceat(outside[order], starts)


def _kept(
    spots: IntArray,
    outside: FloatArray,
    values: FloatArray,
    rectangles: Rectangles,
    highest: FloatArray,
    open_sizes: dict[int, list[tuple[IntArray, FloatArray]]],
) -> Cuts:
    """The cuts of `spots` that are not ruled out; their sides become open."""
    parent, first, second = halves(spots)
    lower, upper = rectangles.index(first), rectangles.index(second)
    above_one, above_other = outside[parent] + values[upper], outside[parent] + values[lower]
    kept = np.flatnonzero((above_one + values[lower] <= highest).any(axis=1))
    for side, above in ((first, above_one), (second, above_other)):
        sizes = side[2, kept] + side[3, kept]
        for size in np.unique(sizes).tolist():
            chosen = kept[sizes == size]
            open_sizes.setdefault(size, []).append((side[:, chosen], above[chosen]))
    cut_rectangle = rectangles.index(spots)[parent[kept]]
    return Cuts(cut_rectangle, lower[kept], upper[kept], spots[2:, parent[kept]].sum(axis=0))
