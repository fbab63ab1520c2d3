"""The conventions of design.md for quadtrees and octrees, done one block at a time with no thought of speed."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dashboard.decisions import Leaf, Split, Test
from dashboard.decisions.function.nodes import Node


def square_of(grid: np.ndarray) -> np.ndarray:
    """Repeat the last row and column (and layer) up to the smallest square (cube) of a power of two."""
    side = 1
    while side < max(grid.shape):
        side *= 2
    return grid[np.ix_(*[np.minimum(np.arange(side), extent - 1) for extent in grid.shape])]


def prevalent(block: np.ndarray) -> tuple[int, int]:
    """Most frequent method; of several that of the cell with the largest sizes, else the smallest index."""
    counts = Counter(block.ravel().tolist())
    most = max(counts.values())
    tied = [method for method, count in counts.items() if count == most]
    corner = int(block[(-1,) * block.ndim])
    return (corner if corner in tied else min(tied)), most


def reference_tree(
    grid: np.ndarray,
    axes: Sequence[Any],
    names: tuple[str, ...],
    *,
    max_depth: int | None = None,
    threshold: float = 1.0,
) -> Node:
    """Build the tree of `Leaf` and `Split` by recursion; each split halves all axes."""
    square = square_of(grid)

    def build(start: tuple[int, ...], side: int, depth: int) -> Node:
        block = square[tuple(slice(at, at + side) for at in start)]
        method, count = prevalent(block)
        if count >= threshold * block.size or depth == max_depth:
            return Leaf(method)
        half = side // 2
        middles = [at + half for at in start]
        cuts = [float(axis[at - 1]) if at < len(axis) else math.inf for axis, at in zip(axes, middles, strict=True)]
        corners = [
            tuple(at + (half if child >> k & 1 else 0) for k, at in enumerate(start)) for child in range(2**grid.ndim)
        ]
        tests = tuple(Test(name, cut) for name, cut in zip(names, cuts, strict=True))
        return Split(tests, tuple(build(corner, half, depth + 1) for corner in corners))

    return build((0,) * grid.ndim, square.shape[0], 0)
