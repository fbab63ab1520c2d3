"""Which methods cannot be told from the best: confidence intervals and tests over repetitions.

Times are compared as logarithms, so that differences are ratios and the long upper tail of measured times weighs less.
Where the single repetitions are there, the test is Yuen's: Welch's t test of means from which the upper and lower fifth
are trimmed, with the variance of the winsorised values (K. K. Yuen, "The two-sample trimmed t for unequal population
variances", Biometrika 61, 1974). It holds its level with unequal spreads, outliers and five repetitions; a rank test of
five against five can never give less than 0.004, which no correction for 24 other methods survives. Where only mean,
standard deviation and number of repetitions are known, it is Welch's t test of these, with the relative standard error
as the standard error of the logarithm.

Each method is tested, one-sided, against the one with the smallest time; p-values are corrected for the
number of methods of the cell by Holm's procedure (S. Holm, Scandinavian Journal of Statistics 6,
1979). So the method that is really best is left out of the set with a probability of at most about
the level. The intervals of single methods are those of the median by order statistics, which assume
nothing of the distribution (as T. Hoefler and R. Belli recommend, "Scientific benchmarking of parallel
computing systems", SC 2015), and of Student's t where there are too few repetitions or only a summary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.measured.doubles import competing
from dashboard.decisions.measured.map import DIMS, check_cube, select_ppn, time_blocks
from dashboard.decisions.measured.samples import Place, has_samples, sample_blocks
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.errors import DecisionError, OptionError

Moments = tuple[FloatArray, FloatArray, FloatArray]

TRIM = 0.2
"""Share that Yuen's test trims from each end."""

UNTESTABLE = "one repetition, or its number or spread is not known"
"""Why a cell cannot be tested, in words."""


@dataclass(frozen=True)
class _Block:
    """Some cells, arrays over method, communicator and message size; logarithms of seconds.

    `centre` is the (trimmed) mean, `error` its variance, `freedom` the degrees of freedom of that,
    `low` and `high` the confidence interval; NaN where one repetition or an unknown spread leaves nothing to say.
    """

    place: Place
    time: FloatArray
    centre: FloatArray
    error: FloatArray
    freedom: FloatArray
    low: FloatArray
    high: FloatArray


def indistinguishable(cube: xr.Dataset, level: float = 0.05, *, ppn: int | None = None) -> xr.Dataset:
    """Find the methods of every cell that are statistically indistinguishable from the best.

    Parameters
    ----------
    cube
        Results of one collective, in memory or lazy.
    level
        Probability, above 0 and below 1, to leave out a method that is as fast as any; confidence
        intervals have 1 - `level`.
    ppn
        As for `select_ppn`.

    Returns
    -------
    Dataset with dims ``method``, ``comm_size``, ``message_size``
        ``tied`` (bool; the fastest always is), ``testable`` (bool: two repetitions and their spread are
        known of this method and of the fastest), ``p`` (corrected; NaN where not testable), ``ci_low``
        and ``ci_high`` (seconds, NaN where there is none). A method that is not testable is not tied.
        Attributes: ``level``, ``cells``, ``several`` (cells with more than one tied method), ``tested``,
        ``untestable`` (cells with two methods of which none could be tested) and ``note``, for people.

    Raises
    ------
    OptionError
        When the level is outside its range.
    DecisionError
        When `cube` is no cube or a time is not above 0.
    """
    if not 0 < level < 1:
        raise OptionError(f"level is {level}, expected a number above 0 and below 1")
    flat, chosen = select_ppn(competing(check_cube(cube)), ppn)
    shape = tuple(flat.sizes[name] for name in DIMS)
    tied, testable = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    numbers = {name: np.full(shape, np.nan) for name in ("p", "ci_low", "ci_high")}
    for block in _blocks(flat, level):
        there = (slice(None), *block.place)
        best = np.where(np.isnan(block.time), np.inf, block.time).argmin(axis=0)[None]
        p = _p_values(block, best)
        adjusted = holm(p)
        is_best = (np.arange(shape[0])[:, None, None] == best) & ~np.isnan(block.time)
        testable[there] = ~np.isnan(adjusted) | (is_best & ~np.isnan(block.error))
        tied[there] = is_best | (adjusted > level)
        numbers["p"][there] = adjusted
        numbers["ci_low"][there], numbers["ci_high"][there] = np.exp(block.low), np.exp(block.high)
    return _dataset(flat, {"tied": tied, "testable": testable, **numbers}, level, chosen)


