"""Quadtree build and decision at 64², 512² and 2048²; aim: 2048² under one second.

The limit beside each figure is one pass of numpy's sort over the same map.
"""

from functools import partial

import numpy as np
import xarray as xr

from dashboard.decisions import decision_map, quadtree
from tests.benchmarks.measure import timed
from tests.cubes import cube_of


def noisy_map(side: int, methods: int = 75) -> xr.Dataset:
    """Give the decision map of smooth bands of methods with a tenth of the cells at random."""
    rng = np.random.default_rng(side)
    rows, columns = np.mgrid[0:side, 0:side]
    best = ((rows * 5 // side) * 7 + columns * 7 // side) % methods
    best = np.where(rng.random((side, side)) < 0.1, rng.integers(0, methods, (side, side)), best)
    small = decision_map(cube_of(rng.random((methods, 2, 2)) + 1e-6, [1, 2], [1, 2]))
    sized = small.reindex(comm_size=np.arange(1, side + 1), message_size=np.arange(1, side + 1), fill_value=0)
    sized["best"] = sized["best"].dims, best
    return sized


def report(side: int) -> None:
    """Print the figures of one map."""
    decided = noisy_map(side)
    limit = timed(lambda: np.sort(decided["best"].values, axis=1))
    for options in ({}, {"max_depth": 6}, {"threshold": 0.8}):
        build = partial(quadtree, decided, **options)
        tree, built = build(), timed(build, runs=3)
        ratio = built.median / limit.median
        print(f"{side:5d}² {options!s:20} {built}  {tree.leaves:8d} leaves  {ratio:8.1f} × a sort")
    sizes = np.random.default_rng(1).integers(1, side + 1, (2, 100_000))
    single = timed(lambda: [tree.predict_one(33, 4096) for _ in range(1000)])
    print(f"{side:5d}² 100,000 decisions     {timed(lambda: tree.predict(*sizes))}")
    print(f"{side:5d}² one decision          {single.median * 1e3:8.2f} µs")


def main() -> None:
    for side in (64, 512, 2048):
        report(side)


if __name__ == "__main__":
    main()
