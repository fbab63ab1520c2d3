"""The optimal implementation: for every cell the algorithm and the segment size that a model calls fastest.

Segment sizes are the best of all, not a given few (dissertation, 6.1.2 and Figure 6.2).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.domain.arrays import FloatArray
from dashboard.models.collectives.model import CollectiveModel
from dashboard.models.errors import ModelError, SizeError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.registry import model_of, models_of
from dashboard.models.segments import counted_segment


def optimal_map(
    collective: str,
    parameters: PointToPointModel,
    comm_size: npt.ArrayLike,
    message_size: npt.ArrayLike,
    algorithms: Sequence[str] | None = None,
    *,
    multiple: int = 1,
) -> xr.Dataset:
    """Find the best algorithm with its best segment size for each cell.

    Parameters
    ----------
    collective
        Its name.
    parameters
        Of the network; their model decides.
    comm_size, message_size
        Axes: processes (2 or more) and bytes, ascending.
    algorithms
        As the models call them; None takes all of the collective.
    multiple
        Segment sizes are rounded to whole multiples of so many bytes, such as 8 for doubles.

    Returns
    -------
    Dataset
        Over ``comm_size`` and ``message_size``: ``algorithm`` (index into the coordinate ``candidate``, -1 = none
        works), ``segment_size`` (bytes, 0 = not segmented) and ``time`` (s); ``candidate_time`` and
        ``candidate_segment`` tell both for every algorithm.

    Raises
    ------
    ModelError
        When there is no such collective or algorithm, or `multiple` is not above 0.
    """
    names = _names(collective, algorithms)
    if multiple < 1:
        raise ModelError(f"segment sizes are to be multiples of {multiple}; expected 1 or more bytes")
    rows, columns = np.asarray(comm_size), np.asarray(message_size)
    if (rows < 2).any():
        raise SizeError(f"communicator size is {rows.min()}; expected 2 or more: one process has nothing to send")
    count, size = np.broadcast_arrays(rows[:, None], columns[None, :])
    segment = np.stack([_segments(model_of(collective, name), parameters, count, size, multiple) for name in names])
    time = np.stack(
        [
            model_of(collective, name).predict(parameters, count, size, each)
            for name, each in zip(names, segment, strict=True)
        ]
    )
    there = ~np.isnan(time)
    best = np.where(there, time, np.inf).argmin(axis=0)
    any_there = there.any(axis=0)
    dims = ("comm_size", "message_size")
    return xr.Dataset(
        {
            "algorithm": (dims, np.where(any_there, best, -1)),
            "segment_size": (dims, np.take_along_axis(segment, best[None], axis=0)[0], {"units": "B"}),
            "time": (dims, np.take_along_axis(time, best[None], axis=0)[0], {"units": "s"}),
            "candidate_time": (("candidate", *dims), time, {"units": "s"}),
            "candidate_segment": (("candidate", *dims), segment, {"units": "B"}),
        },
        coords={"candidate": names, "comm_size": rows, "message_size": columns},
        attrs={"collective": collective, "model": parameters.name},
    )


def times_of(optimal: xr.Dataset, parameters: PointToPointModel) -> FloatArray:
    """Times, s, of the algorithms and segment sizes of an optimal map by other parameters; NaN where there is none."""
    count, size = np.broadcast_arrays(optimal["comm_size"].values[:, None], optimal["message_size"].values[None, :])
    times = np.full(count.shape, np.nan)
    for number, name in enumerate(optimal["candidate"].values):
        there = optimal["algorithm"].values == number
        cells = count[there], size[there], optimal["segment_size"].values[there]
        times[there] = model_of(str(optimal.attrs["collective"]), str(name)).predict(parameters, *cells)
    return times


def _names(collective: str, algorithms: Sequence[str] | None) -> list[str]:
    known = models_of(collective)
    names = list(known) if algorithms is None else list(algorithms)
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        raise ModelError(f"there is no {collective} model {wrong or names!r}, known are {', '.join(known)}")
    return names


def _segments(
    model: CollectiveModel, parameters: PointToPointModel, count: FloatArray, size: FloatArray, multiple: int
) -> FloatArray:
    """The best segment size of one algorithm in each cell, B; 0 = none."""
    if model.segmented in ("", "first"):
        return np.zeros(count.shape)
    return counted_segment(model.collective, model.algorithm, parameters, count, size, multiple=multiple)
