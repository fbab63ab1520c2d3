"""Replay of a full campaign as if it were measured: what adaptive measuring finds of it, for which part of its cost.

Strategies are given the times of the sample data (or of results named on the command line, each with the hints of its
loader as ``PATH[,name=value…]``) point by point. A point costs 30 repetitions of its time; where a cell is raced, one
that takes half as long again as the best costs 6. Judged is the method of the smallest predicted time at every size of
the grid, measured or not: its mean penalty over the best of the full campaign. Beside adaptive measuring stand grids
from coarse to fine, and cells at random (mean of five draws), both raced too and at the same cost.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from dashboard.benchmarks.adaptive.choosing import beginning, following
from dashboard.benchmarks.adaptive.expected import Known
from dashboard.benchmarks.campaigns.ranges import levels
from tests.benchmarks.bench_between import results

REPETITIONS, RACED, SLOWER = 30, 6, 1.5
SHARES = (0.05, 0.1, 0.15, 0.25)
DRAWS = 5
Cells = list[tuple[int, int, tuple[int, ...]]]


class Replay:
    """A campaign that is given its times by a full one."""

    def __init__(self, cube: xr.Dataset) -> None:
        self.times = cube["time"].transpose("method", "comm_size", "message_size").values
        self.able = np.isfinite(self.times)
        self.best = np.min(np.where(self.able, self.times, np.inf), axis=0)
        self.full = REPETITIONS * float(np.nansum(self.times))
        empty = np.full(self.times.shape, np.nan)
        sizes = (np.asarray(cube[name].values) for name in ("comm_size", "message_size"))
        self.known = Known(*sizes, empty, empty, self.able, self.able.any(axis=0).astype(float))
        self.spent = self.chose = 0.0

    def cost(self, method: int, row: int, column: int) -> float:
        """Seconds of a point in a race."""
        seconds = float(self.times[method, row, column])
        return (RACED if seconds > SLOWER * self.best[row, column] else REPETITIONS) * seconds

    def mean_cost(self, _name: str, row: int, column: int) -> float:
        """Seconds of a point of a cell, as one who has not measured it would guess."""
        return REPETITIONS * float(np.nanmean(self.times[:, row, column]))

    def measure(self, cells: Cells) -> None:
        """Take in cells."""
        logs, errors = self.known.logs.copy(), self.known.errors.copy()
        for row, column, methods in cells:
            for method in methods:
                logs[method, row, column] = math.log(self.times[method, row, column])
                errors[method, row, column] = 0.02
                self.spent += self.cost(method, row, column)
        self.known = replace(self.known, logs=logs, errors=errors)

    def penalty(self) -> float:
        """Mean penalty of what is decided now, percent."""
        decided = self.known.predicted[0].argmin(axis=0)
        took = np.take_along_axis(self.times, decided[None], axis=0)[0]
        there = self.able.any(axis=0)
        took = np.where(np.isfinite(took), took, np.max(np.where(self.able, self.times, 0.0), axis=0))
        return float(100 * (took[there] / self.best[there] - 1).mean())

    def everything(self, row: int, column: int) -> tuple[int, int, tuple[int, ...]]:
        """A cell with all of its methods."""
        return row, column, tuple(np.flatnonzero(self.able[:, row, column]).tolist())


def adaptive(replay: Replay) -> Iterator[None]:
    """Measure as a campaign does."""
    while (step := next(beginning({"": replay.known}, replay.mean_cost), None)) is not None:
        replay.measure([(step.row, column, methods) for column, methods in step.cells])
        yield
    while True:
        began = time.perf_counter()
        steps = following({"": replay.known}, replay.mean_cost)
        replay.chose += time.perf_counter() - began
        if not steps:
            return
        replay.measure([(steps[0].row, column, methods) for column, methods in steps[0].cells])
        yield


def coarse(replay: Replay) -> Iterator[None]:
    """Measure grids that are finer and finer."""
    rows, columns = (levels(size) for size in replay.times.shape[1:])
    cells = sorted((max(rows[r], columns[c]), r, c) for r in range(len(rows)) for c in range(len(columns)))
    for _, row, column in cells:
        replay.measure([replay.everything(row, column)])
        yield


def at_random(seed: int) -> Callable[[Replay], Iterator[None]]:
    """Measure cells in an order that is drawn, the corners first, since beyond them nothing is known."""

    def run(replay: Replay) -> Iterator[None]:
        """Measure them."""
        shape = replay.times.shape[1:]
        drawn = np.random.default_rng(seed).permutation(shape[0] * shape[1]).tolist()
        ends = [0, shape[1] - 1, (shape[0] - 1) * shape[1], shape[0] * shape[1] - 1]
        for place in dict.fromkeys([*ends, *drawn]):
            replay.measure([replay.everything(*divmod(place, shape[1]))])
            yield

    return run


def curve(cube: xr.Dataset, strategy: Callable[[Replay], Iterator[None]]) -> tuple[list[float], float, float]:
    """Penalty at `SHARES` of the full cost, share of it at which 1 % is reached, and seconds for choosing."""
    replay, found, reached = Replay(cube), [math.nan] * len(SHARES), math.nan
    for _ in strategy(replay):
        share, penalty = replay.spent / replay.full, replay.penalty()
        for place, most in enumerate(SHARES):
            if share <= most:
                found[place] = penalty
        if math.isnan(reached) and penalty <= 1.0:
            reached = share
        if share > SHARES[-1] and not math.isnan(reached):
            break
    return found, reached, replay.chose


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
