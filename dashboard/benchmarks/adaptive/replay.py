"""A full campaign replayed as if it were measured: what a strategy finds of it, and for which part of its cost.

A point costs as many repetitions of its time as a campaign makes; where methods of a cell take turns, one that takes
half as long again as the best is given up after a few of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import xarray as xr

from dashboard.benchmarks.adaptive.choosing import apart, beginning, following, together
from dashboard.benchmarks.adaptive.expected import Known
from dashboard.benchmarks.campaigns.ranges import levels
from dashboard.domain.arrays import BoolArray, FloatArray

REPETITIONS, RACED, SLOWER = 30, 6, 1.5
"""Repetitions of a point, of one that is given up, and how many times as long as the best that one takes."""

#: Standard error of the logarithm of a time of so many repetitions.
_ERROR = 0.02


class Course(NamedTuple):
    """Where a replay stands."""

    #: Of the full campaign's core-seconds that was spent.
    share: float
    #: Mean over all sizes of what is decided now, percent over the best of the full campaign.
    penalty: float
    #: Loss in percent that is expected, by what was measured alone.
    expected: float


class Replay:
    """A campaign that is given its times by a full one.

    Parameters
    ----------
    cube
        Results of one collective, without ``ppn``: ``time`` over method, comm_size and message_size.
    """

    def __init__(self, cube: xr.Dataset) -> None:
        self.times: FloatArray = cube["time"].transpose("method", "comm_size", "message_size").values
        self.able: BoolArray = np.isfinite(self.times)
        self.best: FloatArray = np.min(np.where(self.able, self.times, np.inf), axis=0)
        self.full = REPETITIONS * float(np.nansum(self.times))
        empty = np.full(self.times.shape, np.nan)
        comm_sizes, message_sizes = (np.asarray(cube[name].values) for name in ("comm_size", "message_size"))
        weights = self.able.any(axis=0).astype(float)
        self.known = Known(comm_sizes, message_sizes, empty, empty, self.able, weights)
        self.spent = self.chose = 0.0

    def cost(self, _name: str, row: int, column: int) -> float:
        """Seconds of a point of a cell, as one who has not measured it would guess."""
        return REPETITIONS * float(np.nanmean(self.times[:, row, column]))

    def measure(self, row: int, column: int, methods: tuple[int, ...]) -> None:
        """Take in methods of a cell; those measured there before take part in the race."""
        logs, errors = self.known.logs.copy(), self.known.errors.copy()
        for method in methods:
            logs[method, row, column], errors[method, row, column] = math.log(self.times[method, row, column]), _ERROR
        seconds = self.times[list(methods), row, column]
        slow = seconds > SLOWER * math.exp(np.nanmin(logs[:, row, column]))
        self.spent += float((np.where(slow, RACED, REPETITIONS) * seconds).sum())
        self.known = replace(self.known, logs=logs, errors=errors)

    @property
    def penalty(self) -> float:
        """As of `Course`; a method that the full campaign lacks somewhere counts as the slowest one there."""
        decided = self.known.predicted[0].argmin(axis=0)
        took = np.take_along_axis(self.times, decided[None], axis=0)[0]
        took = np.where(np.isfinite(took), took, np.max(np.where(self.able, self.times, 0.0), axis=0))
        there = self.able.any(axis=0)
        return float(100 * (took[there] / self.best[there] - 1).mean())

    def everything(self, place: int) -> None:
        """Measure all methods of a cell by its number, row by row."""
        row, column = divmod(place, self.times.shape[2])
        if (methods := np.flatnonzero(self.able[:, row, column])).size:
            self.measure(row, column, tuple(methods.tolist()))

    def course(self, strategy: Strategy) -> Iterator[Course]:
        """Measure by a strategy, and say where it stands after each step."""
        for _ in strategy(self):
            if self.spent:
                yield Course(self.spent / self.full, self.penalty, self.known.mean_loss)


Strategy = Callable[[Replay], Iterator[None]]


def within(most: float, unchanged: float = 0.0) -> Strategy:
    """Measure as a campaign does whose budget is a part of the full campaign's core-seconds.

    ``unchanged`` is the part of it that is measured without choosing anew.
    """

    def run(replay: Replay) -> Iterator[None]:
        """Measure."""
        begun = False
        while True:
            began, left = time.perf_counter(), most * replay.full - replay.spent
            known = {"": replay.known}
            first = [] if begun else list(beginning(known, replay.cost))
            begun = not first
            # Without the first line nothing is known at all.
            steps = first[:1] if not replay.spent else [*first, *following(known, replay.cost)]
            steps = [each for each in steps if each.seconds <= left or not replay.spent]
            steps = steps[:1] if first else together(apart(steps), min(left, unchanged * most * replay.full))
            replay.chose += time.perf_counter() - began
            if not steps:
                return
            for step in steps:
                for column, methods in step.cells:
                    replay.measure(step.row, column, methods)
            # What is predicted now is what the next choice rests on: judged by it, it would be there for nothing.
            began = time.perf_counter()
            _ = replay.known.predicted
            replay.chose += time.perf_counter() - began
            yield

    return run


adaptive = within(math.inf)
"""Measure as a campaign does that ends where nothing is left to find out."""


def coarse(replay: Replay) -> Iterator[None]:
    """Measure grids that are finer and finer, all methods of each cell."""
    rows, columns = (levels(size) for size in replay.times.shape[1:])
    finer = np.maximum.outer(rows, columns).ravel()
    yield from map(replay.everything, np.argsort(finer, kind="stable").tolist())


def at_random(seed: int) -> Strategy:
    """Measure cells in an order that is drawn, the corners first, since beyond them nothing is known."""

    def run(replay: Replay) -> Iterator[None]:
        """Measure them."""
        rows, columns = replay.times.shape[1:]
        drawn = np.random.default_rng(seed).permutation(rows * columns).tolist()
        ends = [0, columns - 1, (rows - 1) * columns, rows * columns - 1]
        yield from map(replay.everything, dict.fromkeys([*ends, *drawn]))

    return run
