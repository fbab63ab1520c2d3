"""The optimal implementation: for every cell the algorithm and the segment size that a model calls fastest.

Segment sizes are the best of all, not a given few (dissertation, 6.1.2 and Figure 6.2).
"""

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.domain.arrays import FloatArray
from dashboard.models.errors import ModelError, SizeError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.registry import model_of, models_of
from dashboard.models.segments import counted_segment


def optimal_map(
    collective: str,
    parameters: PointToPointModel,
    comm_size: npt.ArrayLike,
    message_size: npt.ArrayLike,
    *,
    multiple: int = 1,
) -> xr.Dataset:
    """Find the best algorithm with its best segment size for each cell.

    Parameters
    ----------
    parameters
        Of the network; their model decides.
    comm_size, message_size
        Axes: processes (2 or more) and bytes, ascending.
    multiple
        Segment sizes are rounded to whole multiples of so many bytes, such as 8 for doubles.

    Returns
    -------
    Dataset
        Over ``comm_size`` and ``message_size``: ``algorithm`` (index into the coordinate ``candidate``),
        ``segment_size`` (bytes, 0 = not segmented) and ``time`` (s); ``candidate_time`` and ``candidate_segment`` tell
        both for every algorithm.

    Raises
    ------
    ModelError
        When there is no such collective, or `multiple` is not above 0.
    """
    models = models_of(collective)
    if multiple < 1:
        raise ModelError(f"segment sizes are to be multiples of {multiple}; expected 1 or more bytes")
    rows, columns = np.asarray(comm_size), np.asarray(message_size)
    if (rows < 2).any():
        raise SizeError(f"communicator size is {rows.min()}; expected 2 or more: one process has nothing to send")
    count, size = np.broadcast_arrays(rows[:, None], columns[None, :])
    segment = np.stack(
        [
            counted_segment(collective, name, parameters, count, size, multiple=multiple)
            if each.sizable
            else np.zeros(count.shape)
            for name, each in models.items()
        ]
    )
    pairs = zip(models.values(), segment, strict=True)
    time = np.stack([each.predict(parameters, count, size, cut) for each, cut in pairs])
    # Some algorithm of each collective works on any number of processes.
    best = np.nanargmin(time, axis=0)
    dims = ("comm_size", "message_size")
    return xr.Dataset(
        {
            "algorithm": (dims, best),
            "segment_size": (dims, np.take_along_axis(segment, best[None], axis=0)[0], {"units": "B"}),
            "time": (dims, np.take_along_axis(time, best[None], axis=0)[0], {"units": "s"}),
            "candidate_time": (("candidate", *dims), time, {"units": "s"}),
            "candidate_segment": (("candidate", *dims), segment, {"units": "B"}),
        },
        coords={"candidate": list(models), "comm_size": rows, "message_size": columns},
        attrs={"collective": collective, "model": parameters.name},
    )


def times_of(optimal: xr.Dataset, parameters: PointToPointModel) -> FloatArray:
    """Times, s, of the algorithms and segment sizes of an optimal map by other parameters."""
    count, size = np.broadcast_arrays(optimal["comm_size"].values[:, None], optimal["message_size"].values[None, :])
    times = np.full(count.shape, np.nan)
    for number, name in enumerate(optimal["candidate"].values):
        there = optimal["algorithm"].values == number
        cells = count[there], size[there], optimal["segment_size"].values[there]
        times[there] = model_of(str(optimal.attrs["collective"]), str(name)).predict(parameters, *cells)
    return times
