"""Sparse measurements completed by models (dissertation, 6.4): what was not measured is predicted, and marked."""

import xarray as xr

from dashboard.decisions.measured.map import DIMS, check_cube, methods_of
from dashboard.domain.units import format_count
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
    measured = cube["time"].transpose(*dims).astype(float).compute()
    if (low := measured.values[measured.values <= 0]).size:
        raise ModelError(f"a time is {low[0]:g} s; expected more than 0 s")
    count, size = cube["comm_size"].values[:, None], cube["message_size"].values[None, :]
    coords = {"method": [method.label for method in known.methods], **{name: cube[name] for name in DIMS[1:]}}
    predicted = xr.DataArray(known.times(parameters, count, size, variant=variant), coords, DIMS)
    factors = (measured / predicted).median(DIMS[1:])
    guess = predicted * factors.fillna(factors.median("method")).fillna(1.0)
    time = measured.fillna(guess)
    marked = measured.isnull() & time.notnull()
    if "modelled" in cube:  # what an earlier call filled in stays marked
        marked |= cube["modelled"].astype(bool)
    filled = int(marked.sum())
    text = f"{format_count(filled, 'time')} predicted by the {parameters.name} model, calibrated by method"
    if not filled:
        what = "that a model could predict " if measured.isnull().any() else ""
        text = f"nothing {what}is missing, so that the models decide nothing and all is as measured"
    if known.missing:
        text += f"; no model covers {', '.join(known.missing)}"
    result = cube.assign(time=time.assign_attrs(cube["time"].attrs), modelled=marked)
    result["modelled"].attrs["long_name"] = "whether the time was predicted by a model, not measured"
    attrs = {"completion": text}
    if "digest" in cube.attrs:
        attrs["digest"] = f"{cube.attrs['digest']}-{parameters.name}{filled}"
    return result.assign_attrs(attrs)
