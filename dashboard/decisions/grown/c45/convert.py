"""From the training cases of a problem to C4.5's table, and from C4.5's tree to the tests of a decision function."""

from collections.abc import Sequence

import numpy as np

from dashboard.decisions.function.attributes import attribute
from dashboard.decisions.function.nodes import Leaf, Node, Split, Test
from dashboard.decisions.grown.c45.classify import leaf_classes
from dashboard.decisions.grown.c45.table import Nodes, TrainingTable
from dashboard.decisions.measured.cases import Cases
from dashboard.domain.arrays import FloatArray, IntArray


def training_table(cases: Cases) -> TrainingTable:
    """Lay cases out as C4.5 sees them: yes/no and named attributes are discrete, all others continuous.

    Sizes become float32, as C4.5 reads them: those above 2^24 are rounded.
    """
    declared = np.array([_declared(name, cases) for name in cases.attributes], dtype=np.int32)
    values = cases.values.T.astype(np.float64).astype(np.float32)
    return TrainingTable.of(values, declared, cases.best.astype(np.int32), len(cases.methods))


def _declared(name: str, cases: Cases) -> int:
    if name in cases.categories:
        return len(cases.categories[name])
    known = attribute(name)
    return 2 if (known.minimum, known.maximum) == (0, 1) else 0


def to_node(nodes: Nodes, table: TrainingTable, cases: Cases) -> Node:
    """Give the tree as tests ``attribute <= cut`` that decide every case as C4.5 classifies it.

    Each leaf gets the method that C4.5 decides there, which is not always the one it is printed with (`classify`);
    a leaf without cases gets its label. A test on a discrete attribute becomes a chain of tests on the position of
    the value, a run of values of one group at a time; a group of several runs stands at the end of each of them.
    """
    methods = leaf_classes(nodes).tolist()
    tested, width, first = nodes.attribute.tolist(), nodes.width.tolist(), nodes.first.tolist()
    cuts = _whole_cuts(nodes, table, cases.values).tolist()
    built: list[Node] = [Leaf(method) for method in methods]
    for node in range(nodes.size - 1, -1, -1):
        if not width[node]:
            continue
        name = cases.attributes[tested[node]]
        branches = built[first[node] : first[node] + width[node]]
        declared = int(table.declared[tested[node]])
        if declared:
            groups = nodes.groups[node, :declared].tolist() if nodes.groups.size else range(declared)
            built[node] = _chain(name, groups, branches)
        else:
            built[node] = Split((Test(name, cuts[node]),), (branches[0], branches[1]))
    return built[0]


def _whole_cuts(nodes: Nodes, table: TrainingTable, values: IntArray) -> FloatArray:
    """Give each cut so that whole numbers fall on the side on which C4.5 sees their float32.

    That is C4.5's cut, or where float32 rounds sizes down to it, the largest of them.
    """
    cuts = nodes.cut.astype(np.float64)
    for position in np.flatnonzero(table.declared == 0):
        here = (nodes.attribute == position) & (nodes.width > 0)
        order = np.argsort(values[:, position], kind="stable")
        last = np.searchsorted(table.values[position, order], nodes.cut[here], side="right") - 1
        cuts[here] = np.maximum(cuts[here], values[order[last], position])
    return cuts


def _chain(name: str, groups: Sequence[int], branches: Sequence[Node]) -> Node:
    """Test the position of a value against the end of each run of values of one group."""
    possible = [(value, group) for value, group in enumerate(groups) if group >= 0]
    ends = [
        (value, group)
        for place, (value, group) in enumerate(possible)
        if place + 1 == len(possible) or possible[place + 1][1] != group
    ]
    node = branches[ends[-1][1]]
    for value, group in reversed(ends[:-1]):
        node = Split((Test(name, float(value)),), (branches[group], node))
    return node
