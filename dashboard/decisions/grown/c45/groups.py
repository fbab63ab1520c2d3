"""Groups of values of a discrete attribute (option -s): merged as long as the worth of the test rises.

The rules are known from a description and checked against two small trees only, where cases have three values.
"""

import numpy as np

from dashboard.decisions.grown.c45.discrete import count_values
from dashboard.decisions.grown.c45.gain import EPSILON, UNUSABLE, discrete_gain
from dashboard.decisions.grown.c45.kernel import kernel
from dashboard.decisions.grown.c45.table import Trial
from dashboard.domain.arrays import Float32, FloatArray, Int32

LEAST_RISE = np.float64(1e-5)


@kernel
def group_tests(trial: Trial, attribute: int, declared: int, min_cases: int, gain_ratio: bool, groups: Int32) -> None:
    """Enter gain, split information and ``(node, value)`` groups of each node."""
    counts = np.zeros((declared, trial.counts.shape[1]), dtype=np.float32)
    sizes = np.zeros(declared + 1, dtype=np.float32)
    for node in range(trial.is_open.size):
        if trial.is_open[node]:
            base = count_values(trial, attribute, node, counts, sizes)
            gain, info = group_values(
                counts, sizes, base, min_cases, gain_ratio, trial.table.logs, groups[node, :declared]
            )
            trial.figures[0, attribute, node], trial.figures[1, attribute, node] = gain, info


@kernel
def group_values(
    counts: Float32, sizes: Float32, base: np.float32, min_cases: int, gain_ratio: bool, logs: FloatArray, groups: Int32
) -> tuple[np.float32, np.float32]:
    """Merge values into groups and give gain and split information of the test on them.

    Parameters
    ----------
    counts, sizes, base
        As for `discrete_gain`; the first two are changed.
    min_cases
        Option -m; while groups are tried, 1 is enough.
    groups
        ``(value,)``, to be filled: the group of each value. Those without a case are the last group.
    """
    number = _one_group_each(counts, sizes, groups)
    number = _merge_pure(counts, sizes, number, groups)
    gain, info = discrete_gain(counts, sizes, number, base, 1, logs)
    worth = _worth(gain, info, gain_ratio)
    while number > 2:
        reasonable, largest = 0, 0
        for group in range(number):
            reasonable += sizes[group + 1] >= min_cases
            if sizes[group + 1] > sizes[largest + 1]:
                largest = group
        barred = largest if reasonable < 3 else -1
        first, second, best_gain, best = _best_pair(counts, sizes, number, base, barred, gain, gain_ratio, logs)
        if first < 0 or (gain_ratio and reasonable >= 2 and best < worth + LEAST_RISE):
            break
        _merge(counts, sizes, number, groups, first, second)
        number -= 1
        gain, worth = best_gain, best
    for value in range(groups.size):
        if groups[value] < 0:
            groups[value] = number
    return discrete_gain(counts, sizes, number, base, min_cases, logs)


@kernel
def _one_group_each(counts: Float32, sizes: Float32, groups: Int32) -> int:
    """Number the values that have cases, -1 for the others."""
    number = 0
    for value in range(groups.size):
        groups[value] = -1
        if sizes[value + 1] > 0:
            groups[value] = number
            counts[number] = counts[value]
            sizes[number + 1] = sizes[value + 1]
            number += 1
    return number


@kernel
def _merge(counts: Float32, sizes: Float32, number: int, groups: Int32, first: int, second: int) -> None:
    """Add the second group to the first one and close the gap that it leaves."""
    counts[first] += counts[second]
    sizes[first + 1] += sizes[second + 1]
    for group in range(second, number - 1):
        counts[group] = counts[group + 1]
        sizes[group + 1] = sizes[group + 2]
    for value in range(groups.size):
        if groups[value] == second:
            groups[value] = first
        elif groups[value] > second:
            groups[value] -= 1


@kernel
def _merge_pure(counts: Float32, sizes: Float32, number: int, groups: Int32) -> int:
    """Merge the groups that have cases of one and the same class only."""
    first = 0
    while first < number:
        own = counts[first].argmax()
        second = first + 1
        while second < number and counts[first, own] == sizes[first + 1]:
            if counts[second, own] == sizes[second + 1]:
                _merge(counts, sizes, number, groups, first, second)
                number -= 1
            else:
                second += 1
        first += 1
    return number


@kernel
def _worth(gain: np.float32, info: np.float32, gain_ratio: bool) -> np.float32:
    if not gain_ratio:
        return gain
    return np.float32(gain / info) if gain >= 0 and info > EPSILON else UNUSABLE


@kernel
def _best_pair(
    counts: Float32,
    sizes: Float32,
    number: int,
    base: np.float32,
    barred: int,
    gain: np.float32,
    gain_ratio: bool,
    logs: FloatArray,
) -> tuple[int, int, np.float32, np.float32]:
    """Find the pair of groups to merge: its groups, and gain and worth after merging; -1 if there is none."""
    first, second, best_gain, best = -1, -1, UNUSABLE, UNUSABLE
    own_counts, own_sizes, unused = counts.copy(), sizes.copy(), np.zeros(0, dtype=np.int32)
    for left in range(number - 1):
        for right in range(left + 1, number):
            if barred in (left, right):
                continue
            own_counts[:], own_sizes[:] = counts, sizes
            _merge(own_counts, own_sizes, number, unused, left, right)
            tried, info = discrete_gain(own_counts, own_sizes, number - 1, base, 1, logs)
            worth = _worth(tried, info, gain_ratio)
            first_to_keep_half = tried >= gain / 2 and best_gain < gain / 2
            if worth >= best or first_to_keep_half:
                first, second, best_gain, best = left, right, tried, worth
    return first, second, best_gain, best
