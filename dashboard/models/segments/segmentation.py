"""What segments are worth: the optimal size of one algorithm, the formula's beside it, and what is near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.models.collectives.model import Variant
from dashboard.models.p2p import PointToPointModel
from dashboard.models.registry import model_of
from dashboard.models.segments.search import Curve, counted_segment, optimal_segment, segment_curve


@dataclass(frozen=True)
class Segmentation:
    """One algorithm under one model.

    Attributes
    ----------
    curve
        Duration over segment sizes, the optimum among them.
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
        at = np.array([counted, 0.0, max(round(formula), 1) if formula else 0.0])
        time, longest, by_formula = model.predict(parameters, comm_size, message_size, at, variant=variant).tolist()
        curve = segment_curve(*where, variant=variant, optimum=counted)
        return cls(curve, counted or largest, time, longest, counted > 0, formula, by_formula)

    def within(self, percent: float) -> tuple[float, float]:
        """Least and largest segment size around the best one whose duration is at most so much above the least."""
        low, high = self._around(percent)
        return float(self.curve.segment_size[low]), float(self.curve.segment_size[high])

    def stretch(self, percent: float) -> tuple[FloatArray, FloatArray]:
        """The part of the curve that `within` tells of; NaN where it is above in between."""
        low, high = self._around(percent)
        sizes, time = self.curve.segment_size[low : high + 1], self.curve.time[low : high + 1]
        return sizes, np.where(time <= np.nanmin(self.curve.time) * (1 + percent / 100), time, np.nan)

    def _around(self, percent: float) -> tuple[int, int]:
        # Numbers of segments are whole, so the curve is ragged: what lies between first and last may be above.
        sizes = self.curve.within(percent)
        low, high = np.searchsorted(self.curve.segment_size, [sizes[0], sizes[-1]])
        return int(low), int(high)