def log_times(cube: xr.Dataset) -> xr.Dataset:
    """What is known of the logarithm of each time.

    Parameters
    ----------
    cube
        Results of one collective with one number of processes per node.

    Returns
    -------
    Dataset with dims ``method``, ``comm_size``, ``message_size``
        ``centre`` (trimmed mean of log seconds), ``error`` (its variance; NaN where one repetition or an unknown
        spread says nothing) and ``freedom`` (degrees of freedom of that).
    """
    tables = {name: np.full(tuple(cube.sizes[dim] for dim in DIMS), np.nan) for name in ("centre", "error", "freedom")}
    for block in _blocks(cube, 0.05):
        for name, values in tables.items():
            values[(slice(None), *block.place)] = getattr(block, name)
    coords = {dim: cube[dim].values for dim in DIMS}
    return xr.Dataset({name: (DIMS, values) for name, values in tables.items()}, coords)


def _blocks(cube: xr.Dataset, level: float) -> Iterator[_Block]:
    if has_samples(cube):
        for (rows, columns), samples in sample_blocks(cube):
            time = cube["time"].isel(comm_size=rows, message_size=columns).transpose(*DIMS).values
            yield _block(cube, (rows, columns), np.asarray(time, dtype=np.float64), samples, level)
    else:
        for rows, time in time_blocks(cube):
            yield _block(cube, (rows, slice(None)), time, None, level)


def _block(cube: xr.Dataset, place: Place, time: FloatArray, samples: FloatArray | None, level: float) -> _Block:
    """Take what is known of some cells from the repetitions, and from their summary where there are none."""
    for values in (time, samples):
        if values is not None and not (np.isnan(values) | ((values > 0) & np.isfinite(values))).all():
            raise DecisionError("a time is not above 0 s or not finite; times must be, their ratios are compared")
    with np.errstate(divide="ignore"):
        centre, error, freedom = _summary(cube, *place, time)
    low, high = _student(centre, error, freedom, level)
    if samples is not None:
        logs = np.sort(np.log(samples), axis=-1)
        number = np.isfinite(logs).sum(axis=-1)
        raw = _trimmed(logs, number)
        ends = _order_interval(logs, number, level)
        student = _student(*raw, level)
        enough = number >= 2
        known = zip(raw, (centre, error, freedom), strict=True)
        centre, error, freedom = (np.where(enough, new, old) for new, old in known)
        ranked = ~np.isnan(ends[0])
        bounds = zip(ends, student, (low, high), strict=True)
        low, high = (np.where(enough, np.where(ranked, end, t), old) for end, t, old in bounds)
    return _Block(place, time, centre, error, freedom, low, high)


