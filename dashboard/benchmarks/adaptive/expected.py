"""What the present decision is expected to lose at each size of a grid, and which methods can still be the best there.

At each size the logarithm of each method's time is taken to be normal: about what its surface predicts there, as wide
as the surface's band and the scatter of its repetitions. The loss is the mean of what the method of the smallest
prediction takes longer than the fastest one, in percent, over draws of all times.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from dashboard.decisions.surfaces import Surfaces
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray

DRAWS = 96
"""Draws of all times at each size; always the same ones, so that the same measurements give the same choice."""

RIVALS = 8
"""Methods that are drawn at a size: those that may be the fastest there, by the lower ends of their bands."""

SURE = 1.645
"""Half of a band that holds 90 % of such times, in standard deviations."""

UNKNOWN = 0.5
"""Standard deviation of the logarithm where a method could be measured and nothing near tells its time."""

MOST = math.log(5)
"""A draw that is more than five times the fastest counts as five times: with few and noisy points bands are so wide
that the mean would be made by a few draws that nobody would meet."""

ONCE = 0.2
"""Standard error of the logarithm of a time that was measured once or twice."""

LEAST_ERROR = 1e-3
"""That of a time that is sure."""

GROWN = 1.25
"""How many times as many points there must be, where choosing is to be quick, for the width of bands to be worked out
again, which takes longest."""


def standard_error(samples: FloatArray) -> FloatArray:
    """Tell how sure the median of repetitions is, whatever a few of them that were disturbed took.

    Parameters
    ----------
    samples
        Seconds, ``(…, repetition)``, NaN where there are fewer.

    Returns
    -------
    array
        Standard error of the logarithm of the median, ``(…)``; NaN where there is none.
    """
    logs = np.sort(np.log(samples), axis=-1)
    count = np.isfinite(logs).sum(axis=-1, keepdims=True)

    def quantile(share: float) -> FloatArray:
        # Of few, too, a normal distribution has it in the mean (Blom); 1/2 below does that for medians.
        place = np.clip((count + 1 / 4) * share - 5 / 8, 0, np.maximum(count - 1, 0))
        low, high = (np.take_along_axis(logs, each(place).astype(int), axis=-1) for each in (np.floor, np.ceil))
        return np.asarray(low + (place - np.floor(place)) * (high - low))

    deviation = (quantile(0.75) - quantile(0.25)) / 1.349
    error = np.maximum(1.2533 * deviation / np.sqrt(count + 0.5), LEAST_ERROR)
    return np.asarray(np.where(count == 0, np.nan, np.where(count < 3, ONCE, error))[..., 0])


@dataclass
class Calibration:
    """How much wider bands are than what is beside them tells, as it was worked out last."""

    #: Number of those that it was worked out of.
    points: int = 0
    #: As of `Surfaces.factors_of`.
    factors: tuple[float, float] = (1.0, 1.0)
    #: Whether they may be those of fewer points.
    quick: bool = False

    def of(self, surfaces: Surfaces, points: int) -> tuple[float, float]:
        """The factors for surfaces over so many points."""
        if not self.quick or points >= GROWN * self.points:
            # Every time counts by itself: what is unsure everywhere alike says nothing of where to measure next.
            self.points, self.factors = points, surfaces.factors_of(lambda lines: sum(line.size for line in lines))
        return self.factors


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the methods of one collective over a grid of sizes."""

    #: The grid, ascending.
    comm_sizes: IntArray
    message_sizes: IntArray
    #: ``(method, comm_size, message_size)``: logarithm of the time in seconds, NaN where not measured, and standard
    #: error of that.
    logs: FloatArray
    errors: FloatArray
    #: Likewise: where a method could be measured, or was.
    able: BoolArray
    #: ``(comm_size, message_size)``: what each size counts, at least one above 0.
    weights: FloatArray
    #: Place of the library's own decision, which is measured wherever anything is; None where it is no method.
    incumbent: int | None = None
    #: As of `Surfaces`, for results of which nothing can be measured in between.
    folding: BoolArray | None = None
    #: Of those before that knew less, and of this one.
    calibration: Calibration = field(default_factory=Calibration)

    @cached_property
    def measured(self) -> BoolArray:
        """``(method, comm_size, message_size)``."""
        return np.asarray(np.isfinite(self.logs))

    @cached_property
    def cells(self) -> BoolArray:
        """``(comm_size, message_size)``: where anything was measured."""
        return np.asarray(self.measured.any(axis=0))

    @cached_property
    def _surfaces(self) -> tuple[FloatArray, FloatArray]:
        """What surfaces tell of the logarithm and its standard deviation; NaN where they do not reach."""
        rows, columns = np.flatnonzero(self.cells.any(axis=1)), np.flatnonzero(self.cells.any(axis=0))
        times = np.exp(self.logs[:, rows][:, :, columns])
        surfaces = Surfaces(times, self.comm_sizes[rows], self.message_sizes[columns], folding=self.folding)
        factors = self.calibration.of(surfaces, int(self.measured.sum()))
        estimates = surfaces.at(self.comm_sizes, self.message_sizes, factors)
        logs, spread = estimates.log_time.copy(), estimates.half_width / SURE
        noise = np.where(self.measured, self.errors, np.nanmedian(self.errors) if self.measured.any() else UNKNOWN)
        logs = np.where(self.measured, self.logs, logs)
        return logs, np.hypot(np.where(self.measured, 0.0, spread), noise)

    @cached_property
    def predicted(self) -> tuple[FloatArray, FloatArray]:
        """Expected logarithm and its standard deviation, ``(method, comm_size, message_size)``; inf where not able."""
        logs, spread = (array.copy() for array in self._surfaces)
        unknown = self.able & ~np.isfinite(logs)
        for method in np.flatnonzero(unknown.any(axis=(1, 2))).tolist():
            here = np.nonzero(unknown[method])
            logs[method][here], spread[method][here] = self._nearest(method, np.transpose(here)), UNKNOWN
        return np.where(self.able, logs, np.inf), spread

    def _nearest(self, method: int, sizes: IntArray) -> FloatArray:
        """What a method took at the nearest size that it was measured at; where at none, the fastest one there.

        From there on it is taken to change as the others do.
        """
        own = self.measured[method]
        places = np.argwhere(own if own.any() else self.cells)
        nearest = places[np.abs(sizes[:, None] - places).sum(axis=2).argmin(axis=1)]
        here, there = ((slice(None), *each.T) for each in (sizes, nearest))
        began = self.logs[there][method] if own.any() else np.nanmin(self.logs[there], axis=0)
        change = self._surfaces[0][here] - self._surfaces[0][there]
        change[:, ~np.isfinite(change).any(axis=0)] = 0.0
        # As np.nanmedian, which takes six times as long for so few.
        count, change = np.isfinite(change).sum(axis=0), np.sort(change, axis=0)
        middle = [np.take_along_axis(change, place[None], axis=0)[0] for place in ((count - 1) // 2, count // 2)]
        return np.asarray(began + np.mean(middle, axis=0))

    @cached_property
    def loss(self) -> FloatArray:
        """Expected loss of the present decision in percent, ``(comm_size, message_size)``; 0 where nothing is able.

        Decided is for what surfaces reach, where they reach any: what was not measured near is no choice yet.
        """
        logs, spread = self.predicted
        count = min(RIVALS, len(logs))
        order = np.argsort(logs - SURE * spread, axis=0)[:count]
        reached = np.isfinite(self._surfaces[0]) & self.able
        decided = np.where(reached | ~reached.any(axis=0), logs, np.inf).argmin(axis=0)
        # What is decided is always among those that are drawn.
        order[-1] = np.where((order == decided).any(axis=0), order[-1], decided)
        chosen, wide = (np.take_along_axis(array, order, axis=0) for array in (logs, spread))
        there = np.isfinite(chosen)
        centre = np.where(there, chosen, 0.0)
        drawn = np.where(there, centre + wide * _draws(chosen.shape), np.inf)
        place = (order == decided).argmax(axis=0)[None, None]
        took = np.take_along_axis(drawn, np.broadcast_to(place, (DRAWS, 1, *place.shape[2:])), axis=1)[:, 0]
        with np.errstate(invalid="ignore"):
            lost = np.expm1(np.clip(took - drawn.min(axis=1), 0.0, MOST)).mean(axis=0)
        return np.where(there.any(axis=0), 100.0 * lost, 0.0)

    @cached_property
    def rivals(self) -> BoolArray:
        """Where a method can still be the fastest: the lower end of its band is below the upper one of the best."""
        logs, spread = self.predicted
        highest = (logs + SURE * spread).min(axis=0)
        return np.asarray(self.able & (logs - SURE * spread <= highest))

    @property
    def mean_loss(self) -> float:
        """Expected loss in percent over all sizes of the grid, by their weights."""
        return float((self.loss * self.weights).sum() / (self.weights.sum() or 1.0))


@lru_cache(maxsize=2)
def _draws(shape: tuple[int, ...]) -> FloatArray:
    """`DRAWS` times standard normal numbers."""
    draws = np.random.default_rng(1).standard_normal((DRAWS, *shape))
    draws.flags.writeable = False
    return draws
