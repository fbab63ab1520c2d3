"""The best cut of a continuous attribute, at each node of a level."""

import math
from typing import NamedTuple

import numpy as np

from dashboard.decisions.grown.c45.gain import LN2, UNUSABLE, gain_of, n_log_n, total_information
from dashboard.decisions.grown.c45.kernel import kernel
from dashboard.decisions.grown.c45.table import Trial
from dashboard.domain.arrays import Float32, FloatArray, Int32

SAME = np.float64(1e-5)
"""Values closer than this are not told apart."""


class Here(NamedTuple):
    """Room for the cases of one node."""

    #: ``(case,)``; classes are numbered among those that occur, weights are empty when every case is whole.
    values: Float32
    classes: Int32
    weights: Float32
    #: ``(case,)`` of the cut after each case: its gain, and the number of cases below.
    gains: Float32
    below: Float32
    #: Of `both_sides`; the first row stays 0.
    sums: Float32
    #: ``(class,)`` number among those that occur.
    position: Int32


@kernel
def smallest_side(known: np.float32, class_count: int, min_cases: int) -> np.float32:
    """Give the fewest cases that either side of a cut must have."""
    least = np.float32(np.float64(0.10) * known / class_count)
    if least <= min_cases:
        return np.float32(min_cases)
    return min(least, np.float32(25))


@kernel
def both_sides(low: Float32, high: Float32, sums: Float32, changed: int | np.int64, logs: FloatArray) -> np.float32:
    """Give `total_information` of both sides of a cut, added up.

    Parameters
    ----------
    low, high
        Number of cases of each class on either side.
    sums
        ``(class + 1, 4)`` what `total_information` has added up before each class, for `low` and for `high`;
        those from the class `changed` on are brought up to date.
    """
    for number in range(changed, low.size):
        sums[number + 1, 0] = np.float32(sums[number, 0] + n_log_n(low[number], logs))
        sums[number + 1, 1] = np.float32(sums[number, 1] + low[number])
        sums[number + 1, 2] = np.float32(sums[number, 2] + n_log_n(high[number], logs))
        sums[number + 1, 3] = np.float32(sums[number, 3] + high[number])
    last = low.size
    remaining = np.float32(n_log_n(sums[last, 1], logs) - sums[last, 0])
    return np.float32(remaining + np.float32(n_log_n(sums[last, 3], logs) - sums[last, 2]))


@kernel
def try_cuts(
    here: Here,
    count: int | np.int64,
    low: Float32,
    high: Float32,
    known: np.float32,
    unknown: np.float32,
    least: tuple[np.float32, int],
    logs: FloatArray,
) -> int:
    """Fill in the gain of the cut after each case, NaN where none may be.

    Parameters
    ----------
    here
        The cases whose value is known, sorted by value.
    count
        Number of these cases; there may be room for more.
    low, high
        Number of these cases of each class below and above the cut: none and all; are changed.
    known, unknown
        Number of cases whose value is known or not.
    least
        `smallest_side`, and option -m.
    logs
        `log_table`.

    Returns
    -------
    int
        Number of cuts tried.
    """
    side, min_cases = least
    base = np.float32(total_information(high, logs) / known)
    most = np.float32(known - side)
    size = np.float32(0)
    tries, changed = 0, np.int64(0)
    for case in range(count):
        own = here.classes[case]
        weight = here.weights[case] if here.weights.size else np.float32(1)
        low[own] += weight
        high[own] -= weight
        changed = min(changed, own)
        size = np.float32(size + weight)
        here.gains[case] = np.nan
        here.below[case] = size
        if case + 1 == count or size < side or size > most or not here.values[case] < here.values[case + 1] - SAME:
            continue
        tries += 1
        here.gains[case] = UNUSABLE
        if size >= min_cases and np.float32(known - size) >= min_cases:
            remaining = both_sides(low, high, here.sums, changed, logs)
            changed = np.int64(high.size)
            here.gains[case] = gain_of(base, remaining, known, unknown, np.float32(known + unknown))
    return tries


