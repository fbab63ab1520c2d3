"""Times that trees are judged by: those measured, and where a method was not, what it counts there by one rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.measured.doubles import as_run
from dashboard.decisions.measured.map import DIMS, methods_of, time_blocks
from dashboard.decisions.surfaces.lines import limited_to, scale
from dashboard.decisions.surfaces.surface import Surfaces
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.unmeasured import DOUBLING, UNKNOWN


def counted(
    times: FloatArray, comm_sizes: IntArray, message_sizes: IntArray, incumbent: int | None = None
) -> FloatArray:
    """Fill in times that were not measured, by `dashboard.domain.unmeasured.RULE`.

    Parameters
    ----------
    times
        Seconds, ``(method, comm_size, message_size)``, NaN where not measured.
    comm_sizes, message_sizes
        Ascending.
    incumbent
        Place of the library's own decision; None: none of them is.

    Returns
    -------
    array
        The same, NaN only where nothing was measured at all.
    """
    measured = np.isfinite(times)
    there = measured.any(axis=0)
    if measured[:, there].all():
        return times
    limited = limited_to(measured, comm_sizes, incumbent)
    ends = _Ends(np.fmin.reduce(times, axis=0), np.fmax.reduce(times, axis=0), limited)
    return _filled(times, comm_sizes, message_sizes, ends)


@dataclass(frozen=True, eq=False)
class _Ends:
    """The fastest and the slowest time of all methods at each size, in seconds, and which methods are `limited_to`."""

    low: FloatArray
    high: FloatArray
    limited: IntArray


def _filled(times: FloatArray, comm_sizes: IntArray, message_sizes: IntArray, ends: _Ends) -> FloatArray:
    """Fill in times of some methods; NaN where nothing was measured of any."""
    low, there = ends.low, np.isfinite(ends.low)
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    known = np.ix_(np.arange(len(times)), rows, columns)
    sizes = comm_sizes[rows], message_sizes[columns]
    times_filled = np.full(times.shape, np.nan)
    times_filled[known] = np.exp(Surfaces(times[known], *sizes, limited=ends.limited).at(*sizes).log_time)
    times_filled = np.where(np.isfinite(times), times, np.maximum(times_filled, low))
    doublings = [scale(each) / np.log(2) for each in (comm_sizes, message_sizes)]
    for method in np.flatnonzero((there & np.isnan(times_filled)).any(axis=(1, 2))):
        open_cells, own = np.nonzero(there & np.isnan(times_filled[method])), np.nonzero(np.isfinite(times[method]))
        if own[0].size:
            away = sum(
                np.abs(axis[here][:, None] - axis[at])
                for axis, here, at in zip(doublings, open_cells, own, strict=True)
            )
            nearest = np.argmin(away, axis=1)
            ratio = (times[method][own] / low[own])[nearest] + DOUBLING / 100 * np.min(away, axis=1)
            times_filled[method][open_cells] = low[open_cells] * ratio
        else:
            times_filled[method][open_cells] = ends.high[open_cells] + low[open_cells] * (UNKNOWN / 100)
    return times_filled


@dataclass(eq=False)
class Counted:
    """Times of one table that decisions are judged by, worked out for the methods that are asked for."""

    #: Measurements without ``ppn``, in memory or lazy.
    cube: xr.Dataset
    _known: dict[int, FloatArray] = field(default_factory=dict)
    _ends: _Ends | None = None

    def times(self, methods: IntArray) -> FloatArray:
        """Seconds of these methods, ``(method, comm_size, message_size)``; NaN where nothing was measured at all."""
        new = np.setdiff1d(methods, list(self._known))
        if new.size:
            cube = as_run(self.cube)
            times = np.asarray(cube["time"].transpose(*DIMS).isel(method=new).values, dtype=np.float64)
            sizes = np.asarray(cube["comm_size"].values), np.asarray(cube["message_size"].values)
            ends = self._ends_of(cube)
            filled = _filled(times, *sizes, replace(ends, limited=ends.limited[:, new]))
            self._known |= zip(new.tolist(), filled, strict=True)
        return np.stack([self._known[method] for method in methods.tolist()])

    def _ends_of(self, cube: xr.Dataset) -> _Ends:
        if self._ends is None:
            shape = tuple(cube.sizes[name] for name in DIMS)
            low, high = np.full(shape[1:], np.nan), np.full(shape[1:], np.nan)
            there = np.zeros((*shape[:2], 1), dtype=np.bool_)
            for rows, time in time_blocks(cube):
                low[rows], high[rows] = np.fmin.reduce(time, axis=0), np.fmax.reduce(time, axis=0)
                there[:, rows] = np.isfinite(time).any(axis=2, keepdims=True)
            limited = limited_to(there, np.asarray(cube["comm_size"].values), default_of(methods_of(self.cube)))
            self._ends = _Ends(low, high, limited)
        return self._ends


@dataclass(frozen=True, eq=False)
class Window:
    """Some lines of a table, whose times are known from all of it."""

    #: The table.
    around: Counted | Window
    #: Places of communicator and message sizes.
    rows: IntArray
    columns: IntArray

    def times(self, methods: IntArray) -> FloatArray:
        """As `Counted.times`."""
        return self.around.times(methods)[np.ix_(np.arange(methods.size), self.rows, self.columns)]
