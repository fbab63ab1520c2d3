"""The sizes that programs may call: those between the measured ones, and how much each counts."""

import numpy as np

from dashboard.decisions.surfaces.lines import scale
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray

MOST_ROWS = 64
"""Communicator sizes that are all taken; of a wider range the measured ones and those between them."""

MOST_COLUMNS = 192
"""Message sizes that are taken at most, unless more are measured."""

FURTHER = 3
"""Sizes that are taken between two measured ones, evenly by the logarithm."""


def comm_sizes_between(measured: IntArray) -> IntArray:
    """Every communicator size from the smallest to the largest, or so many that they are a grid."""
    low, high = int(measured[0]), int(measured[-1])
    if high - low < MOST_ROWS:
        return np.arange(low, high + 1)
    return sizes_between(measured, min(FURTHER, MOST_ROWS // measured.size))


def message_sizes_between(measured: IntArray) -> IntArray:
    """The message sizes with further ones between neighbours."""
    return sizes_between(measured, min(FURTHER, MOST_COLUMNS // measured.size))


def sizes_between(measured: IntArray, further: int) -> IntArray:
    """Sizes with so many whole numbers between two neighbours, evenly by the logarithm."""
    logs = scale(measured)
    shares = np.arange(1, further + 1) / (further + 1)
    between = np.exp(logs[:-1, None] + shares * np.diff(logs)[:, None])
    return np.union1d(measured, between.round().astype(np.int64))


def weights_between(
    wanted: tuple[IntArray, IntArray], measured: tuple[IntArray, IntArray], calls: FloatArray | None
) -> FloatArray:
    """What each cell counts.

    With a workload the cells next to a measured size share its calls. Without one all count the same where every
    communicator size is taken; of a wider range each counts by how much of it lies around it, by the logarithm.

    Parameters
    ----------
    wanted, measured
        Communicator sizes and message sizes.
    calls
        ``(comm_size, message_size)`` of the measured sizes.
    """
    if calls is None:
        sizes = wanted[0]
        every = sizes[-1] - sizes[0] == sizes.size - 1
        shares = np.ones(sizes.size) if every else np.gradient(scale(sizes))
        return np.repeat((shares / shares.mean())[:, None], wanted[1].size, axis=1)
    rows, columns = (np.abs(scale(w)[:, None] - scale(m)).argmin(axis=1) for w, m in zip(wanted, measured, strict=True))
    shared = np.bincount(rows)[rows][:, None] * np.bincount(columns)[columns][None, :]
    return np.asarray(calls[np.ix_(rows, columns)] / shared)


def shared(weights: FloatArray, unknown: BoolArray) -> FloatArray:
    """Have communicator sizes of a kind that nothing was measured of count no more, together, than the others do."""
    sums = weights[unknown].sum(), weights[~unknown].sum()
    share = min(1.0, sums[1] / sums[0]) if sums[0] > 0 else 1.0
    return np.where(unknown[:, None], share, 1.0) * weights
