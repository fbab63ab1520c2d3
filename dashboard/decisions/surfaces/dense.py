"""Measurements with the times that surfaces tell at the sizes between, for trees of any family to learn."""

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.measured.doubles import DOUBLE_OF
from dashboard.decisions.measured.map import DIMS
from dashboard.decisions.measured.slice import Slice
from dashboard.decisions.surfaces.along import Slicing
from dashboard.decisions.surfaces.grid import comm_sizes_between, message_sizes_between, weights_between
from dashboard.domain.arrays import FloatArray

NOTE = "surfaces"
"""Attribute of the cube that says what was predicted."""


def nbytes(cube: xr.Dataset) -> int:
    """Bytes of the times with those of the sizes between, of cubes over any processes per node."""
    rows, columns = comm_sizes_between(cube["comm_size"].values), message_sizes_between(cube["message_size"].values)
    return int(
        cube["time"].nbytes // max(cube["comm_size"].size * cube["message_size"].size, 1) * rows.size * columns.size
    )


def with_sizes_between(part: Slice) -> tuple[xr.Dataset, FloatArray]:
    """Add the sizes that programs may call between the measured ones, with the times predicted there.

    Returns
    -------
    Dataset, float64 ``(comm_size, message_size)``
        The cube over `surfaces.grid`'s sizes, and what each counts, by the workload if there is one. Measured times are
        `Slice.times`; ``predicted`` (bool, as ``time``) marks the others, where the surfaces reach.
        ``attrs["surfaces"]`` says how many there are, ``attrs["digest"]`` that it is another cube.
    """
    time = part.cube["time"].transpose(*DIMS)
    cube = part.cube.drop_vars(DOUBLE_OF, errors="ignore").assign(time=time.copy(data=part.times()))
    slicing = Slicing(cube)
    measured = [np.asarray(cube[name].values) for name in SIZES]
    wanted = comm_sizes_between(slicing.sizes("comm_size")), message_sizes_between(slicing.sizes("message_size"))
    # Single repetitions, of which there are none between, would take many times their room.
    lazy = {name: each.chunk(comm_size=1) for name, each in cube.items() if "repetition" in each.dims}
    dense = cube.assign(lazy).reindex(dict(zip(SIZES, wanted, strict=True)))
    times = dense["time"]
    known = np.isfinite(times.values)
    filled = np.where(known, times.values, np.exp(slicing.surfaces.at(*wanted).log_time))
    predicted = np.isfinite(filled) & ~known
    count = int(predicted.sum())
    dense = dense.assign(time=(times.dims, filled, time.attrs), predicted=(times.dims, predicted))
    dense["predicted"].attrs["long_name"] = "whether the time was predicted between measured sizes"
    sizes = f"{count:,} times at {wanted[0].size:,} × {wanted[1].size:,} sizes"
    attrs = {NOTE: f"{sizes}, {slicing.predictor.name}; not for the recommended tree, which predicts by itself"}
    if "digest" in cube.attrs:
        attrs["digest"] = f"{cube.attrs['digest']}-{NOTE}{count}"
    return dense.assign_attrs(attrs), weights_between(wanted, (measured[0], measured[1]), part.weights)
