"""How sure a map is: the probability that the method of a cell is the fastest at the sizes that the cell stands for."""

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.measured.doubles import competing
from dashboard.decisions.surfaces.along import Slicing
from dashboard.decisions.surfaces.grid import comm_sizes_between, message_sizes_between
from dashboard.decisions.surfaces.lines import scale
from dashboard.decisions.surfaces.surface import Surfaces
from dashboard.domain.arrays import FloatArray, IntArray

DEVIATIONS = 1.645
"""Half of a band that holds `surfaces.surface.SURE` of such times, in standard deviations."""

NODES = 32
"""Times of equal probability that a method is taken to need at a size."""


def sureness(cube: xr.Dataset, chosen: IntArray, slicing: Slicing | None = None) -> FloatArray:
    """Find the probability that the chosen method is the fastest, by the bands of the surfaces.

    The logarithm of each method's time is taken to be normal, about what the surface tells that left-out sizes speak
    for, as wide as the band of that and the scatter of its repetitions, and independent of the other methods'. A cell
    stands for its own sizes and those between the measured ones that are nearest to them, by the logarithm; its figure
    is their mean.

    Parameters
    ----------
    cube
        Measurements of one number of processes per node.
    chosen
        ``(comm_size, message_size)``: place of a method; -1: none.
    slicing
        Surfaces of these measurements, if they are there; None: they are made.

    Returns
    -------
    float64 ``(comm_size, message_size)``
        From 0 to 1; NaN where nothing is chosen, or nothing is known of the chosen method.
    """
    every = [np.asarray(cube[name].values) for name in SIZES]
    times = np.asarray(cube["time"].transpose("method", *SIZES).values, dtype=np.float64)
    there = np.asarray(np.any(np.isfinite(times), axis=0))
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    result = np.full(chosen.shape, np.nan)
    if rows.size:
        kept = np.ix_(rows, columns)
        errors = _errors(cube, times)[:, kept[0], kept[1]]
        sizes = every[0][rows], every[1][columns]
        result[kept] = _of_cells((slicing or Slicing(cube)).surfaces, errors, sizes, chosen[kept])
    return result


def expected(cube: xr.Dataset) -> tuple[IntArray, FloatArray]:
    """Find the fastest method so far of each size of a grid, or else the one expected to be, and how sure that is.

    Parameters
    ----------
    cube
        Measurements of one number of processes per node over the grid, most of which may be missing.

    Returns
    -------
    int64, float64 ``(comm_size, message_size)``
        Place of the method, -1 where nothing is known of any; and the probability that it is the fastest at that size,
        as of `sureness`, NaN there. Times are predicted as those are that an adaptive campaign chooses by.
    """
    cube = competing(cube)
    comm_sizes, message_sizes = (np.asarray(cube[name].values) for name in SIZES)
    times = np.asarray(cube["time"].transpose("method", *SIZES).values, dtype=np.float64)
    there = np.asarray(np.any(np.isfinite(times), axis=0))
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    if not rows.size:
        return np.full(there.shape, -1), np.full(there.shape, np.nan)
    surfaces = Surfaces(times[:, rows][:, :, columns], comm_sizes[rows], message_sizes[columns])
    predicted = surfaces.at(comm_sizes, message_sizes)
    logs = np.where(np.isfinite(times), np.log(times), predicted.log_time)
    # Where anything was measured, the fastest of that; others may well be expected to be faster.
    shown = np.where(there, np.log(times), logs)
    best = np.where(np.isnan(shown), np.inf, shown).argmin(axis=0)
    spread = np.hypot(predicted.half_width / DEVIATIONS, _errors(cube, times))
    probable = _probability(logs, spread, best)
    return np.where(np.isnan(probable), -1, best), probable


def _errors(cube: xr.Dataset, times: FloatArray) -> FloatArray:
    """Standard error of the logarithm of each time; 0 where the results do not tell it."""
    if "time_std" not in cube or "repetitions" not in cube:
        return np.zeros(times.shape)
    deviation, count = (cube[name].transpose("method", *SIZES).values for name in ("time_std", "repetitions"))
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = deviation / times / np.sqrt(count)
    return np.where(np.isfinite(errors), errors, 0.0)


def _of_cells(
    surfaces: Surfaces, errors: FloatArray, measured: tuple[IntArray, IntArray], chosen: IntArray
) -> FloatArray:
    wanted = comm_sizes_between(measured[0]), message_sizes_between(measured[1])
    rows, columns = (
        np.abs(scale(sizes)[:, None] - scale(known)).argmin(axis=1)
        for sizes, known in zip(wanted, measured, strict=True)
    )
    predicted = surfaces.at(*wanted)
    noise = errors[:, rows][:, :, columns]
    here = chosen[np.ix_(rows, columns)]
    probable = _probability(predicted.log_time, np.hypot(predicted.half_width / DEVIATIONS, noise), here)
    place = (rows[:, None] * measured[1].size + columns).ravel()
    known = np.isfinite(probable).ravel()
    sums = np.bincount(place[known], probable.ravel()[known], chosen.size)
    with np.errstate(invalid="ignore"):
        return np.asarray((sums / np.bincount(place[known], minlength=chosen.size)).reshape(chosen.shape))


def _probability(logs: FloatArray, spread: FloatArray, chosen: IntArray) -> FloatArray:
    """Probability at each size that the chosen method's time is below all others'; NaN where it has none."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 - takes a while to import

    at = np.maximum(chosen, 0)[None]
    centre, wide = (np.take_along_axis(table, at, axis=0)[0] for table in (logs, spread))
    others = np.where(np.isnan(logs), np.inf, logs)
    np.put_along_axis(others, at, np.inf, axis=0)
    total = np.zeros(chosen.shape)
    for node in ndtri((np.arange(NODES) + 0.5) / NODES):
        total += ndtr((others - (centre + node * wide)) / spread).prod(axis=0)
    return np.where((chosen < 0) | np.isnan(centre), np.nan, total / NODES)
