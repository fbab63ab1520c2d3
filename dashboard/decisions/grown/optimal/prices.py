"""The best tree below every rectangle when each leaf has a price: what the other searches stand on."""

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dashboard.decisions.grown.optimal.rectangles import Rectangles
from dashboard.domain.arrays import FloatArray

Tick = Callable[[float], None]

THREADS = min(4, getattr(os, "process_cpu_count", os.cpu_count)() or 1)
"""Rows that are lowered at the same time."""

#: Rectangles times prices from which compiled code is faster even where it must be loaded first.
COMPILED = 1 << 22


def part_of(tick: Tick | None, begun: float, share: float) -> Tick:
    """What is told of one part of a search, which begins at one share of it and takes another."""
    return lambda done: None if tick is None else tick(begun + share * done)


def priced(leaves: FloatArray, rectangles: Rectangles, prices: FloatArray, tick: Tick | None = None) -> FloatArray:
    """Minimise cost plus price times leaves over all trees below every rectangle, by dynamic programming.

    Parameters
    ----------
    leaves
        Cost of every rectangle as a leaf.
    prices
        Prices per leaf; all are done at once, which costs little more than one.

    Returns
    -------
    float64 ``(rectangle, price)``
    """
    values = leaves[:, None] + prices
    improve(values, values, rectangles, tick)
    return values


def improve(values: FloatArray, below: FloatArray, rectangles: Rectangles, tick: Tick | None = None) -> None:
    """Lower `values` of rectangles to what any cut gives whose sides are worth `below`.

    Both are ``(rectangle, n)``; with the same table for both, sides are improved before what they are sides of.
    """
    rows, columns, many = rectangles.rows, rectangles.columns, values.shape[1]
    if rectangles.count * many >= COMPILED:
        from dashboard.decisions.grown.optimal.kernel import lower  # noqa: PLC0415 - takes a second to import

        flat = values.reshape(-1), below.reshape(-1)
        with ThreadPoolExecutor(THREADS) as threads:
            for height in range(1, rows + 1):
                tops = rows - height + 1
                ends = [tops * part // THREADS for part in range(THREADS + 1)]
                parts = [
                    threads.submit(lower, *flat, rectangles.offset, height, start, end, columns, many)
                    for start, end in itertools.pairwise(ends)
                ]
                for part in parts:
                    part.result()
                if tick is not None:
                    tick(height / rows)
        return
    sides = {
        (height, width): rectangles.of_shape(below, height, width)
        for height in range(1, rows + 1)
        for width in range(1, columns + 1)
    }
    space = np.empty(rows * columns * many)
    for height in range(1, rows + 1):
        for width in range(1, columns + 1):
            target = rectangles.of_shape(values, height, width)
            down, across = target.shape[:2]
            sums = space[: target.size].reshape(target.shape)
            for at in range(1, height):
                np.add(sides[at, width][:down], sides[height - at, width][at : at + down], out=sums)
                np.minimum(target, sums, out=target)
            for at in range(1, width):
                np.add(sides[height, at][:, :across], sides[height, width - at][:, at : at + across], out=sums)
                np.minimum(target, sums, out=target)
        if tick is not None:
            tick(height / rows)
