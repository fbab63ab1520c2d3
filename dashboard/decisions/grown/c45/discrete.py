"""The test on a discrete attribute, at each node of a level: a branch for each value."""

import numpy as np

from dashboard.decisions.grown.c45.gain import discrete_gain, n_log_n
from dashboard.decisions.grown.c45.kernel import kernel
from dashboard.decisions.grown.c45.table import Trial
from dashboard.domain.arrays import BoolArray, Float32


@kernel
def count_values(trial: Trial, attribute: int, node: int, counts: Float32, sizes: Float32) -> np.float32:
    """Count the cases of each value, and give the information per case before the test.

    Parameters
    ----------
    counts, sizes
        As for `discrete_gain`, to be filled.

    Notes
    -----
    The sum for the information is double, unlike that of a continuous attribute.
    """
    counts[:] = 0
    sizes[:] = 0
    known = np.float32(0)
    for place in range(trial.level.start[node], trial.level.start[node + 1]):
        row, weight = (
            trial.level.rows[0, place],
            trial.level.weights[0, place] if trial.level.weights.size else np.float32(1),
        )
        value = trial.table.values[attribute, row]
        if np.isnan(value):
            sizes[0] += weight
            continue
        counts[int(value), trial.table.classes[row]] += weight
        sizes[int(value) + 1] += weight
        known = np.float32(known + weight)
    parts = 0.0
    for number in range(counts.shape[1]):
        of_class = np.float32(0)
        for value in range(counts.shape[0]):
            of_class = np.float32(of_class + counts[value, number])
        parts += n_log_n(of_class, trial.table.logs)
    return np.float32((n_log_n(known, trial.table.logs) - parts) / known)


@kernel
def value_tests(trial: Trial, attribute: int, declared: int, tested: BoolArray, min_cases: int) -> None:
    """Enter gain and split information of each node; ``(node, attribute)`` `tested` ones are left out."""
    counts = np.zeros((declared, trial.counts.shape[1]), dtype=np.float32)
    sizes = np.zeros(declared + 1, dtype=np.float32)
    for node in range(trial.is_open.size):
        if trial.is_open[node] and not tested[node, attribute]:
            base = count_values(trial, attribute, node, counts, sizes)
            gain, info = discrete_gain(counts, sizes, declared, base, min_cases, trial.table.logs)
            trial.figures[0, attribute, node], trial.figures[1, attribute, node] = gain, info
