"""Intervals of message size with one method each, found for every communicator size by dynamic programming.

Source: Kühnemann, Rauber, Rünger, Optimizing MPI Collective Communication by Orthogonal Structures, section 3.7: at
every measured size the best method, the original one where nothing gains enough; here an interval has its price too.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Node, search_tree
from dashboard.decisions.grown.default import lacking
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.noise import holm, joint_freedom, log_times, one_sided_p
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option

ORIGINAL = "default"
_MOST_ON_PATH = 12
LEAST_GAIN = 2.0


def grow(
    problem: Problem,
    *,
    progress: Progress | None = None,
    price: float = 0.0,
    least_gain: float = LEAST_GAIN,
    max_intervals: int | None = None,
    significance: float | None = None,
) -> DecisionFunction:
    """Choose intervals for each communicator size of the only slice of a problem.

    Parameters
    ----------
    price, least_gain, max_intervals, significance
        See `FAMILY`.

    Returns
    -------
    DecisionFunction
        Tests the communicator size first, then the message size; an interval ends at its last measured size.

    Raises
    ------
    OptionError
        A significance or a least gain is asked for, and there is no decision of the library to be compared with.
    """
    options = {"price": price, "least_gain": least_gain, "max_intervals": max_intervals, "significance": significance}
    part = problem.single("intervals")
    original = next((n for n, method in enumerate(problem.methods) if method.algorithm == ORIGINAL), None)
    if original is None and (significance is not None or least_gain not in (0.0, LEAST_GAIN)):
        why = lacking(problem.provenance, "significance and least gain are over it: leave them out, or measure it, too")
        raise OptionError(f"{problem.collective}: {why}")
    counting = part.counted()
    times = np.full((len(problem.methods), *counting.shape[1:]), np.nan)
    times[part.methods] = counting
    weights = np.ones(times.shape[1:]) if part.weights is None else part.weights
    sizes = part.cube[MESSAGE_SIZE].values.tolist()
    faster = None
    if significance is not None and original is not None:
        faster = np.zeros(times.shape, dtype=bool)
        faster[part.methods] = beyond_noise(part.cube, part.methods.tolist().index(original), significance)
    rows: list[Node] = []
    above = [0]
    for row, comm_size in enumerate(part.cube[COMM_SIZE].values.tolist()):
        if progress is not None:
            progress(row / times.shape[1], f"intervals of {comm_size} processes")
        if not np.isfinite(times[:, row]).any():
            continue
        beyond = None if faster is None else faster[:, row]
        costs = penalties(times[:, row], original, least_gain, beyond) * weights[row]
        bounds = intervals(costs, price, max_intervals, first=original)
        starts = [0, *(sizes[last] + 1 for last, _ in bounds)]
        rows.append(search_tree(starts, [Leaf(method) for _, method in bounds], MESSAGE_SIZE))
        above.append(comm_size + 1)
    kept = {name: value for name, value in options.items() if value is not None}
    return problem.decided(search_tree(above, rows, COMM_SIZE), "intervals", kept)


def beyond_noise(cube: xr.Dataset, original: int, level: float) -> BoolArray:
    """Where a method is faster than the original beyond noise.

    Parameters
    ----------
    cube
        Measurements.
    original
        Position of the method that the others are compared with.
    level
        Probability to find any method faster at a size where none is: Welch's test on logarithms, by Holm.

    Returns
    -------
    array
        Over methods, communicator sizes and message sizes; False where the repetitions say nothing.
    """
    logs = log_times(cube).transpose("method", COMM_SIZE, MESSAGE_SIZE)
    centre, error, freedom = (np.asarray(logs[name].values) for name in ("centre", "error", "freedom"))
    variance = error + error[original]
    joint = joint_freedom((error, error[original]), (freedom, freedom[original]))
    p = one_sided_p(centre[original] - centre, variance, joint)
    p[original] = np.nan
    return np.asarray(holm(p) <= level)


def penalties(
    times: FloatArray, original: int | None, least_gain: float, beyond: BoolArray | None = None
) -> FloatArray:
    """Percent that each method takes longer than the best that counts, over methods and message sizes.

    A method counts where it gains at least so many percent over the original, and, where `beyond` says so, beyond
    noise; where none does, the original is the best, and what gains less is as good as it. NaN where a method was not
    measured, 0 where none was.
    """
    counting = times
    if original is not None:
        first = times[original]
        gains = 100 * (first - times) / first
        enough = gains >= least_gain if beyond is None else (gains >= least_gain) & beyond
        counting = np.where(np.isnan(first) | enough, times, np.nan)
        counting[original] = first
    nothing = np.isnan(counting).all(axis=0)
    best = np.fmin.reduce(counting)
    percent = np.maximum(100 * (times - best) / best, 0.0)
    percent[:, nothing] = 0.0
    return np.asarray(percent)


def intervals(
    costs: FloatArray, price: float, most: int | None = None, *, first: int | None = None
) -> list[tuple[int, int]]:
    """Cut sizes into intervals of one method each, of the least costs and prices together.

    Parameters
    ----------
    costs
        Over methods and sizes; NaN where a method must not be taken.
    price
        Of each interval.
    most
        Intervals at most; None: no limit. Exceeded where no fewer can do without methods that must not be taken.
    first
        Method that is taken where others are no better.

    Returns
    -------
    list of tuple
        Position of each interval's last size, and its method.
    """
    methods, number = costs.shape
    order = [*([] if first is None else [first]), *(m for m in range(methods) if m != first)]
    sums = np.concatenate([np.zeros((methods, 1)), np.nan_to_num(costs).cumsum(axis=1)], axis=1)[order]
    wrong = np.concatenate([np.zeros((methods, 1)), np.isnan(costs).cumsum(axis=1)], axis=1)[order]
    limit = number if most is None else min(most, number)
    # Of so many intervals over the first sizes: what they cost, where the last one begins, and its method.
    best = np.full((number + 1, number + 1), np.inf)
    best[0, 0] = 0.0
    steps: dict[tuple[int, int], tuple[int, int]] = {}
    for end in range(1, number + 1):
        within = np.where(wrong[:, [end]] == wrong[:, :end], sums[:, [end]] - sums[:, :end], np.inf)
        chosen = within.argmin(axis=0)
        single = within[chosen, np.arange(end)]
        for count in range(1, end + 1):
            totals = best[count - 1, :end] + single
            begin = int(totals.argmin())
            best[count, end] = totals[begin]
            steps[count, end] = begin, order[int(chosen[begin])]
    paid = best[:, number] + price * np.arange(number + 1)
    able = np.flatnonzero(np.isfinite(paid))
    within_limit = able[able <= limit] if (able <= limit).any() else able[:1]
    # Sums that differ by rounding are equal: the fewer intervals then.
    least = paid[within_limit].min()
    count = int(within_limit[paid[within_limit] <= least + 1e-9 * max(1.0, abs(least))][0])
    return _back(steps, count, number)


def _back(steps: dict[tuple[int, int], tuple[int, int]], count: int, end: int) -> list[tuple[int, int]]:
    path = []
    while end:
        begin, method = steps[count, end]
        path.append((end - 1, method))
        count, end = count - 1, begin
    return path[::-1]


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    sizes = problem.single("intervals").cube.sizes[MESSAGE_SIZE]
    for most in range(1, min(sizes, _MOST_ON_PATH) + 1):
        yield {"max_intervals": most}


FAMILY = Family(
    name="intervals",
    title="Intervals",
    source="M. Kühnemann, T. Rauber, G. Rünger: Optimizing MPI Collective Communication by Orthogonal Structures, 3.7",
    options=(
        Option(
            "price",
            "price of an interval",
            "Percent, summed over sizes, that a further interval must save.",
            0.0,
            "float",
            0,
        ),
        Option(
            "least_gain",
            "least gain (%)",
            "A method that gains less than this over the library's own decision at a size does not count as better "
            "there.",
            LEAST_GAIN,
            "float",
            0,
            100,
        ),
        Option(
            "max_intervals",
            "most intervals",
            "Most intervals of message size for each communicator size.",
            None,
            "int",
            1,
            unlimited="no limit",
        ),
        Option(
            "significance",
            "level of significance",
            "A method that is not significantly faster than the library's own decision does not count as better there.",
            None,
            "float",
            0,
            1,
            unlimited="not tested",
        ),
    ),
    grow=grow,
    path=_path,
)
