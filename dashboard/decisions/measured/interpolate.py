"""Times between measured sizes: filled in when asked, marked, and never beyond the range.

A time lies on the straight line between those of the same method at the two next message sizes, both scales
logarithmic: exact where the time grows as a power of the size. What that costs in accuracy
`interpolation_error` shows at sizes that were measured.
"""

from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.measured.map import DIMS, check_cube, each_ppn, time_blocks
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.errors import DecisionError
from dashboard.domain.units import format_count

Axis = Literal["message_size", "comm_size"]


def interpolated(cube: xr.Dataset) -> xr.Dataset:
    """Fill in cells that were not measured, between two message sizes of the same method that were.

    Parameters
    ----------
    cube
        Results of one collective, in memory or lazy; with ``ppn`` each number of it by itself.

    Returns
    -------
    Dataset
        The cube with these times; ``interpolated`` (bool, as ``time``) marks them, and their ``time_std``,
        ``repetitions`` and ``sample`` stay missing. ``attrs["interpolation"]`` says how many there are and how
        they came about, ``attrs["digest"]`` that it is another cube. Before the first and after the last
        measured size of a line nothing is filled in, nor beside a size of 0, which has no logarithm.

    Raises
    ------
    DecisionError
        When `cube` is no cube or a time is not above 0.
    """
    dims = tuple(name for name in (*DIMS, "ppn") if name in check_cube(cube).dims)
    time = np.full(tuple(cube.sizes[name] for name in dims), np.nan)
    for number, (flat, _) in enumerate(each_ppn(cube)):
        part = time[..., number] if "ppn" in dims else time
        for rows, values in time_blocks(flat):
            part[:, rows] = _filled(values, cube[MESSAGE_SIZE].values)
    marked = ~np.isnan(time) & np.isnan(np.asarray(cube["time"].transpose(*dims).values))
    count = int(marked.sum())
    between = "between measured ones of the same method, log-log linear along"
    text = f"{format_count(count, 'time')} {between} {MESSAGE_SIZE}"
    attrs = {"interpolation": text}
    if "digest" in cube.attrs:
        attrs["digest"] = f"{cube.attrs['digest']}-message_size{count}"
    result = cube.assign(time=(dims, time, cube["time"].attrs), interpolated=(dims, marked))
    result["interpolated"].attrs["long_name"] = "whether the time was interpolated, not measured"
    return result.assign_attrs(attrs)


def interpolation_error(cube: xr.Dataset, along: Axis = "message_size") -> pd.DataFrame:
    """How far times between measured sizes are off: each is left out in turn and interpolated from its neighbours.

    Parameters
    ----------
    cube
        As for `interpolated`.
    along
        ``message_size`` takes the two next message sizes at the same communicator size, ``comm_size``
        the other way round.

    Returns
    -------
    DataFrame
        One row for each size that has measured ones on both sides: the size (named as `along`), ``cells``,
        and ``median``, ``p95`` and ``max`` of the absolute error in percent of the measured time.
    """
    errors: list[FloatArray] = []
    for flat, _ in each_ppn(check_cube(cube)):
        for _, values in time_blocks(_first_lines(flat, along)):
            guess = _filled(values, flat[along].values, leave_out=True)
            errors.append((100 * np.abs(guess / values - 1)).reshape(-1, values.shape[-1]))
    table = np.concatenate(errors)
    rows: list[dict[str, Any]] = []
    for place, size in enumerate(cube[along].values):
        column = table[:, place][~np.isnan(table[:, place])]
        if column.size:
            high = float(np.quantile(column, 0.95))
            figures = {"median": float(np.median(column)), "p95": high, "max": float(column.max())}
            rows.append({along: int(size), "cells": int(column.size), **figures})
    return pd.DataFrame(rows, columns=[along, "cells", "median", "p95", "max"])


def _first_lines(cube: xr.Dataset, along: str) -> xr.Dataset:
    """Times with the axis to go along last, under the names that `time_blocks` wants."""
    if along == MESSAGE_SIZE:
        return cube
    time = cube["time"].transpose("method", COMM_SIZE, MESSAGE_SIZE).variable
    return xr.Dataset({"time": (("method", MESSAGE_SIZE, COMM_SIZE), time.data)})


def _filled(time: FloatArray, sizes: IntArray, *, leave_out: bool = False) -> FloatArray:
    """Times along the last axis with gaps filled, or each measured one as its neighbours would have it."""
    there = ~np.isnan(time)
    if not (time[there] > 0).all() or np.isinf(time[there]).any():
        raise DecisionError("a time is not above 0 s or not finite; times must be, their logarithms are interpolated")
    usable = there & (sizes > 0)
    places = np.arange(sizes.size)
    last = np.maximum.accumulate(np.where(usable, places, -1), axis=-1)
    following = np.minimum.accumulate(np.where(usable, places, sizes.size)[..., ::-1], axis=-1)[..., ::-1]
    outside = np.full((*time.shape[:-1], 1), -1)
    before = np.concatenate([outside, last[..., :-1]], axis=-1)
    after = np.concatenate([following[..., 1:], outside + sizes.size + 1], axis=-1)
    between = (before >= 0) & (after < sizes.size) & (sizes > 0)
    before, after = np.maximum(before, 0), np.minimum(after, sizes.size - 1)
    logs = np.log(np.where(usable, time, 1.0))
    scale = np.log(np.maximum(sizes, 0.5))
    span = np.where(between, scale[after] - scale[before], 1.0)
    share = (scale - scale[before]) / span
    low, high = (np.take_along_axis(logs, at, axis=-1) for at in (before, after))
    guess = np.where(between, np.exp((1 - share) * low + share * high), np.nan)
    return np.where(there, guess, np.nan) if leave_out else np.where(there, time, guess)
