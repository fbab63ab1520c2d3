"""Classification by a tree that C4.5 made."""

import numpy as np

from dashboard.decisions.grown.c45.kernel import kernel, run
from dashboard.decisions.grown.c45.table import Nodes
from dashboard.domain.arrays import Float32, Int32


def classify(tree: Nodes, values: Float32, declared: Int32) -> Int32:
    """Give the class of each case.

    Parameters
    ----------
    values, declared
        As in `TrainingTable`. A case with an unknown value, or one that is not declared, goes down all branches in
        proportion to their training cases.

    Notes
    -----
    Leaves add the shares of their classes; the largest sum wins, of equal ones the first class. So a leaf with
    as many cases of two classes may decide otherwise than its label, which after pruning need not be the first.
    """
    return run(_classify)(tree, np.ascontiguousarray(values), declared)


def leaf_classes(nodes: Nodes) -> Int32:
    """Give the class that each node decides as a leaf."""
    shares = nodes.counts / np.maximum(nodes.cases, np.float32(1))[:, None]
    return np.where(nodes.cases > 0, shares.argmax(axis=1), nodes.label).astype(np.int32)


@kernel
def _classify(nodes: Nodes, values: Float32, declared: Int32) -> Int32:
    classes = np.empty(values.shape[1], dtype=np.int32)
    sums = np.empty(nodes.counts.shape[1], dtype=np.float32)
    waiting = np.empty(nodes.width.size, dtype=np.int32)
    parts = np.empty(nodes.width.size, dtype=np.float32)
    for case in range(classes.size):
        for number in range(sums.size):
            sums[number] = 0
        waiting[0], parts[0] = 0, 1
        left = 1
        while left:
            left -= 1
            node, part = int(waiting[left]), parts[left]
            if not nodes.width[node]:
                _add(nodes, node, part, sums)
                continue
            first, width = nodes.first[node], nodes.width[node]
            attribute = nodes.attribute[node]
            branch = branch_of(values[attribute, case], declared[attribute], nodes, node)
            for taken in range(width) if branch < 0 else range(branch, branch + 1):
                waiting[left] = first + taken
                parts[left] = part
                if branch < 0:
                    parts[left] = part * np.float32(nodes.cases[first + taken] / nodes.cases[node])
                left += branch >= 0 or nodes.cases[first + taken] > 0
        classes[case] = 0
        for number in range(sums.size):
            if sums[number] > sums[classes[case]]:
                classes[case] = number
    return classes


@kernel
def _add(nodes: Nodes, leaf: int, part: np.float32, sums: Float32) -> None:
    if nodes.cases[leaf] <= 0:
        sums[nodes.label[leaf]] += part
        return
    for number in range(sums.size):
        sums[number] += part * np.float32(nodes.counts[leaf, number] / nodes.cases[leaf])


@kernel
def branch_of(value: np.float32, declared: int, nodes: Nodes, node: int) -> int:
    """Give the branch that a value takes at the test of a node, -1 when it is unknown or not declared."""
    if np.isnan(value):
        return -1
    if not declared:
        return 0 if value <= nodes.cut[node] else 1
    if value < 0 or value >= declared:
        return -1
    return nodes.groups[node, int(value)] if nodes.groups.shape[1] else int(value)
