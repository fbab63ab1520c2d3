"""What a leaf loses: penalties summed up so that no method is taken that the table does not have, if that can be."""

import numpy as np

from dashboard.decisions.measured.cases import Cases
from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.domain.errors import NothingMeasuredError


def counted(cases: Cases) -> BoolArray:
    """Which cases count: those that a workload calls at all.

    Raises
    ------
    NothingMeasuredError
        When no case does.
    """
    kept = cases.weights > 0
    if not kept.any():
        raise NothingMeasuredError("the workload calls none of the measured sizes")
    return kept


def losses(cases: Cases) -> tuple[FloatArray, float]:
    """Weigh the penalties for summing up over the cases of a leaf.

    Returns
    -------
    table
        ``(case, method)``: penalty in percent times the weight of the case; of a method that the table of the case
        does not have, `unmeasured`. Cases without weight lose nothing.
    unmeasured
        More than all penalties together, so that sums compare first the number of cells that do not have a
        method, then penalties.
    """
    weighed = cases.costs() * cases.weights[:, None]
    unmeasured = 1.0 + float(np.nanmax(weighed, axis=1).sum())
    return np.where(np.isnan(weighed), np.sign(cases.weights)[:, None] * unmeasured, weighed), unmeasured