def _summary(cube: xr.Dataset, rows: slice, columns: slice, time: FloatArray) -> Moments:
    """Centre, error and degrees of freedom from time, standard deviation and number of repetitions."""
    missing = [name for name in ("time_std", "repetitions") if name not in cube.data_vars]
    if missing:
        return np.log(time), np.full(time.shape, np.nan), np.full(time.shape, np.nan)
    std, count = (
        np.asarray(cube[name].isel(comm_size=rows, message_size=columns).transpose(*DIMS).values, dtype=np.float64)
        for name in ("time_std", "repetitions")
    )
    known = np.isfinite(std) & (std >= 0) & (count >= 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(known, (std / time) ** 2 / count, np.nan)
    return np.log(time), error, np.where(known, count - 1, np.nan)


def _trimmed(logs: FloatArray, number: IntArray) -> Moments:
    """Trimmed mean, its variance by the winsorised values (Yuen), degrees of freedom; `logs` sorted, NaN last."""
    cut = np.floor(TRIM * number).astype(np.int64)
    kept = number - 2 * cut
    rank = np.arange(logs.shape[-1])
    top = np.maximum(number - cut - 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        inner = (rank >= cut[..., None]) & (rank <= top[..., None]) & (number > 0)[..., None]
        centre = np.where(inner, logs, 0.0).sum(axis=-1) / kept
        low, high = (np.take_along_axis(logs, np.minimum(at, rank.size - 1)[..., None], axis=-1) for at in (cut, top))
        winsorised = np.clip(logs, low, high)
        mean = np.nansum(winsorised, axis=-1) / number
        squares = np.nansum((winsorised - mean[..., None]) ** 2, axis=-1)
        error = squares / (kept * (kept - 1.0))
    few = number < 2
    return np.where(few, np.nan, centre), np.where(few, np.nan, error), np.where(few, np.nan, kept - 1.0)


def _student(centre: FloatArray, error: FloatArray, freedom: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    from scipy.special import stdtrit  # noqa: PLC0415 - the first map must not wait for it

    half = stdtrit(freedom, 1 - level / 2) * np.sqrt(error)
    return centre - half, centre + half


def _order_interval(logs: FloatArray, number: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Distribution-free interval of the median: from the k-th smallest to the k-th largest repetition."""
    from scipy.special import bdtr  # noqa: PLC0415 - as above

    ranks = np.zeros(int(number.max(initial=0)) + 1, dtype=np.int64)
    for count in np.unique(number):
        ranks[count] = int((bdtr(np.arange(count), int(count), 0.5) <= level / 2).sum())
    k = ranks[number]
    places = np.maximum(k - 1, 0), np.maximum(number - k, 0)
    limit = max(logs.shape[-1] - 1, 0)
    ends = (np.take_along_axis(logs, np.minimum(at, limit)[..., None], axis=-1)[..., 0] for at in places)
    low, high = (np.where(k > 0, end, np.nan) for end in ends)
    return low, high


def _p_values(block: _Block, best: IntArray) -> FloatArray:
    """One-sided p-value of each method being slower than the best, NaN where not testable and of the best itself."""
    centre, error, freedom = (
        (values, np.take_along_axis(values, best, axis=0)) for values in (block.centre, block.error, block.freedom)
    )
    variance = error[0] + error[1]
    p = one_sided_p(centre[0] - centre[1], variance, joint_freedom(error, freedom))
    np.put_along_axis(p, best, np.nan, axis=0)
    return p


def one_sided_p(difference: FloatArray, variance: FloatArray, freedom: FloatArray) -> FloatArray:
    """p-value of a difference of two means being above 0 by chance, from its variance and degrees of freedom.

    NaN where the variance is not known; where there is none, what is above 0 is so for sure.
    """
    from scipy.special import stdtr  # noqa: PLC0415 - as above

    with np.errstate(divide="ignore", invalid="ignore"):
        p = stdtr(freedom, -difference / np.sqrt(variance))
    p = np.where(variance == 0, np.where(difference > 0, 0.0, 1.0), p)
    return np.where(np.isnan(variance) | np.isnan(difference), np.nan, p)


def two_sided_p(difference: FloatArray, variance: FloatArray, freedom: FloatArray) -> FloatArray:
    """p-value of a difference of two means being none; as `one_sided_p`."""
    return np.minimum(2 * one_sided_p(np.abs(difference), variance, freedom), 1.0)


def joint_freedom(error: Sequence[FloatArray] | FloatArray, freedom: Sequence[FloatArray | float]) -> FloatArray:
    """Degrees of freedom of a sum of variances, by those and the variances of its parts (Welch, Satterthwaite)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (part**2 / known for part, known in zip(error, freedom, strict=True))
        joint = sum(error, np.zeros(())) ** 2 / sum(parts, np.zeros(()))
    return np.where(np.isnan(joint) | (joint > 1e9), 1e9, joint)


def holm(p: FloatArray) -> FloatArray:
    """Correct the p-values along the first axis for their number; NaN are none."""
    order = np.argsort(p, axis=0)  # NaN last
    number = (~np.isnan(p)).sum(axis=0)
    rank = np.arange(p.shape[0]).reshape(-1, *[1] * (p.ndim - 1))
    raised = np.take_along_axis(p, order, axis=0) * np.maximum(number - rank, 1)
    raised = np.minimum(np.maximum.accumulate(raised, axis=0), 1.0)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, raised, axis=0)
    return adjusted


def _dataset(cube: xr.Dataset, tables: dict[str, npt.NDArray[Any]], level: float, ppn: int | None) -> xr.Dataset:
    coords = {name: coord for name, coord in cube.coords.items() if set(coord.dims) <= set(DIMS)}
    tied = tables["tied"]
    measured = tied.any(axis=0)
    compared = ~np.isnan(tables["p"])
    methods = np.asarray(cube["time"].count("method").transpose(*DIMS[1:]).values)
    cells, several = int(measured.sum()), int((tied.sum(axis=0) > 1).sum())
    untestable = int(((methods > 1) & ~compared.any(axis=0)).sum())
    summarised = "Welch's test of mean, standard deviation and number of repetitions"
    used = "Yuen's test of trimmed means of log times" if has_samples(cube) else summarised
    note = f"{used}, corrected by Holm for the methods of a cell, level {level:g}"
    if untestable:
        note += f"; {untestable} of {cells} cells not testable: {UNTESTABLE}"
    attrs = {
        **cube.attrs,
        "level": float(level),
        "cells": cells,
        "several": several,
        "tested": int(compared.any(axis=0).sum()),
        "untestable": untestable,
        "note": note,
    }
    if ppn is not None:
        attrs["ppn"] = ppn
    result = xr.Dataset({name: (DIMS, values) for name, values in tables.items()}, coords, attrs)
    result["ci_low"].attrs["units"] = result["ci_high"].attrs["units"] = "s"
    return result
