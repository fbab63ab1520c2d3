"""What a leaf costs: penalties summed over rectangles, as whole numbers so that sums are exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.grown.optimal.rectangles import Rectangles
from dashboard.decisions.measured.slice import Slice
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.errors import NothingMeasuredError


@dataclass(frozen=True, eq=False)
class Costs:
    """Penalties of every method over a grid of cells."""

    #: ``(method, row, column)``: penalty in percent times the weight of the cell; 0 for all where none was measured.
    cells: FloatArray
    #: Sum of the weights of measured cells: what sums of `cells` are divided by for a mean.
    weight: float

    @classmethod
    def of(cls, part: Slice) -> Costs:
        """Take the penalties of one slice of a problem, over the fastest method of each cell.

        A method that was not measured in a cell where others were costs what `dashboard.domain.unmeasured.RULE` says.

        Raises
        ------
        NothingMeasuredError
            When the workload calls none of the measured cells.
        """
        times = part.counted()
        best = np.asarray(part.dmap["best_time"].transpose(*SIZES).values)
        measured = ~np.isnan(best)
        weights = np.ones(best.shape) if part.weights is None else part.weights
        weight = float(weights[measured].sum())
        if not weight > 0:
            raise NothingMeasuredError("the workload calls none of the measured sizes")
        return cls(np.where(measured, 100.0 * (times - best) / best * weights, 0.0), weight)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.cells.shape[1], self.cells.shape[2]

    def blocks(self, row_starts: IntArray, column_starts: IntArray) -> Costs:
        """Sum up over blocks of cells, given the first row (column) of each."""
        sums = np.add.reduceat(np.add.reduceat(self.cells, row_starts, axis=1), column_starts, axis=2)
        return Costs(sums, self.weight)

    def cost(self, spot: Sequence[int]) -> tuple[float, int]:
        """What a leaf over ``(top, left, height, width)`` costs, and the first method that costs so little."""
        top, left, height, width = spot
        here = slice(None), slice(top, top + height), slice(left, left + width)
        method = int(self._rounded_up[here].sum(axis=(1, 2)).argmin())
        return float(self.cells[method, top : top + height, left : left + width].sum()), method

    @property
    def step(self) -> float:
        """Costs of `leaves` are whole multiples of this, more than there can be leaves.

        What is added per leaf, if it leaves 1 on division by the step, thus breaks ties in favour of
        fewer leaves and tells their number.
        """
        return float(self.cells[0].size + 1)

    @cached_property
    def unit(self) -> float:
        """What stands for one percent (of one cell of weight 1) in `leaves`.

        As fine as leaves sums of all cells below 2^62, and below 2^53 what any search adds up: costs that
        can be in a best tree, and prices per leaf up to the cost of one leaf for all.
        """
        top = float(self.capped.max(axis=0).sum())
        if top == 0:
            return self.step
        steps = math.log2(top) - 62
        if self._alone > 0:
            steps = max(steps, math.log2(self._alone * 16) - 53)
        return float(2.0 ** math.floor(-steps - math.log2(self.step) - 1) * self.step)

    @cached_property
    def capped(self) -> FloatArray:
        """Costs of cells, none so great that finer ones are lost beside it.

        A leaf that costs more than one leaf for all is in no best tree, whatever it costs.
        """
        return np.minimum(self.cells, 2 * self._alone) if self._alone else self.cells

    @cached_property
    def _alone(self) -> float:
        """What one leaf for all costs."""
        return float(self.cells.sum(axis=(1, 2)).min())

    @cached_property
    def highest_price(self) -> float:
        """A price per leaf in units that no saving makes up for: greater ones change nothing."""
        return float(self._rounded_up.sum(axis=(1, 2)).min()) + self.step

    @cached_property
    def _rounded_up(self) -> IntArray:
        """Costs of cells in units, rounded up, so that only what costs nothing is 0."""
        return np.asarray(np.ceil(self.capped * (self.unit / self.step)) * self.step, dtype=np.int64)

    def leaves(self, rectangles: Rectangles) -> FloatArray:
        """Cost of every rectangle as a leaf in units; infinite where one leaf for all costs less."""
        sums = np.zeros((len(self.cells), self.shape[0] + 1, self.shape[1] + 1), dtype=np.int64)
        np.cumsum(np.cumsum(self._rounded_up, axis=1), axis=2, out=sums[:, 1:, 1:])
        table = np.empty(rectangles.count)
        for height in range(1, rectangles.rows + 1):
            band = sums[:, height:] - sums[:, :-height]
            for width in range(1, rectangles.columns + 1):
                block = band[:, :, width:] - band[:, :, :-width]
                rectangles.of_shape(table, height, width)[...] = block.min(axis=0)
        table[table > table[-1]] = np.inf
        return table
