"""Which attribute each node of a level tests."""

from typing import NamedTuple

import numpy as np

from dashboard.decisions.grown.c45.continuous import best_cuts
from dashboard.decisions.grown.c45.discrete import value_tests
from dashboard.decisions.grown.c45.gain import EPSILON, UNUSABLE
from dashboard.decisions.grown.c45.groups import group_tests
from dashboard.decisions.grown.c45.kernel import kernel, run
from dashboard.decisions.grown.c45.table import Level, Nodes, TrainingTable, Trial
from dashboard.domain.arrays import BoolArray, Float32, Int32

MANY_VALUES = 0.3
"""Share of the training cases: discrete attributes with so many values are left out of the average gain."""


class Options(NamedTuple):
    """Options of growing, as `grow` documents them."""

    min_cases: int
    gain_ratio: bool
    group_values: bool


def choose_tests(table: TrainingTable, level: Level, upper: tuple[Float32, Int32], options: Options) -> Nodes:
    """Count the classes at each node of a level and choose what it tests; `Nodes.first` is left open.

    Parameters
    ----------
    upper
        Counts and labels of the level above, for the nodes that no case came to.
    """
    sizes, labels, counts, errors, is_open = run(count_classes)(table.classes, level, *upper, options.min_cases)
    attributes, number = table.declared.size, labels.size
    grouped = int(table.declared.max()) if options.group_values else 0
    figures = np.zeros((3, attributes, number), dtype=np.float32)
    figures[0] = UNUSABLE
    groups = np.zeros((attributes, number, grouped), dtype=np.int32)
    if is_open.any():
        trial = Trial(table, level, is_open, counts, figures)
        run(best_cuts)(trial, options.min_cases)
        for attribute in np.flatnonzero(table.declared).tolist():
            _try_values(trial, attribute, options, groups[attribute])
    tests, cuts, width, chosen = run(best_tests)(table.declared, figures, groups, table.classes.size, *options[1:])
    return Nodes(tests, cuts, np.zeros_like(width), width, labels, sizes, errors, counts, chosen)


@kernel
def count_classes(
    classes: Int32, level: Level, upper_counts: Float32, upper_labels: Int32, min_cases: int
) -> tuple[Float32, Int32, Float32, Float32, BoolArray]:
    """Look at each node as a leaf.

    Returns
    -------
    (cases, most frequent class, cases of each class, errors, whether a test is wanted)
        A node without cases has class and counts of the node above.
    """
    start, above, number, class_count = level.start, level.above, level.above.size, upper_counts.shape[1]
    sizes, errors = np.zeros(number, dtype=np.float32), np.zeros(number, dtype=np.float32)
    labels, is_open = np.zeros(number, dtype=np.int32), np.zeros(number, dtype=np.bool_)
    counts = np.zeros((number, class_count), dtype=np.float32)
    for node in range(number):
        if start[node] == start[node + 1]:
            labels[node] = upper_labels[above[node]]
            for category in range(class_count):
                counts[node, category] = upper_counts[above[node], category]
            continue
        for place in range(start[node], start[node + 1]):
            weight = level.weights[0, place] if level.weights.size else np.float32(1)
            counts[node, classes[level.rows[0, place]]] += weight
        label = 0
        for category in range(class_count):
            sizes[node] += counts[node, category]
            if counts[node, category] > counts[node, label]:
                label = category
        labels[node] = label
        errors[node] = np.float32(sizes[node] - counts[node, label])
        is_open[node] = errors[node] > 0 and sizes[node] >= 2 * min_cases
    return sizes, labels, counts, errors, is_open


def _try_values(trial: Trial, attribute: int, options: Options, groups: Int32) -> None:
    """Fill in gain, split information and groups of one discrete attribute at each node."""
    declared, tested = int(trial.table.declared[attribute]), trial.level.tested
    if options.group_values and declared > 2:
        run(group_tests)(trial, attribute, declared, options.min_cases, options.gain_ratio, groups)
        return
    groups[:, :declared] = np.arange(declared)[: groups.shape[1]]
    untested = np.zeros_like(tested) if options.group_values else tested
    run(value_tests)(trial, attribute, declared, untested, options.min_cases)


@kernel
def _average_gain(declared: Int32, figures: Float32, node: int, group_values: bool, limit: float) -> np.float32:
    """Give the mean gain of the usable tests, those on attributes of at least `limit` values left out."""
    all_many = True
    for attribute in range(declared.size):
        all_many = all_many and declared[attribute] >= limit
    total, usable = np.float32(0), np.float32(0)
    for attribute in range(declared.size):
        counted = all_many or group_values or declared[attribute] < limit
        if figures[0, attribute, node] > -EPSILON and counted:
            total = np.float32(total + figures[0, attribute, node])
            usable += np.float32(1)
    return np.float32(total / usable) if usable else np.float32(1e6)


@kernel
def best_tests(
    declared: Int32, figures: Float32, groups: Int32, case_count: int, gain_ratio: bool, group_values: bool
) -> tuple[Int32, Float32, Int32, Int32]:
    """Find for each node the attribute of the greatest worth among those of about average gain.

    Parameters
    ----------
    figures
        ``(3, attribute, node)`` gain, split information and cut.
    groups
        ``(attribute, node, value)``.

    Returns
    -------
    (attribute or -1, its cut, number of branches, its groups)
    """
    limit = MANY_VALUES * case_count
    number, columns = figures.shape[2], groups.shape[2]
    tests, width = np.full(number, -1, dtype=np.int32), np.zeros(number, dtype=np.int32)
    cuts, chosen = np.zeros(number, dtype=np.float32), np.zeros((number, columns), dtype=np.int32)
    for node in range(number):
        average = _average_gain(declared, figures, node, group_values, limit)
        most = UNUSABLE
        for attribute in range(declared.size):
            gain, info, worth = figures[0, attribute, node], figures[1, attribute, node], UNUSABLE
            if gain > -EPSILON and gain_ratio and gain >= average - EPSILON and info > EPSILON:
                worth = np.float32(gain / info)
            elif gain > -EPSILON and not gain_ratio and info > 0:
                worth = gain
            if worth > most:
                tests[node], most = attribute, worth
        if tests[node] >= 0:
            own = tests[node]
            cuts[node] = figures[2, own, node]
            width[node] = declared[own] or 2
            for value in range(columns):
                chosen[node, value] = groups[own, node, value]
            if columns and declared[own]:
                width[node] = chosen[node, : declared[own]].max() + 1
    return tests, cuts, width, chosen
