"""What segments are worth: the optimal size of one algorithm, the formula's beside it, and what is near."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.models.collectives.model import Variant
from dashboard.models.p2p import PointToPointModel
from dashboard.models.registry import model_of
from dashboard.models.segments.search import Curve, counted_segment, optimal_segment, turning_sizes

#: Least segment size that is drawn, B, and how many of them.
_LEAST, _POINTS = 16.0, 240


@dataclass(frozen=True)
class Segmentation:
    """One algorithm under one model.

    Attributes
    ----------
    curve
        Duration over segment sizes from 16 B to the whole, the optimum among them (Figure 6.1).
    turns
        That at `turning_sizes`: what lies between is above the one before and below the one after.
    predict
        Duration, s, of segment sizes.
    optimum
        Segment size of the least duration, whole segments counted, B; the whole where segments do not pay.
    time, whole_time
        Duration there, and without segments, s.
    pays
        Whether segments of any size pay.
    formula, formula_time
        Segment size by the closed form or search, whose numbers of segments need not be whole, B, and the duration,
        s, with whole segments of it; 0 and `whole_time` where it has none.
    """

    curve: Curve
    turns: Curve
    predict: Callable[[FloatArray], FloatArray]
    optimum: float
    time: float
    whole_time: float
    pays: bool
    formula: float
    formula_time: float

    @classmethod
    def of(
        cls,
        collective: str,
        algorithm: str,
        parameters: PointToPointModel,
        comm_size: int,
        message_size: int,
        variant: Variant = "corrected",
    ) -> Segmentation:
        """Compute it.

        Raises
        ------
        ModelError
            When the algorithm is not segmented.
        """
        model, where = model_of(collective, algorithm), (collective, algorithm, parameters, comm_size, message_size)
        formula = float(optimal_segment(*where, variant=variant))
        counted = float(counted_segment(*where, variant=variant))
        largest = max(float(np.ceil(model.largest_segment(float(comm_size), float(message_size)))), 1.0)
        predict = partial(model.predict, parameters, comm_size, message_size, variant=variant)
        time, longest, by_formula = predict(
            np.array([counted, 0.0, max(round(formula), 1) if formula else 0.0])
        ).tolist()
        drawn = np.round(np.geomspace(min(_LEAST, largest), largest, _POINTS))
        curve, turns = (
            Curve(sizes, predict(sizes))
            for sizes in (np.unique(np.append(drawn, counted or largest)), turning_sizes(largest))
        )
        return cls(curve, turns, predict, counted or largest, time, longest, counted > 0, formula, by_formula)

    def within(self, percent: float) -> tuple[float, float]:
        """Least and largest segment size whose duration is at most so much above the least."""
        sizes, low = self.turns.segment_size, np.flatnonzero(self.turns.low(percent))
        most = np.nanmin(self.turns.time) * (1 + percent / 100)
        least, last, above = sizes[low[0]], sizes[low[-1]], sizes[min(low[-1] + 1, sizes.size - 1)]
        while above - last > 1:
            middle = np.floor((last + above) / 2)
            last, above = (middle, above) if self.predict(np.array([middle]))[0] <= most else (last, middle)
        return float(least), float(last)

    def gaps(self, percent: float) -> bool:
        """Whether the duration is above that in between: numbers of segments are whole."""
        low = np.flatnonzero(self.turns.low(percent))
        return bool(low.size <= low[-1] - low[0])

    def stretch(self, percent: float) -> tuple[FloatArray, FloatArray]:
        """The part of the curve that `within` tells of; NaN where it is above in between."""
        low, high = self.within(percent)
        part = (low <= self.curve.segment_size) & (self.curve.segment_size <= high)
        return self.curve.segment_size[part], np.where(self.curve.low(percent), self.curve.time, np.nan)[part]
