"""When repetitions suffice, and what they say; no MPI."""

from collections.abc import Sequence

import numpy as np

from dashboard.domain.arrays import FloatArray


def inner(samples: Sequence[float] | FloatArray) -> FloatArray:
    """Samples without the lowest and the highest quartile; all of them when there are fewer than four."""
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    cut = len(ordered) // 4
    return ordered[cut : len(ordered) - cut]


def relative_error(samples: Sequence[float] | FloatArray) -> float:
    """Standard error of the mean of the inner half, as a share of that mean; infinite for fewer than two samples."""
    kept = inner(samples)
    if len(kept) < 2 or kept.mean() <= 0:
        return float("inf")
    return float(kept.std(ddof=1) / np.sqrt(len(kept)) / kept.mean())


def completion(starts: FloatArray, ends: FloatArray, planned: FloatArray, tolerance: float) -> tuple[FloatArray, int]:
    """Time of each repetition that started in time on all processes, and how many did not.

    Parameters
    ----------
    starts, ends
        ``(repetition,)``, the latest of all processes, by the common clock, seconds.
    planned
        When each repetition was to start.
    tolerance
        A start that is later by more than this is late: the others had begun without that process.

    Returns
    -------
    times, late
        When every repetition was late, the times from the last start to the last end instead of none.
    """
    late = starts - planned > tolerance
    number = int(late.sum())
    if number == len(late):
        return ends - starts, number
    return (ends - planned)[~late], number
