"""Sparse measurements completed by models (dissertation, 6.4): what was not measured is predicted, and marked."""

import numpy as np
import xarray as xr

from dashboard.decisions.measured.map import DIMS, check_cube, methods_of
from dashboard.domain.arrays import FloatArray
from dashboard.models.collectives.model import Variant
from dashboard.models.errors import ModelError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.predicting import Covered


def completed(cube: xr.Dataset, parameters: PointToPointModel, *, variant: Variant = "corrected") -> xr.Dataset:
    """Fill in by a model the times that were not measured, of the methods that it covers.

    A method's predictions are multiplied by the median ratio of what was measured of it to what is predicted there, so
    that a method is not preferred only where it was not measured. Methods without any measurement take the median over
    all methods.

    Parameters
    ----------
    cube
        Results of one collective, in memory or lazy; with ``ppn`` each number of it is filled in by itself (the models
        know nothing of it).
    parameters
        Of the network; their model predicts.
    variant
        Of the formulas.

    Returns
    -------
    Dataset
        The cube with these times; ``modelled`` (bool, as ``time``) marks them, and their ``time_std``, ``repetitions``
        and ``sample`` stay missing. ``attrs["completion"]`` says how many there are and by which model,
        ``attrs["digest"]`` that it is another cube.

    Raises
    ------
    ModelError
        When no method is covered or a measured time is not above 0.
    """
    known = Covered.of(str(check_cube(cube).attrs.get("collective")), methods_of(cube))
    dims = tuple(name for name in (*DIMS, "ppn") if name in cube.dims)
    time = np.array(cube["time"].transpose(*dims).values, dtype=float)
    if (time <= 0).any():
        raise ModelError(f"a time is {time[time <= 0][0]:g} s; expected more than 0 s")
    count, size = cube["comm_size"].values, cube["message_size"].values
    predicted = known.times(parameters, count[:, None], size[None, :], variant=variant)
    labels = [str(label) for label in cube["method"].values]
    places = [labels.index(method.label) for method in known.methods]
    marked = np.zeros(time.shape, dtype=bool)
    for number in range(time.shape[3] if time.ndim > len(DIMS) else 1):
        part = (..., number) if time.ndim > len(DIMS) else ...
        mine, marks = time[part], marked[part]  # views
        for place, guess, factor in zip(places, predicted, _factors(mine[places], predicted), strict=True):
            fill = np.isnan(mine[place]) & ~np.isnan(guess)
            mine[place][fill] = factor * guess[fill]
            marks[place][fill] = True
    if "modelled" in cube:  # what an earlier call filled in stays marked
        marked |= np.asarray(cube["modelled"].transpose(*dims).values, dtype=np.bool_)
    filled = int(marked.sum())
    text = f"{filled} times predicted by the {parameters.name} model, calibrated by method"
    if not filled:
        what = "that a model could predict " if np.isnan(time).any() else ""
        text = f"nothing {what}is missing, so that the models decide nothing and all is as measured"
    if known.missing:
        text += f"; no model covers {', '.join(known.missing)}"
    result = cube.assign(time=(dims, time, cube["time"].attrs), modelled=(dims, marked))
    result["modelled"].attrs["long_name"] = "whether the time was predicted by a model, not measured"
    attrs = {"completion": text}
    if "digest" in cube.attrs:
        attrs["digest"] = f"{cube.attrs['digest']}-{parameters.name}{filled}"
    return result.assign_attrs(attrs)


def _factors(measured: FloatArray, predicted: FloatArray) -> FloatArray:
    """For each method the median ratio of measured to predicted times."""
    ratios = np.where(predicted > 0, measured / predicted, np.nan)
    there = np.asarray(~np.isnan(ratios).all(axis=(1, 2)))
    factors = np.array([np.nanmedian(each) if known else np.nan for each, known in zip(ratios, there, strict=True)])
    usual = float(np.median(factors[there])) if there.any() else 1.0
    return np.where(there, factors, usual)
