"""Replay of a full campaign as if it were measured: what adaptive measuring finds of it, for which part of its cost.

Strategies are given the times of the sample data (or of results named on the command line, each with the hints of its
loader as ``PATH[,name=value…]``) point by point, see `dashboard.benchmarks.adaptive.replay`. Judged is the method of
the smallest predicted time at every size of the grid, measured or not: its mean penalty over the best of the full
campaign, each part of its cost by itself being the budget, as of `bench plan --adaptive --budget`. Beside adaptive
measuring stand grids from coarse to fine, and cells at random (mean of five draws), both raced too and at the same
cost; and what choosing took, as a part of what measuring took.
"""

import math
import sys

import numpy as np
import xarray as xr

from dashboard.benchmarks.adaptive.replay import Replay, Strategy, adaptive, at_random, coarse, within
from dashboard.decisions.measured.map import select_ppn
from tests.benchmarks.bench_between import results

SHARES = (0.05, 0.1, 0.15, 0.25)
DRAWS = 5


def curve(cube: xr.Dataset, strategy: Strategy) -> tuple[list[float], float]:
    """Penalty at `SHARES` of the full cost, and the share of it at which 1 % is reached."""
    penalties, reached = [math.nan] * len(SHARES), math.nan
    for at in Replay(cube).course(strategy):
        penalties = [at.penalty if at.share <= most else old for most, old in zip(SHARES, penalties, strict=True)]
        if math.isnan(reached) and at.penalty <= 1.0:
            reached = at.share
        if at.share > SHARES[-1] and not math.isnan(reached):
            break
    return penalties, reached


def budgets(cube: xr.Dataset) -> tuple[list[float], float]:
    """Penalty of adaptive measuring with each of `SHARES` as its budget; percent that choosing took of measuring.

    The latter of choosing quickly, as campaigns do that choose for too long, but anew at each step, as these do not.
    """
    penalties = [list(Replay(cube).course(within(most)))[-1].penalty for most in SHARES]
    hurried = Replay(cube)
    hurried.known.calibration.quick = True
    _ = list(hurried.course(within(SHARES[-1])))
    return penalties, 100 * hurried.chose / hurried.spent


def main() -> None:
    """Print a table of each collective."""
    print("mean penalty in percent at a part of the full campaign's core-seconds; part at which it is at most 1 %")
    print(f"{'':34}" + "".join(f"{100 * share:7.0f} %" for share in SHARES) + f"{'≤ 1 %':>9}")
    for name, cube in results(sys.argv[1:]):
        if name.endswith("pt2pt"):
            continue
        flat = select_ppn(cube, None)[0]
        drawn = [curve(flat, at_random(seed)) for seed in range(DRAWS)]
        (penalties, choosing), (_, reached) = budgets(flat), curve(flat, adaptive)
        rows = [("adaptive", penalties, reached), ("coarse to fine", *curve(flat, coarse))]
        mean = [float(np.mean([values[place] for values, _ in drawn])) for place in range(len(SHARES))]
        rows.append(("at random", mean, float(np.mean([first for _, first in drawn]))))
        for strategy, values, first in rows:
            figures = "".join(f"{value:9.2f}" for value in values)
            chose = f"  (choosing at each step: {choosing:.1f} % of measuring)" if strategy == "adaptive" else ""
            print(f"{name[-18:]:18} {strategy:15}{figures}{100 * first:8.1f} %{chose}", flush=True)


if __name__ == "__main__":
    main()
