"""Replay of a full campaign as if it were measured: what adaptive measuring finds of it, for which part of its cost.

Strategies are given the times of the sample data (or of results named on the command line, each with the hints of its
loader as ``PATH[,name=value…]``) point by point, see `dashboard.benchmarks.adaptive.replay`. Judged is the method of
the smallest predicted time at every size of the grid, measured or not: its mean penalty over the best of the full
campaign. Beside adaptive measuring stand grids from coarse to fine, and cells at random (mean of five draws), both
raced too and at the same cost.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import xarray as xr

from dashboard.benchmarks.adaptive.replay import Replay, Strategy, adaptive, at_random, coarse
from dashboard.decisions.measured.map import select_ppn
from tests.benchmarks.bench_between import results

SHARES = (0.05, 0.1, 0.15, 0.25)
DRAWS = 5


def curve(cube: xr.Dataset, strategy: Strategy) -> tuple[list[float], float, float]:
    """Penalty at `SHARES` of the full cost, share of it at which 1 % is reached, and seconds for choosing."""
    replay, penalties, reached = Replay(select_ppn(cube, None)[0]), [math.nan] * len(SHARES), math.nan
    for at in replay.course(strategy):
        penalties = [at.penalty if at.share <= most else old for most, old in zip(SHARES, penalties, strict=True)]
        if math.isnan(reached) and at.penalty <= 1.0:
            reached = at.share
        if at.share > SHARES[-1] and not math.isnan(reached):
            break
    return penalties, reached, replay.chose


def main() -> None:
    """Print a table of each collective."""
    print("mean penalty in percent at a part of the full campaign's core-seconds; part at which it is at most 1 %")
    print(f"{'':34}" + "".join(f"{100 * share:7.0f} %" for share in SHARES) + f"{'≤ 1 %':>9}")
    for name, cube in results(sys.argv[1:]):
        if name.endswith("pt2pt"):
            continue
        drawn = [curve(cube, at_random(seed)) for seed in range(DRAWS)]
        mean = [float(np.mean([one[0][place] for one in drawn])) for place in range(len(SHARES))]
        rows = [("adaptive", *curve(cube, adaptive)), ("coarse to fine", *curve(cube, coarse))]
        rows.append(("at random", mean, float(np.mean([one[1] for one in drawn])), 0.0))
        for strategy, values, reached, chose in rows:
            told = "".join(f"{value:9.2f}" for value in values)
            print(
                f"{name[-18:]:18} {strategy:15}{told}{100 * reached:8.1f} %" + (f"  ({chose:.1f} s)" if chose else "")
            )


if __name__ == "__main__":
    main()