@kernel
def best_cuts(trial: Trial, min_cases: int) -> None:
    """Find for each continuous attribute and node the cut of the greatest gain after the penalty for the cuts tried."""
    class_count, room = trial.counts.shape[1], trial.level.rows.shape[1]
    here = Here(
        np.empty(room, dtype=np.float32),
        np.empty(room, dtype=np.int32),
        np.empty(room if trial.level.weights.size else 0, dtype=np.float32),
        np.empty(room, dtype=np.float32),
        np.empty(room, dtype=np.float32),
        np.zeros((class_count + 1, 4), dtype=np.float32),
        np.zeros(class_count, dtype=np.int32),
    )
    low, high = np.zeros(class_count, dtype=np.float32), np.zeros(class_count, dtype=np.float32)
    for attribute in range(trial.table.list_of.size):
        for node in range(trial.is_open.size):
            if trial.is_open[node] and trial.table.list_of[attribute] >= 0:
                best_cut(trial, attribute, node, here, low, high, min_cases)


@kernel
def best_cut(trial: Trial, attribute: int, node: int, here: Here, low: Float32, high: Float32, min_cases: int) -> None:
    """Enter gain, split information and cut of one node, if some cut gains.

    Notes
    -----
    The cut is the greatest value of all training cases that is not above the middle of its neighbours. Of neighbours
    that are next to each other as float32 the middle may be the upper one; by such a cut Release 8 would split for
    ever, here it is the lower one.
    """
    present, total = 0, np.float32(0)
    for number in range(low.size):
        if trial.counts[node, number] > 0:
            here.position[number] = present
            low[present], high[present] = 0, 0
            present += 1
        total = np.float32(total + trial.counts[node, number])
    count, known = gather(trial, attribute, node, here, high)
    if not count or known < 2 * min_cases:
        return
    unknown = np.float32(total - known)
    least = smallest_side(known, low.size, min_cases), min_cases
    tries = try_cuts(here, count, low[:present], high[:present], known, unknown, least, trial.table.logs)
    penalty = np.float32(math.log(tries) / LN2 / total) if tries > 1 else np.float32(0)
    best, most = -1, np.float32(0)
    for case in range(count):
        gain = np.float32(here.gains[case] - penalty)
        if gain > most:
            best, most = case, gain
    if best >= 0:
        lower, upper = here.values[best], here.values[best + 1]
        cut = at_most(
            trial.table.ascending[trial.table.list_of[attribute]], np.float32(np.float32(lower + upper) / np.float32(2))
        )
        sizes = np.empty(3, dtype=np.float32)
        sizes[0], sizes[1], sizes[2] = unknown, here.below[best], np.float32(known - here.below[best])
        trial.figures[0, attribute, node] = most
        trial.figures[1, attribute, node] = np.float32(total_information(sizes, trial.table.logs) / total)
        trial.figures[2, attribute, node] = cut if cut < upper else lower


@kernel
def gather(trial: Trial, attribute: int, node: int, here: Here, counts: Float32) -> tuple[np.int64, np.float32]:
    """Copy the cases of a node whose value is known, and add them up by class; give number and sum of weights."""
    count, known, order = np.int64(0), np.float32(0), trial.table.list_of[attribute]
    for place in range(trial.level.start[node], trial.level.start[node + 1]):
        row = trial.level.rows[order, place]
        value = trial.table.values[attribute, row]
        if np.isnan(value):
            break
        weight = np.float32(1)
        if trial.level.weights.size:
            here.weights[count] = weight = trial.level.weights[order, place]
        here.values[count] = value
        here.classes[count] = here.position[trial.table.classes[row]]
        counts[here.classes[count]] += weight
        known = np.float32(known + weight)
        count += 1
    return count, known


@kernel
def at_most(ascending: Float32, limit: np.float32) -> np.float32:
    """Find the greatest value that is not above `limit`; the first one never is, and NaN are last."""
    low, high = 0, ascending.size
    while high - low > 1:
        middle = (low + high) // 2
        if ascending[middle] <= limit:
            low = middle
        else:
            high = middle
    return np.float32(ascending[low])
