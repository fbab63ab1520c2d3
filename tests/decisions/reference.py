"""The quadtree conventions of design.md, done one block at a time with no thought of speed."""

import math
from collections import Counter
from typing import Any

import numpy as np

from dashboard.decisions import Leaf, Split, Test
from dashboard.decisions.function.nodes import Node


def square_of(grid: np.ndarray) -> np.ndarray:
    """Repeat the last row and column up to the smallest square of a power of two."""
    side = 1
    while side < max(grid.shape):
        side *= 2
    rows = np.minimum(np.arange(side), grid.shape[0] - 1)
    columns = np.minimum(np.arange(side), grid.shape[1] - 1)
    return grid[np.ix_(rows, columns)]


def prevalent(block: np.ndarray) -> tuple[int, int]:
    """Most frequent method; of several the upper-right cell's, else the smallest index."""
    counts = Counter(block.ravel().tolist())
    most = max(counts.values())
    tied = [method for method, count in counts.items() if count == most]
    corner = int(block[-1, -1])
    return (corner if corner in tied else min(tied)), most


def reference_quadtree(
    grid: np.ndarray, comm_sizes: Any, message_sizes: Any, *, max_depth: int | None = None, threshold: float = 1.0
) -> Node:
    """Build the tree of `Leaf` and `Split` by recursion."""
    square = square_of(grid)

    def cut(sizes: Any, middle: int) -> float:
        return float(sizes[middle - 1]) if middle < len(sizes) else math.inf

    def build(top: int, left: int, side: int, depth: int) -> Node:
        block = square[top : top + side, left : left + side]
        method, count = prevalent(block)
        if count >= threshold * side * side or depth == max_depth:
            return Leaf(method)
        half = side // 2
        tests = (Test("comm_size", cut(comm_sizes, top + half)), Test("message_size", cut(message_sizes, left + half)))
        corners = [(top, left), (top + half, left), (top, left + half), (top + half, left + half)]
        return Split(tests, tuple(build(*corner, half, depth + 1) for corner in corners))

    return build(0, 0, square.shape[0], 0)
