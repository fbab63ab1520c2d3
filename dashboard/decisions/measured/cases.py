"""Training cases: what is measured, one row for each cell, as learners of trees take it."""

from dataclasses import dataclass

import numpy as np

from dashboard.decisions.function.nodes import Method
from dashboard.domain.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Cases:
    """The cells where something was measured."""

    #: Names of the attributes that may be tested.
    attributes: tuple[str, ...]
    #: ``(case, attribute)`` int64.
    values: IntArray
    #: ``(case,)`` index into `methods`: the class of the case.
    best: IntArray
    #: ``(case, method)`` seconds that count (`dashboard.decisions.surfaces.counted`), NaN of methods that the table of
    #: the case does not have.
    times: FloatArray
    #: ``(case,)`` how often a workload calls it; 1 without a workload.
    weights: FloatArray
    #: ``(case, 3)``: slice, row and column of the cell.
    where: IntArray
    #: The methods.
    methods: tuple[Method, ...]
    #: For attributes of named values, the names by position.
    categories: dict[str, tuple[str, ...]]

    def __len__(self) -> int:
        return int(self.best.size)

    def costs(self) -> FloatArray:
        """Penalty of each method in percent, ``(case, method)``, NaN of those that the table does not have."""
        fastest = np.nanmin(self.times, axis=1, keepdims=True)
        return np.asarray(100.0 * (self.times - fastest) / fastest)
