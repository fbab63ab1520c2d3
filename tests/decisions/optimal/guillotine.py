"""What the best guillotine trees over a small grid cost: slow and plain."""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from dashboard.decisions.surfaces.counted import counted

Rectangle = tuple[int, int, int, int]


def penalties(cube: Any, weights: Any = None) -> np.ndarray:
    """``(method, row, column)`` percent times weight, by the times that count; 0 where nothing was measured."""
    time = counted(cube["time"].values, cube["comm_size"].values, cube["message_size"].values)
    best = time.min(axis=0)
    return np.nan_to_num(100 * (time - best) / best * (1.0 if weights is None else weights))


def leaf_cost(costs: np.ndarray, top: int, left: int, bottom: int, right: int) -> float:
    return min(math.fsum(method[top:bottom, left:right].ravel()) for method in costs)


def cuts(top: int, left: int, bottom: int, right: int) -> Iterator[tuple[Rectangle, Rectangle]]:
    """Yield the two parts of every cut from edge to edge."""
    yield from (((top, left, at, right), (at, left, bottom, right)) for at in range(top + 1, bottom))
    yield from (((top, left, bottom, at), (top, at, bottom, right)) for at in range(left + 1, right))


def least(costs: np.ndarray) -> dict[tuple[int, int], float]:
    """Give the least cost for each number of leaves and depth that trees have."""

    @cache
    def below(top: int, left: int, bottom: int, right: int) -> dict[tuple[int, int], float]:
        best = {(1, 0): leaf_cost(costs, top, left, bottom, right)}
        for first, second in cuts(top, left, bottom, right):
            for (leaves, depth), cost in below(*first).items():
                for (others, deeper), more in below(*second).items():
                    key = leaves + others, 1 + max(depth, deeper)
                    best[key] = min(best.get(key, math.inf), cost + more)
        return best

    return below(0, 0, *costs.shape[1:])
