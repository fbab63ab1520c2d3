"""What a decision gains over the library's own, where both were measured side by side."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.grown.default import grow
from dashboard.decisions.judged.penalty import weights_of
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import FloatArray


class Gain(NamedTuple):
    """Over the cells where the chosen method and the library's own decision were measured."""

    #: Percent less time than the default takes, below 0 for more; mean of the cells, weighted where there is a
    #: workload. NaN without any cell that is called.
    mean: float
    #: In how many of them it takes more time; both count called cells only.
    slower: int
    cells: int
    #: Cells where both were measured, called or not.
    both: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it: None for what is not a number."""
        return {**self._asdict(), "mean": self.mean if math.isfinite(self.mean) else None}


def measured_times(penalties: xr.Dataset) -> FloatArray:
    """Seconds that what is chosen takes in each cell; NaN where it was not measured.

    What a method counts there is no time that anybody took.
    """
    return np.asarray(np.where(penalties["unmeasured"].values, np.nan, penalties["chosen_time"].values))


def default_times(problem: Problem) -> list[FloatArray] | None:
    """Seconds that the library's own decision takes, for each slice ``(comm_size, message_size)``.

    NaN where it was not measured; None where it is not among the methods.
    """
    if default_of(problem.methods) is None:
        return None
    return [measured_times(table) for table in problem.penalties(grow(problem))]


def gain_over(default: Sequence[FloatArray], penalties: Sequence[xr.Dataset]) -> Gain:
    """Compare what is chosen with the library's own decision.

    Parameters
    ----------
    default
        As `default_times` gives it.
    penalties
        As `Problem.penalties` gives them, for the same slices.
    """
    ratios, weights = [], []
    for untuned, table in zip(default, penalties, strict=True):
        tuned = measured_times(table)
        both = np.isfinite(untuned) & np.isfinite(tuned)
        ratios.append(tuned[both] / untuned[both])
        weights.append(weights_of(table)[both])
    ratio, calls = np.concatenate(ratios), np.concatenate(weights)
    called = calls > 0
    mean = 100 * float(np.average(1 - ratio, weights=calls)) if called.any() else math.nan
    return Gain(mean, int((ratio > 1)[called].sum()), int(called.sum()), ratio.size)
