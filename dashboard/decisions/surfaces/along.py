"""A slice through the surfaces: times between measured sizes along one axis, with their bands."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.measured.map import methods_of
from dashboard.decisions.surfaces.grow import Table
from dashboard.decisions.surfaces.judged import choose_predictor, left_out
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from loaders import facet_names

SliceAxis = Literal["message_size", "comm_size"]

POINTS = 160
"""Sizes along a slice, beside the measured ones."""

BEYOND = 1.5
"""Beyond the measured sizes a slice goes on to so many times the last."""


@dataclass(frozen=True, eq=False)
class Along:
    """Times of all methods along one axis."""

    #: The size that goes on, and the value of the other one.
    axis: SliceAxis
    held: int
    #: Ascending, measured ones among them.
    sizes: IntArray
    #: Seconds, ``(method, size)``: what is expected, and the band that holds `surfaces.surface.SURE` of such times; NaN
    #: where nothing is known of a method.
    time: FloatArray
    low: FloatArray
    high: FloatArray
    #: Seconds, ``(method, size)``; NaN where not measured.
    measured: FloatArray
    #: Whether each size lies between the measured ones; figures are of these.
    inside: BoolArray

    @cached_property
    def weights(self) -> FloatArray:
        """Share of the measured range that each size stands for, by the logarithm; 0 beyond it."""
        spans = np.gradient(np.log(np.maximum(self.sizes, 0.5))) if self.sizes.size > 1 else np.ones(1)
        inside = np.where(self.inside, spans, 0.0)
        return np.asarray(inside / inside.sum())

    @cached_property
    def fastest(self) -> IntArray:
        """The method that is expected to be the fastest at each size; -1 where none is known."""
        known = np.isfinite(self.time).any(axis=0)
        return np.where(known, np.where(np.isnan(self.time), np.inf, self.time).argmin(axis=0), -1)

    @property
    def sure(self) -> BoolArray:
        """Where the band of the fastest method lies below all others'."""
        places = np.arange(self.sizes.size)
        others = np.where(np.isnan(self.low), np.inf, self.low)
        others[self.fastest, places] = np.inf
        return np.asarray(self.high[self.fastest, places] < others.min(axis=0))

    def expected_penalty(self, chosen: IntArray) -> float:
        """Percent above the fastest, as expected, mean over the sizes inside by the logarithm; NaN where none is known.

        Parameters
        ----------
        chosen
            The method taken at each size.
        """
        places = np.arange(self.sizes.size)
        percent = 100 * (self.time[chosen, places] / self.time[self.fastest, places] - 1)
        known = np.isfinite(percent) & self.inside
        return float(np.average(percent[known], weights=self.weights[known])) if known.any() else float("nan")


class Slicing:
    """Surfaces of measurements to cut through, by the predictor that left-out lines speak for.

    Parameters
    ----------
    cube
        Measurements of one number of processes per node.

    Attributes
    ----------
    judged
        The predictors that were tried, the mean penalty of their fastest methods at left-out lines beside them.
    predictor
        The one that was taken.
    cube, surfaces
        The measurements, and surfaces by it.
    """

    def __init__(self, cube: xr.Dataset) -> None:
        self.cube = cube
        times = cube["time"].transpose("method", *SIZES).values
        self._table = Table.of(cube, times, methods_of(cube))
        table = self._table.common()
        # Sizes that were chosen for what they tell are no judges.
        folds = [] if cube.attrs.get(facet_names.POINTS) == facet_names.ADAPTIVE else left_out(table)
        self.predictor, self.judged = choose_predictor(folds)
        self.surfaces = table.surfaces(self.predictor)

    def sizes(self, axis: SliceAxis) -> IntArray:
        """Sizes along an axis at which anything was measured, ascending."""
        sizes: IntArray = getattr(self._table, f"{axis}s")
        return sizes

    def along(self, axis: SliceAxis, held: int) -> Along:
        """Cut along an axis, at a value of the other size."""
        known = self.sizes(axis)
        ends = max(int(known[0]), 1), max(int(known[-1]), 1) * BEYOND
        sizes = np.union1d(known, np.round(np.geomspace(*ends, POINTS)).astype(np.int64))
        other: SliceAxis = "comm_size" if axis == "message_size" else "message_size"
        across = SIZES.index(other) + 1
        wanted = {axis: sizes, other: np.array([held])}
        predicted = self.surfaces.at(wanted["comm_size"], wanted["message_size"])
        logs, half = (np.squeeze(each, across) for each in (predicted.log_time, predicted.half_width))
        measured = np.full(logs.shape, np.nan)
        for place in np.flatnonzero(self.sizes(other) == held):
            measured[:, np.searchsorted(sizes, known)] = self._table.times.take(place, across)
        inside = (sizes >= known[0]) & (sizes <= known[-1])
        return Along(axis, held, sizes, np.exp(logs), np.exp(logs - half), np.exp(logs + half), measured, inside)
