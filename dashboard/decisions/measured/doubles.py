"""Methods that ran as another one: they stay in the data, but win no cell, and show how noisy the measurements are."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from dashboard.domain.arrays import FloatArray, IntArray

DOUBLE_OF = "double_of"


def is_double(cube: xr.Dataset) -> xr.DataArray | None:
    """Tell for each time of a cube whether its method ran as another one; None where none did."""
    return cube[DOUBLE_OF] >= 0 if DOUBLE_OF in cube.data_vars else None


def competing(cube: xr.Dataset) -> xr.Dataset:
    """The cube without times of methods that ran as another one, which stands there under its own name."""
    double = is_double(cube)
    if double is None:
        return cube
    kept = {name: cube[name].where(~double) for name in ("time", "time_std", "sample") if name in cube}
    return cube.assign(kept).drop_vars(DOUBLE_OF)


def as_run(cube: xr.Dataset) -> xr.Dataset:
    """The cube with the time of the method that ran in place of that of its double; NaN where it was not measured."""
    if DOUBLE_OF not in cube.data_vars:
        return cube
    place = {label: number for number, label in enumerate(cube["method"].values.tolist())}
    dims, time, numbers = _timed(cube)
    own = np.arange(len(place)).reshape(-1, *(1,) * (len(dims) - 1))
    targets = np.array([place.get(name, -1) for name in _names(cube)] + [-1])
    # `targets` ends in -1, which is what no double (-1) looks up.
    ran = targets[numbers]
    taken = np.take_along_axis(time, np.where(ran >= 0, ran, own), axis=0)
    return cube.assign(time=(dims, np.where((numbers >= 0) & (ran < 0), np.nan, taken), cube["time"].attrs))


def _names(cube: xr.Dataset) -> list[str]:
    """Labels that the numbers of doubles stand for."""
    return [str(name) for name in np.atleast_1d(cube[DOUBLE_OF].attrs["methods"])]


def _timed(cube: xr.Dataset) -> tuple[tuple[Hashable, ...], FloatArray, IntArray]:
    """Dimensions, methods first, times and numbers of doubles; -1 for none, also of cells that were added since."""
    dims = ("method", *(dim for dim in cube["time"].dims if dim != "method"))
    time, numbers = (np.asarray(cube[name].transpose(*dims).values, dtype=np.float64) for name in ("time", DOUBLE_OF))
    return dims, time, np.nan_to_num(numbers, nan=-1).astype(np.int64)


def difference(cube: xr.Dataset) -> dict[str, Any]:
    """How much the times of doubles and of the methods that they ran as differ: two measurements of one program.

    Returns
    -------
    dict
        ``cells`` (doubles measured), ``pairs`` (those whose other method is measured too), ``median`` and ``p90`` of
        the differences in percent, None where there is no pair, and ``methods``: for each double its label, that of
        the other and in how many cells.
    """
    answer: dict[str, Any] = {"cells": 0, "pairs": 0, "median": None, "p90": None, "methods": []}
    if DOUBLE_OF not in cube.data_vars:
        return answer
    labels = [str(label) for label in cube["method"].values]
    names = _names(cube)
    _, time, numbers = _timed(cube)
    differences: list[FloatArray] = []
    for place, label in enumerate(labels):
        for number in np.unique(numbers[place][numbers[place] >= 0]):
            cells = (numbers[place] == number) & ~np.isnan(time[place])
            answer["methods"].append({"method": label, "double_of": names[number], "cells": int(cells.sum())})
            if names[number] in labels:
                differences.append(100 * np.abs(time[place] / time[labels.index(names[number])] - 1)[cells])
    answer["cells"] = sum(double["cells"] for double in answer["methods"])
    values = np.concatenate(differences) if differences else np.empty(0)
    values = values[~np.isnan(values)]
    if values.size:
        answer |= {"median": float(np.median(values)), "p90": float(np.quantile(values, 0.9))}
    return answer | {"pairs": int(values.size)}
